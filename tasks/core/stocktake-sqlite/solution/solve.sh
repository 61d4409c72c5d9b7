#!/bin/bash
set -euo pipefail
python3 - <<'PYTHON'
import csv
import json
import sqlite3

base = sqlite3.connect("seedbank.db")
counted = list(csv.DictReader(open("stocktake.csv", encoding="utf-8")))
lots = {lot: (grams, sealed) for lot, grams, sealed in base.execute("select lot, grams, sealed from lots")}
unknown = sorted(row["lot"] for row in counted if row["lot"] not in lots)
changes = {}
ANNOUNCE = "insert into corrections (lot, old_grams, new_grams, reason, counter) values (?, ?, ?, 'stocktake 2031-03', ?)"
with base:
    for row in counted:
        lot, new = row["lot"], int(row["grams"])
        if lot not in lots or lots[lot][0] == new:
            continue
        old, sealed = lots[lot]
        changes[lot] = new - old
        base.execute(ANNOUNCE, (lot, old, new, row["counter"]))
        if sealed:
            base.execute("update lots set sealed = 0 where lot = ?", (lot,))
        base.execute("update lots set grams = ? where lot = ?", (new, lot))
        if sealed:
            base.execute("update lots set sealed = 1 where lot = ?", (lot,))
LOW = """select name, coalesce(sum(grams), 0) as total, minimum from species left join lots on species = name
         group by name having total < minimum order by name"""
with open("low.csv", "w") as file:
    file.write("species,grams,minimum\n")
    file.writelines(f"{name},{grams},{minimum}\n" for name, grams, minimum in base.execute(LOW))
base.close()
open("unknown.txt", "w").write("".join(f"{lot}\n" for lot in unknown))
largest = min(changes, key=lambda lot: (-abs(changes[lot]), lot))
report = {"changed": len(changes), "net_grams": sum(changes.values()), "largest": largest}
json.dump(report, open("report.json", "w"))
PYTHON
