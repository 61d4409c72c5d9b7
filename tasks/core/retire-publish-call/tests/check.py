"""Runs every module against a bus that has no publish, and compares what it sends and returns with before."""

import ast
import json
import os
from pathlib import Path

from solver import answers, copied
from workspace import content, digest_of

GIVEN = {
    "MIGRATION.md": "851fe40a223acaf187ad4f13d120b73d817f32e958df622d9160a54a87fe95cf",
    "selfcheck.py": "105fe5a2c677d2c6642f9a9ea4c16016040ede7ceaccf308a04c3b0608598276",
    "station/__init__.py": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "station/looping.py": "f9e85fb81c1a25e1db4c2181e14376e71d3567ed6e6e3ea87b086adf88d0957f",
    "station/press.py": "4bbb526e53edfde7bc5eb79dd2668f7d428609dd8d0e7c68d0d3569495375105",
    "station/news.py": "10b03b210e13dc2676804d6f4b573ca490f03855089de8915fe967e17a1e38e0",
    "station/protocol.py": "5608bfc30d3486a363f5e176bc1e78b71a748dac993940d439e9f1a2fdf7cdcb",
    "station/bulletin.py": "5dca8c0ff9b51f418891e1f0e485e2f86aa5092f3b19c0fdc635f362aaf727b7",
    "station/gazette.py": "3e65d033ba17db575efa1ca181d63a6228b7784ab5a1edfb552a21d0e5e71352",
}
IMPORTS = {"station", "station.bus", "station.looping", "station.news"}
BUS = '''"""The bus on which all parts of the station send what they measure."""

from dataclasses import dataclass

SENT = []


@dataclass
class Message:
    """What is sent; the bus gives it its number."""

    topic: str
    body: object
    number: int = 0


def emit(message, *, keep=False):
    """Send the message and return it; `keep` lets the bus remember it for those who come later."""
    SENT.append((message.topic, message.body, keep))
    message.number = len(SENT)
    return message


def forget():
    """Forget all that was sent."""
    SENT.clear()
'''
PROBE = """
import importlib, json, sys
from station import bus
results = {}
for name, values in json.load(sys.stdin).items():
    results[name] = []
    for value in values:
        bus.forget()
        try:
            result = importlib.import_module(f"station.{name}").report(value)
            results[name].append([result, [list(sent) for sent in bus.SENT]])
        except Exception as error:
            results[name].append(repr(error))
print(json.dumps(results, default=repr))
"""
VALUES = [12, 61.25, -3]
EXPECTED = json.loads(Path(__file__).with_name("expected.json").read_text(encoding="utf-8"))
"""By name of a module that used publish: for each value what `report` returns, and what is sent."""


def stands_in(code: bytes) -> bool:
    """Whether a module imports what none did, or has a `publish` of its own; comments and texts are free."""
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            imported.add(".".join(["station"] * node.level + [node.module] * bool(node.module)))
    named = {getattr(node, field, None) for node in nodes for field in ("arg", "asname")}
    named |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    named |= {getattr(node, "id", getattr(node, "attr", None)) for node in nodes if is_set(node)}
    return not imported <= IMPORTS or "publish" in named


def is_set(node: ast.AST) -> bool:
    """Whether it is a name or an attribute that gets a value."""
    return isinstance(getattr(node, "ctx", None), ast.Store)


def kept() -> list[str]:
    """What broke a rule: look-alikes and other files changed, files added, something put in the place of publish."""
    broken = [name for name, digest in GIVEN.items() if digest_of(name) != digest]
    known = {*GIVEN, "station/bus.py", *(f"station/{name}.py" for name in EXPECTED)}
    for folder, names, files in os.walk("."):
        names[:] = [name for name in names if name != "__pycache__"]
        broken += [path for path in (Path(folder, name).as_posix() for name in files) if path not in known]
    for name in EXPECTED:
        if stands_in(content(f"station/{name}.py")):
            broken.append(f"station/{name}.py: a stand-in")
    return sorted(broken)


def same_code(text: str) -> str:
    """The text without empty lines and without the import that may go."""
    return "\n".join(line for line in text.splitlines() if line.strip() and line != "import warnings")


def score() -> float:
    """The share of the modules that are moved, and of the bus; half of it where a rule was broken."""
    broken = kept()
    bus = same_code(content("station/bus.py").decode("utf-8", "replace")) == same_code(BUS)
    folder = copied(f"station/{name}.py" for name in (*EXPECTED, "__init__", "looping", "news"))
    Path(folder, "station/bus.py").write_text(BUS, encoding="utf-8")
    found = answers(PROBE, dict.fromkeys(EXPECTED, VALUES), folder)
    found = found if isinstance(found, dict) else {}
    wrong = [name for name in EXPECTED if found.get(name) != EXPECTED[name]]
    print(f"not moved, or not right: {wrong}; publish is gone from the bus: {bus}; rules broken: {broken[:20]!a}")
    share = (len(EXPECTED) - len(wrong) + bus) / (len(EXPECTED) + 1)
    return share * (0.5 if broken else 1.0)


REWARD = Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt")
REWARD.write_text("0\n", encoding="utf-8")
REWARD.write_text(f"{score():.4f}\n", encoding="utf-8")
