#!/bin/bash
# Writes contacts.csv: always the same bytes.
set -euo pipefail
python3 -I - <<'PYTHON'
import random

rng = random.Random(7310)


def below(limit):
    return int(rng.random() * limit)


def phone(number):
    """One of several ways to write +351 21 and six digits."""
    a, b = f"{number:06d}"[:3], f"{number:06d}"[3:]
    ways = [f"+351 21 {a} {b}", f"00351 21{a}{b}", f"021 {a}-{b}", f"(021) {a} {b}", f"+35121{a}{b}"]
    return ways[below(len(ways))]


def email(first, last):
    base = f"{first}.{last}@example.{['org', 'com', 'net'][len(last) % 3]}"
    name, _, domain = base.partition("@")
    ways = [base, f"{name}+news@{domain}", base.title(), f" {base} ", f"{name}+{below(90)}@{domain}", base.upper()]
    return ways[below(len(ways))]


FIRST = "ada bo cleo dina egon fay gus hana ivo june kai lena milo nora otto pia".split()
LAST = "abel brandt costa duarte egger fonseca graf horta ionescu jansen".split()
SOURCES = ["crm", "shop", "import"]
rows, number = [], 0
people = [(first, last) for first in FIRST for last in LAST if rng.random() < 0.86]
for who, (first, last) in enumerate(people):
    work, home = 100000 + 911 * who, 700000 + 773 * who
    for copy in range(1 + below(4)):
        kind = below(10)
        name = f"{first.capitalize()} {last.capitalize()}" if kind else ""
        name = f"{name[:1]}. {last.capitalize()} " if kind == 5 else name
        mail = email(first, last) if kind not in (1, 2) else ""
        tel = phone(work if copy % 2 else home) if kind not in (3, 4) else ""
        day = f"2031-0{1 + below(4)}-{10 + 5 * below(3)}"
        rows.append([name, mail, tel, day, SOURCES[below(3)]])
one, two = people[3], people[8]  # these two are one person by way of three rows of a desk
rows.append(["Front desk", email(*one), phone(999111), "2031-03-15", "shop"])
rows.append(["", "desk@example.org", phone(999111), "2031-04-20", "import"])
rows.append(["Desk two", "Desk+2@example.org", "", "2031-01-10", "crm"])
rows.append(["", " DESK@example.org", phone(700000 + 773 * 8), "2031-01-11", "crm"])
rows.append(["Two", email(*two), phone(700000 + 773 * 8), "2031-01-12", "crm"])
TIES = [("import", "shop"), ("shop", "crm"), ("import", "import")]
for at in (12, 15, 19, 21, 24, 28, 31, 33, 37, 41, 43, 44):  # two rows of one day, of two sources or of the same one
    first, last = people[at]
    for source, name in zip(TIES[at % 3], (first.title(), f"{first.title()} {last.title()}")):
        rows.append([name, email(first, last), "", "2031-04-28", source])
rows = sorted(rows, key=lambda _: rng.random())
lines = ["id,name,email,phone,updated,source"]
for at, row in enumerate(rows):
    number += 1 + below(3)
    lines.append(",".join([str(100 + number), *row]))
    if at == len(rows) // 2:
        lines.append("# phones that begin with a single 0 are from country code 351")
    if at in (11, 70):
        lines.append(f"# batch {at}, country code checked by hand")
open("contacts.csv", "w", encoding="utf-8").write("\n".join(lines) + "\n")
PYTHON
