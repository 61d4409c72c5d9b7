"""Merges contacts.csv into people.csv: python3 merge.py COUNTRY_CODE."""

import csv
import re
import sys
from pathlib import Path

code = sys.argv[1]
with Path("contacts.csv").open(encoding="utf-8", newline="") as file:
    rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
for row in rows:
    local, at, domain = row["email"].strip().lower().partition("@")
    row["email"] = local.split("+")[0] + at + domain
    digits = re.sub(r"[^+0-9]", "", row["phone"])
    if digits.startswith("00"):
        digits = "+" + digits[2:]
    elif digits.startswith("0"):
        digits = "+" + code + digits[1:]
    row["phone"], row["name"], row["id"] = digits, row["name"].strip(), int(row["id"])

parent = {row["id"]: row["id"] for row in rows}


def root(member):
    """The id that stands for a person."""
    while parent[member] != member:
        member = parent[member]
    return member


for key in ("email", "phone"):
    first = {}
    for row in rows:
        if row[key]:
            one, two = root(first.setdefault(row[key], row["id"])), root(row["id"])
            parent[max(one, two)] = min(one, two)
people = {}
for row in sorted(rows, key=lambda row: row["id"]):
    people.setdefault(root(row["id"]), []).append(row)
rank = ["crm", "shop", "import"]
with Path("people.csv").open("w", encoding="utf-8", newline="") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(["name", "email", "phone", "ids"])
    for smallest in sorted(people):
        ids = ";".join(str(row["id"]) for row in people[smallest])
        order = sorted(people[smallest], key=lambda row: (rank.index(row["source"]), row["id"]))
        order.sort(key=lambda row: row["updated"], reverse=True)
        values = [next((row[key] for row in order if row[key]), "") for key in ("name", "email", "phone")]
        out.writerow([*values, ids])
largest = max((people[smallest] for smallest in sorted(people)), key=len)
print(f"{len(rows)} rows are {len(people)} people; largest: " + ", ".join(str(row["id"]) for row in largest))
