"""Does the repaired parser do what the grammar says, beyond the examples that the solver could see?"""

from typing import Any

from cases import CASES
from solver import answers, copied
from workspace import digest_of

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
    copy = copied(["quickconf/__init__.py", "quickconf/parser.py"])
    found = answers(PROBE, [text for text, _ in cases], copy)
    assert isinstance(found, list), "the parser cannot be tried"
    for (text, wanted), got in zip(cases, found, strict=True):
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
        assert digest_of(name) == digest, name


GOALS = (quotes, empty_items, everything)
KEPT = (other_files,)
