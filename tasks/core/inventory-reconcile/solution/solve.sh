#!/usr/bin/env bash
set -eu
python3 - <<'PYTHON'
import csv
import json
from collections import Counter
from pathlib import Path

warehouse, shop = Counter(), Counter()
for row in csv.DictReader(Path("stores/warehouse.csv").read_text(encoding="utf-8").splitlines()):
    if row["quantity"] != "-":
        warehouse[row["article"]] += int(row["quantity"])
for item in json.loads(Path("stores/shop.json").read_text(encoding="utf-8")):
    if item["status"] == "live":
        name = item["article"]
        shop[f"{name[:2].upper()}-{int(name[2:]):05d}"] = item["stock"] + item["reserved"]
warehouse, shop = +warehouse, +shop
rows = [(name, warehouse[name], shop[name], shop[name] - warehouse[name]) for name in set(warehouse) & set(shop)]
unequal = sorted((row for row in rows if row[3]), key=lambda row: (-abs(row[3]), row[0]))
reports = {
    "only-warehouse.txt": sorted(set(warehouse) - set(shop)),
    "only-shop.txt": sorted(set(shop) - set(warehouse)),
    "differences.csv": ["article,warehouse,shop,difference", *(",".join(map(str, row)) for row in unequal)],
}
Path("report").mkdir()
for name, lines in reports.items():
    Path("report", name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
summary = {
    "only_warehouse": len(reports["only-warehouse.txt"]),
    "only_shop": len(reports["only-shop.txt"]),
    "different": len(unequal),
    "equal": len(rows) - len(unequal),
    "first": unequal[0][0],
}
Path("report/summary.json").write_text(json.dumps(summary) + "\n", encoding="utf-8")
PYTHON
