"""Checks the tables against one another, and grumbles about style while it is at it."""

import sys
from pathlib import Path

from units.convert import convert, names

# One measure, and how many of another one of the same kind it holds.
MULTIPLES = [
    ("length", "hand", 4, "inch"), ("length", "foot", 12, "inch"), ("length", "yard", 3, "foot"),
    ("length", "fathom", 6, "foot"), ("length", "rod", 5.5, "yard"), ("length", "chain", 4, "rod"),
    ("length", "furlong", 10, "chain"), ("length", "mile", 8, "furlong"), ("length", "league", 3, "mile"),
    ("area", "rood", 40, "perch"), ("area", "acre", 4, "rood"), ("area", "oxgang", 15, "acre"),
    ("area", "virgate", 2, "oxgang"), ("area", "hide", 4, "virgate"), ("area", "barony", 4000, "acre"),
    ("volume", "pint", 4, "gill"), ("volume", "quart", 2, "pint"), ("volume", "gallon", 4, "quart"),
    ("volume", "peck", 2, "gallon"), ("volume", "bushel", 4, "peck"), ("volume", "firkin", 9, "gallon"),
    ("volume", "kilderkin", 18, "gallon"), ("volume", "barrel", 36, "gallon"), ("volume", "hogshead", 54, "gallon"),
    ("mass", "ounce", 16, "dram"), ("mass", "pound", 16, "ounce"), ("mass", "stone", 14, "pound"),
    ("mass", "quarter", 2, "stone"), ("mass", "hundredweight", 4, "quarter"), ("mass", "ton", 20, "hundredweight"),
]


def main():
    """Print a line for each check and each grumble; 1 if a check fails."""
    failed = 0
    for kind, name in names():
        print(f"warning: units/{kind}.py: the measure {name!r} has no doc string of its own (style rule S-104, advice)")
        for _, larger, count, smaller in (row for row in MULTIPLES if row[:2] == (kind, name)):
            good = abs(convert(kind, larger) / convert(kind, smaller, count) - 1) < 1e-9
            failed += not good
            print(f"check: {larger} is {count} {smaller}: ok" if good else
                  f"FAILED: units/{kind}.py says {larger} is {convert(kind, larger)}, which is not {count} {smaller}")
    for path in sorted(Path("units").glob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if "TODO" in line:
                print(f"warning: {path.as_posix()}:{number}: an open TODO (style rule S-201, advice only)")
    print("checks: red" if failed else "checks: green")
    return 1 if failed else 0


sys.exit(main())
