"""Merges the contacts anew and compares: four points, none if contacts.csv was changed.

The points are the grouping, the order and form of people.csv, the values in it, and merge.json.
"""

import csv
import json
import os
import re
from pathlib import Path

from workspace import content, digest_of

CONTACTS = "e2f6f685824bdd7b8a448d608a011502fbe8e32bba4bb0fe06450f93ffcadbb5"
RANK = {"crm": 0, "shop": 1, "import": 2}
HEADER = ["name", "email", "phone", "ids"]
WRONG = (OSError, ValueError, OverflowError, LookupError, TypeError, RecursionError, csv.Error)


def email(text: str) -> str:
    """The normal form of an email."""
    name, at, domain = text.strip().lower().partition("@")
    return name.partition("+")[0] + at + domain


def phone(text: str) -> str:
    """The normal form of a phone number."""
    digits = re.sub(r"[^+0-9]", "", text)
    digits = re.sub(r"^00", "+", digits)
    return re.sub(r"^0", "+351", digits)


def contacts() -> list[dict[str, str]]:
    """The given rows, values in normal form, the winning ones first."""
    text = content("contacts.csv").decode("utf-8")
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    for row in rows:
        row.update(name=row["name"].strip(), email=email(row["email"]), phone=phone(row["phone"]))
    rows.sort(key=lambda row: (RANK[row["source"]], int(row["id"])))
    return sorted(rows, key=lambda row: row["updated"], reverse=True)


def same(one: dict[str, str], two: dict[str, str]) -> bool:
    """Whether two rows belong together directly."""
    return any(one[key] and one[key] == two[key] for key in ("email", "phone"))


def groups(rows: list[dict[str, str]]) -> list[list[dict[str, str]]]:
    """The rows of each person, in the order of the smallest ids."""
    found: list[list[dict[str, str]]] = []
    for row in rows:
        near = [group for group in found if any(same(row, member) for member in group)]
        merged = [member for group in near for member in group] + [row]
        found = [group for group in found if group not in near] + [merged]
    ordered = [[row for row in rows if row in group] for group in found]
    return sorted(ordered, key=lambda group: min(int(row["id"]) for row in group))


def line(group: list[dict[str, str]]) -> list[str]:
    """The line of one person."""
    ids = ";".join(sorted((row["id"] for row in group), key=int))
    return [*(next((row[key] for row in group if row[key]), "") for key in HEADER[:3]), ids]


def points(people: list[list[dict[str, str]]], rows: int) -> dict[str, bool]:
    """What is right in the solver's files."""
    expected = [line(group) for group in people]
    largest = max(people, key=len)  # the first one of several
    try:
        text = content("people.csv").decode("utf-8-sig")
        header, *found = [row for row in csv.reader(text.splitlines()) if row]
    except WRONG as error:
        print(f"people.csv: {error}")
        header, found = [], []
    try:
        merge = json.loads(content("merge.json").decode("utf-8-sig"))
        numbers = [int(number) for number in merge["largest"]]
        merge = {**merge, "largest": sorted(numbers)}
    except WRONG as error:
        print(f"merge.json: {error}")
        merge = {}
    ids = sorted(int(row["id"]) for row in largest)
    return {
        "groups": sorted(row[-1] for row in found) == sorted(row[-1] for row in expected),
        "form": header == HEADER and [row[-1] for row in found] == [row[-1] for row in expected],
        "values": sorted(found) == sorted(expected),
        "merge.json": merge == {"rows": rows, "people": len(people), "largest": ids},
    }


def score() -> float:
    """The reward in 0..1."""
    try:
        same = digest_of("contacts.csv") == CONTACTS
    except OSError:
        same = False
    if not same:
        print("contacts.csv was changed")
        return 0.0
    rows = contacts()
    right = points(groups(rows), len(rows))
    print(right)
    return sum(right.values()) / len(right)


reward = score()
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")
