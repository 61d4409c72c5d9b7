"""Encodes hidden readings, compares every byte, and looks at the layout."""

import ast
import json
import os
from pathlib import Path

from solver import answers, copied
from workspace import content, digest_of

GIVEN = {
    "gauge/__init__.py": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "notes/2031-01.md": "cd5ec8ef6bcfd091a91ea4cdc9046b0b2ea5b6ff2a3b755c59e359a047459f57",
    "notes/2031-02.md": "5024da879f7ff784174f89782e5fca7b2a0afae17b94f13ad923c0e0e27056c5",
    "notes/2031-03.md": "b9cf6e54c2ee3d06160f989aa6d30069f26c192091589ad0790c95cc289fe146",
    "notes/2031-04.md": "f330079b4939c94a9353c413208f9e57ed24cae84cbb12b4fe52f707d6caf976",
    "notes/2031-05.md": "7098d10e32e583992eb0ed6ced37257e2f54c3c1a4ce2fafdad68c85caaf14fe",
    "notes/2031-06.md": "3811bafbdb939a3d8fc9dad47c8e5a22b2e4067650dbf6d555ea9e90012d32e7",
    "notes/2031-07.md": "ed5bcc530d32f3425bb2dd1dc86c298eb98b93aaa73caa1e88831969623624c6",
    "notes/2031-08.md": "1994a7f254ba5c071f5afb075d1799f71a2be38c0e7b5a2253e499696df104bc",
    "notes/2031-09.md": "c41e654cc3b2fd3cfc454d3e112457929801896c762f4ff712f20e2ed051d9c3",
}
CHANGED = ("gauge/codec.py", "layout.json")
LAYOUT = [
    ["magic", 0, 1],
    ["version", 1, 1],
    ["sequence", 2, 1],
    ["level", 3, 3],
    ["station", 6, 2],
    ["temperature", 8, 2],
    ["battery", 10, 1],
    ["checksum", 11, 1],
]
PROBE = """
import json, sys
from gauge.codec import encode
results = []
for reading in json.load(sys.stdin):
    before = dict(reading)
    try:
        frame = encode(reading)
        right = isinstance(frame, bytes) and reading == before
        results.append(frame.hex() if right else "no bytes, or reading changed")
    except ValueError:
        results.append("refused")
    except Exception as error:
        results.append(repr(error))
print(json.dumps(results))
"""
KEYS = ("station", "level_mm", "temperature_tenths", "battery_mv", "sequence")
GOOD = [
    (0x1234, 4711, 83, 3649, 0),
    (0, 0, None, 0, 199),
    (65535, -1, -500, 12799, 200),
    (258, 8388607, 65034, 49, 1400),
    (1, -8388608, -1, 50, 10**12 + 7),
    (40000, -70000, 250, 9999, 255),
    (513, 32768, -257, 12750, 399),
    (772, 12000, None, 7777, 61),
    (9, 65793, 12, 251, 180),
]
BAD = [
    (65536, 0, 0, 0, 0),
    (-1, 0, 0, 0, 0),
    (1, 8388608, 0, 0, 0),
    (1, -8388609, 0, 0, 0),
    (1, 10**30, 0, 0, 0),
    (1, 0, -501, 0, 0),
    (1, 0, 65035, 0, 0),
    (1, 0, 70000, 0, 0),
    (1, 0, 0, 12800, 0),
    (1, 0, 0, -1, 0),
    (1, 0, 0, 0, -1),
]


def frame(station: int, level: int, temperature: int | None, battery: int, sequence: int) -> str:
    """The right frame."""
    warmth = 65535 if temperature is None else temperature + 500
    level %= 1 << 24
    parts = [level & 255, level >> 8 & 255, level >> 16, station >> 8, station & 255, warmth & 255, warmth >> 8]
    parts = [sequence % 200, *parts, battery // 50]
    return bytes([0x54, 0x38, *parts, (17 + sum(parts)) % 256]).hex()


def within_the_rule() -> bool:
    """Integers only, no import, nothing else changed or added."""
    known = {*GIVEN, *CHANGED}
    wrong = [name for name, digest in GIVEN.items() if digest_of(name) != digest]
    for folder, names, files in os.walk("."):
        names[:] = [name for name in names if name != "__pycache__"]
        wrong += [path for path in (Path(folder, name).as_posix() for name in files) if path not in known]
    try:
        nodes = list(ast.walk(ast.parse(content("gauge/codec.py"))))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return False
    forbidden = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom | ast.Div)]
    forbidden += [node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, float)]
    forbidden += [node for node in nodes if isinstance(node, ast.Name) and node.id in ("float", "__import__")]
    print(f"changed or added besides: {wrong[:20]!a}; not allowed in the code: {len(forbidden)} places")
    return not wrong and not forbidden


def layout() -> bool:
    """Whether layout.json is right."""
    try:
        return bool(json.loads(content("layout.json")) == LAYOUT)
    except (ValueError, RecursionError):
        return False


def score() -> float:
    """Half for right frames, a quarter for what is refused (with right frames only), a quarter for the layout."""
    kept, laid_out = within_the_rule(), layout()
    wanted = [*(frame(*row) for row in GOOD), *("refused" for _ in BAD)]
    readings = [dict(zip(KEYS, row, strict=True)) for row in GOOD + BAD]
    found = answers(PROBE, readings, copied(["gauge/__init__.py", "gauge/codec.py"]))
    found = found if isinstance(found, list) else []
    right = found[: len(GOOD)] == wanted[: len(GOOD)]
    refused = right and found == wanted
    print(f"frames right: {right}; refused what it must: {refused}; layout right: {laid_out}")
    return (0.5 * right + 0.25 * refused + 0.25 * laid_out) * (1.0 if kept else 0.5)


REWARD = Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt")
REWARD.write_text("0\n", encoding="utf-8")
REWARD.write_text(f"{score():.4f}\n", encoding="utf-8")
