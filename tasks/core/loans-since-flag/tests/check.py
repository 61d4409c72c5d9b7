"""Does the option behave, does it fail as told, is it shown in the help, and do README and change log agree?"""

import ast
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from solver import answers, copied
from workspace import content, digest_of

PROBE = """
import json, subprocess, sys
results = []
for words in json.load(sys.stdin):
    done = subprocess.run([sys.executable, "-EsB", "shelf.py", *words], capture_output=True, text=True, timeout=10)
    results.append([done.returncode, done.stdout, done.stderr])
print(json.dumps(results))
"""
LOANS = [
    ("2031-02-28", "ada", "Glass, and other fluids"),
    ("2031-01-05", "bo", "Knots"),
    ("2031-03-01", "ada", "Weirs"),
    ("2031-02-28", "bo", "Tides, tables"),
    ("2031-03-02", "cy", "Ropes"),
    ("2030-12-31", "ada", "Yesterday"),
    ("2031-03-01", "bo", "Locks"),
]
OPTION = "  --since DATE     only loans on or after DATE (YYYY-MM-DD)\n"
BEFORE = "  --until DATE"


def shown(since: str = "", until: str = "", reader: str = "", limit: int = 99, form: str = "text") -> list[Any]:
    """Status, output and errors of the finished tool."""
    rows = [row for row in LOANS if row[0] >= since and (not until or row[0] < until) and reader in ("", row[1])]
    lines = [",".join(row) if form == "csv" else f"{row[0]}  {row[1]:<12}  {row[2]}" for row in rows[:limit]]
    return [0, "".join(f"{line}\n" for line in lines), ""]


def refused(why: str) -> list[Any]:
    """Status, output and errors of a refusal."""
    return [2, "", f"shelf: {why}\n"]


FILTERS = [
    (["--since", "2031-02-28", "l.csv"], shown("2031-02-28")),
    (["l.csv", "--since=2031-03-01"], shown("2031-03-01")),
    (["--since", "2031-03-03", "l.csv"], shown("2031-03-03")),
    (["--since", "2031-03-02", "--since", "2031-01-05", "l.csv"], shown("2031-01-05")),
    (["--limit", "2", "--since", "2031-03-01", "l.csv"], shown("2031-03-01", limit=2)),
    (["--since=2031-03-01", "--limit=0", "l.csv"], shown(limit=0)),
    (["--reader", "bo", "--since", "2031-02-01", "--limit", "1", "l.csv"], shown("2031-02-01", "", "bo", 1)),
    (["--until", "2031-03-01", "--since", "2031-01-06", "l.csv"], shown("2031-01-06", "2031-03-01")),
    (
        ["--since", "2031-02-28", "--until", "2031-03-01", "--format=csv", "l.csv"],
        shown("2031-02-28", "2031-03-01", form="csv"),
    ),
]
ERRORS = [
    (["--since", "28.2.2031", "l.csv"], refused("--since: not a date: 28.2.2031")),
    (["--since=2031-02-29", "l.csv"], refused("--since: not a date: 2031-02-29")),
    (["--since=20310228", "l.csv"], refused("--since: not a date: 20310228")),
    (["--since=", "l.csv"], refused("--since: not a date: ")),
    (["l.csv", "--since"], refused("--since needs a value")),
    (["--since", "2031-03-01", "--until", "2031-03-01", "l.csv"], refused("--since must be before --until")),
    (["--until=2031-03-01", "l.csv", "--since=2031-03-02"], refused("--since must be before --until")),
]
KEPT_CASES = [
    (["l.csv"], shown()),
    (["--until", "2031-02-28", "--limit", "2", "l.csv"], shown("", "2031-02-28", limit=2)),
    (["--until", "2031-2-28", "l.csv"], refused("--until: not a date: 2031-2-28")),
    (["--before", "l.csv"], refused("unknown option --before")),
    (["--format", "csv", "--reader=ada", "l.csv"], shown(reader="ada", form="csv")),
]
WORKED = [
    (["--until=2031-03-01", "--since=2031-03-02", "--since=2031-02-28", "l.csv"], shown("2031-02-28", "2031-03-01")),
]
GIVEN_HELP = """\
usage: shelf.py [OPTION]... FILE

Lists the loans in FILE, a CSV file with the columns day,reader,title.

  --format FORM    text or csv (default: text)
  --help           show this text
  --limit N        at most N loans
  --reader NAME    only loans of this reader
  --until DATE     only loans before DATE (YYYY-MM-DD)

Loans come in the order of FILE.
"""
HELP = GIVEN_HELP.replace(BEFORE, OPTION + BEFORE)
README = "1c2d89efdbebd1c8e0f4f3e02fcaae16dfe7b8ebe41822383a06fe1daae3d35b"  # without the new line
LOANS_CSV = "ed9febe02ab7fd3b129eb20844343dba6f26175d571c6695439b563f5fd71a02"
CHANGES = """\
# Changes

## Next

- New option `--reader`.
- `--limit 0` shows nothing instead of everything.
- New option `--since`.

## 1.2

- New option `--until`.
- Dates are checked.
"""


def agree(cases: list[tuple[list[str], list[Any]]]) -> bool:
    """Whether the tool does what is wanted, in a copy of the folder with other loans."""
    folder = copied(["shelf.py"])
    rows = [("day", "reader", "title"), *LOANS]
    Path(folder, "l.csv").write_text("".join(",".join(row) + "\n" for row in rows), encoding="utf-8")
    return answers(PROBE, [words for words, _ in cases], folder) == [wanted for _, wanted in cases]


def read_me() -> bool:
    """README.md with the one new line in its place."""
    text = content("README.md").decode("utf-8", "replace")
    same = hashlib.sha256(text.replace(OPTION, "", 1).encode()).hexdigest() == README
    return same and OPTION + BEFORE in text


def change_log() -> bool:
    """CHANGES.md with the one new line in its place."""
    return content("CHANGES.md").decode("utf-8", "replace").rstrip("\n") == CHANGES.rstrip("\n")


def keeps_the_rule(code: str) -> bool:
    """Whether code imports `datetime` and `sys` alone, and never asks what day it is; words in comments are free."""
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    asked = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    asked |= {node.id for node in nodes if isinstance(node, ast.Name)} & {"__import__"}
    return imported <= {"datetime", "sys"} and not asked & {"__import__", "today", "now", "utcnow"}


def within_the_rule() -> bool:
    """No import more than before, today's date not asked for, and no other file changed."""
    same = digest_of("loans.csv") == LOANS_CSV
    return same and keeps_the_rule(content("shelf.py").decode("utf-8", "replace"))


def score() -> float:
    """A fifth for each of the five points of the instruction, half of it where a rule is broken."""
    goals: dict[str, Callable[[], bool]] = {
        "behaviour": lambda: agree(FILTERS + WORKED + KEPT_CASES),
        "errors": lambda: agree(ERRORS),
        "help": lambda: agree([(["--help"], [0, HELP, ""]), (["--help", "x"], [0, HELP, ""])]),
        "README.md": read_me,
        "CHANGES.md": change_log,
    }
    kept = within_the_rule()
    reached = [name for name, goal in goals.items() if goal()]
    print(f"reached: {reached}; within the rule: {kept}")
    return len(reached) / len(goals) * (1.0 if kept else 0.5)


REWARD = Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt")
REWARD.write_text("0\n", encoding="utf-8")
REWARD.write_text(f"{score():.4f}\n", encoding="utf-8")
