#!/usr/bin/env bash
# Generates the six lists; the seed makes them the same everywhere.
set -eu
mkdir -p notes
python3 - <<'PYTHON'
import random

draw = random.Random(42).random
WANTED = {
    "api": [(311, "fix", "Lists keep their order when a page is fetched twice")],
    "billing": [
        (187, "feature", "Invoices of Norvik partners show the tax number"),
        (402, "security", "Payment links expire after one hour"),
    ],
    "core": [(95, "fix", "Exports no longer drop the last column")],
    "mobile": [(268, "feature", "Photos upload in the background")],
    "sync": [(129, "security", "Device keys are renewed at each login")],
    "web": [(344, "fix", "The Norvik banner no longer covers the search field")],
}
PARTS = (
    "Exports|Imports|Invoices|Lists|Photos|Reports|Searches|Sessions|Tables|The Norvik banner|The calendar|Uploads".split("|"),
    "accept|hide|keep|no longer lose|now show|refuse|remember|speed up with|stop at|warn about".split("|"),
    "broken links|device keys|empty columns|expired links|large photos|old partners|repeated rows|the last page|the tax number".split("|"),
)
OTHERS = [
    ("4.2", "internal", "merged"), ("4.2", "public", "open"), ("4.2", "public", "reverted"), ("4.1", "public", "merged"),
    ("4.3", "public", "merged"), ("4.2.1", "public", "merged"), ("4.2", "partners", "merged"), ("4.1", "internal", "merged"),
    ("4.3", "internal", "open"),
]


def pick(items):
    return items[int(draw() * len(items))]


used = {number for entries in WANTED.values() for number, _, _ in entries}
free = sorted((number for number in range(1, 470) if number not in used), key=lambda _: draw())
for component, wanted in WANTED.items():
    rows = [(number, "4.2", "public", "merged", kind, text) for number, kind, text in wanted]
    for _ in range(60):
        kind = pick(["fix", "fix", "feature", "feature", "chore", "security"])
        rows.append((free.pop(), *pick(OTHERS), kind, " ".join(pick(part) for part in PARTS)))
    order = sorted(range(len(rows)), key=lambda _: draw())
    for place, row in enumerate(range(len(wanted))):  # the wanted ones stand in the middle
        order.remove(row)
        order.insert(28 + 6 * place, row)
    with open(f"notes/{component}.list", "w", encoding="utf-8") as file:
        for row in order:
            number, release, audience, state, kind, text = rows[row]
            date = f"2024-{3 + int(draw() * 4):02d}-{1 + int(draw() * 28):02d}"
            file.write(f"QX-{number:04d} | {date} | {release} | {audience} | {state} | {kind} | {text}.\n")
PYTHON
