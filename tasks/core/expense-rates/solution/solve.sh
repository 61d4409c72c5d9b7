#!/bin/bash
set -euo pipefail
mkdir -p settled
python3 - <<'PYTHON'
import csv
import re
from collections import defaultdict
from decimal import ROUND_HALF_EVEN, Decimal

with open("tour/rates.csv", encoding="utf-8", newline="") as file:
    rates = sorted((row["date"], row["currency"], Decimal(row["rate"])) for row in csv.DictReader(file))
with open("tour/expenses.csv", encoding="utf-8", newline="") as file:
    rows = list(csv.DictReader(file))
cancelled = set()
for row in rows:
    if row["note"].startswith("cancels "):
        cancelled |= {row["id"], row["note"].split()[1]}
lines, missing, people = [], [], defaultdict(list)
for row in rows:
    if row["category"] == "private" or row["id"] in cancelled:
        continue
    known = [rate for day, currency, rate in rates if currency == row["currency"] and day <= row["date"]]
    if row["currency"] == "EUR":
        known = [Decimal(1)]
    if not known:
        missing.append(row["id"])
        continue
    value = Decimal(re.sub(r"\D", "", row["amount"])) / 100 * known[-1]
    value = value.quantize(Decimal("0.01"), ROUND_HALF_EVEN)
    lines.append(f"{row['id']},{value}\n")
    people[row["who"]].append(value)
open("settled/lines.csv", "w").write("id,eur\n" + "".join(lines))
ranked = sorted(people.items(), key=lambda item: (-sum(item[1]), item[0]))
text = "".join(f"{who},{len(values)},{sum(values)}\n" for who, values in ranked)
open("settled/people.csv", "w").write("who,lines,eur\n" + text)
open("settled/no-rate.txt", "w").write("".join(f"{each}\n" for each in sorted(missing)))
PYTHON
