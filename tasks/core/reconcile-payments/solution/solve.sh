#!/bin/bash
set -euo pipefail
said=$(python3 -I - <<'PYTHON'
import csv
import json
from datetime import date
from pathlib import Path

DAYS, LESS, MORE, FEE = (17, 56, 89, 401)
invoices = sorted(csv.DictReader(open("books/invoices.csv")), key=lambda row: (row["date"], row["invoice"]))
payments = sorted(csv.DictReader(open("books/bank.csv")), key=lambda row: (row["date"], row["payment"]))
free, matches = [row for row in payments if row["note"] != "returned"], []
for invoice in invoices:
    for payment in free:
        reference = payment["reference"].replace(" ", "").replace("-", "").upper()
        days = (date.fromisoformat(payment["date"]) - date.fromisoformat(invoice["date"])).days
        difference = int(payment["cents"]) + FEE * (payment["note"] == "abroad") - int(invoice["cents"])
        known = reference.endswith(invoice["customer"].replace("-", ""))
        if known and 0 <= days <= DAYS and -LESS <= difference <= MORE:
            matches.append((invoice["invoice"], payment["payment"], difference))
            free.remove(payment)
            break
paid, used = {match[0] for match in matches}, {match[1] for match in matches}
left = sorted(row["invoice"] for row in invoices if row["invoice"] not in paid)
unused = sorted(row["payment"] for row in payments if row["payment"] not in used)
lines = ["invoice,payment,difference", *("%s,%s,%d" % match for match in sorted(matches))]
Path("result").mkdir(exist_ok=True)
for name, rows in (("matches.csv", lines), ("open.txt", left), ("unused.txt", unused)):
    Path("result", name).write_text("".join(row + "\n" for row in rows))
total = sum(match[2] for match in matches)
print(f"paid {len(matches)} open {len(left)} unused {len(unused)} difference {total}")
PYTHON
)
sed -E 's/([a-z]+) (-?[0-9]+) ?/"\1": \2, /g; s/, $//; s/.*/{&}/' <<< "$said" > result/totals.json
