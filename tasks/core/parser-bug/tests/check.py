"""Does the repaired parser do what the grammar says, beyond the examples that the solver could see?"""

import hashlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from cases import CASES

QUOTES = [
    (r'a = "1\" # b" # c', {"a": '1" # b'}),
    (r'a = "\"" # c', {"a": '"'}),
    (r'a = "C:\\" # c', {"a": "C:\\"}),
    (r'a = "\\\" # b"', {"a": '\\" # b'}),
    (r'a = "\\\\" # "b"', {"a": "\\\\"}),
    (r'a = ["x\" # y", "\\" , z] # "c"', {"a": ['x" # y', "\\", "z"]}),
    (r'a = "\" # not closed', None),
]
EMPTY_ITEMS = [
    ('a = [""]', {"a": [""]}),
    ('a = ["", "",]', {"a": ["", ""]}),
    ('a = [,"",,b, ]', {"a": ["", "b"]}),
    ('[s]\na = [" ", ""] # c', {"s": {"a": [" ", ""]}}),
]
UNTOUCHED = {
    "GRAMMAR.md": "4e5484e22b9ea76064605f4f3de9318a5472a393649c067def3307e081c39065",
    "cases.py": "f714c196bf95a879b1bfb32ead8872a296ff6dfa4a0759ffba80c932d3cf9a3f",
    "run_tests.py": "a6f78476c26ba6dd3326af169fd15b4ac9a54f1fd4efaa5ab89cd710256fe192",
    "quickconf/__init__.py": "9b7486c6d33010d3de305615457dc4228e038c1d34534a0ac8871dc1f2db8396",
}
SOLVER = shlex.split(os.environ.get("AS_SOLVER", ""))
PROBE = """
import json, sys
sys.path.insert(0, ".")
from quickconf import ParseError, parse
results = []
for text in json.load(sys.stdin):
    try:
        results.append(parse(text))
    except ParseError:
        results.append(None)
print(json.dumps(results))
"""


def expect(cases: list[tuple[str, Any]]) -> None:
    """Parse all texts in a throw-away copy of the package and compare."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        subprocess.run([*SOLVER, "cp", "-RL", "quickconf", folder], timeout=20, check=True)
        command = [*SOLVER, sys.executable, "-EsB", "-c", PROBE]
        texts = json.dumps([text for text, _ in cases])
        done = subprocess.run(command, cwd=folder, input=texts, capture_output=True, text=True, timeout=20, check=True)
    for (text, wanted), got in zip(cases, json.loads(done.stdout.splitlines()[-1]), strict=True):
        assert got == wanted, f"{text!r} gives {got!r}"


def quotes() -> None:
    """Escaped quotes and backslashes near a #."""
    expect(QUOTES)


def empty_items() -> None:
    """Quoted empty items stay, bare ones go."""
    expect(EMPTY_ITEMS)


def everything() -> None:
    """All examples and all of the above."""
    expect([(text, wanted) for _, text, wanted in CASES] + QUOTES + EMPTY_ITEMS)


def other_files() -> None:
    """The examples, their runner, the grammar and the package's interface, by digest."""
    for name, digest in UNTOUCHED.items():
        assert hashlib.sha256(Path(name).read_bytes()).hexdigest() == digest, name


GOALS = (quotes, empty_items, everything)
KEPT = (other_files,)
