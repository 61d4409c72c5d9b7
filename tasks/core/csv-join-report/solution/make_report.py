"""Writes one part of the report: python3 make_report.py LAST_DAY (unknown|regions|products)."""

import csv
import sys
from collections import Counter
from pathlib import Path


def rows(name):
    """One of the tables."""
    with Path("data", name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


last_day, part = sys.argv[1:]
region = {row["customer_id"]: row["region"] for row in rows("customers.csv")}
price = {row["product_id"]: int(row["price_cents"]) for row in rows("products.csv")}
back = Counter()
for row in rows("returns.csv"):
    if row["received"] <= last_day:
        back[row["order_id"]] += int(row["units"])
unknown, orders, revenue, units = [], Counter(), Counter(), Counter()
for row in rows("orders.csv"):
    if row["customer_id"] not in region or row["product_id"] not in price:
        unknown.append(row["order_id"])
        continue
    kept = int(row["quantity"]) - back[row["order_id"]]
    where = region[row["customer_id"]]
    orders[where] += 1
    revenue[where] += kept * price[row["product_id"]]
    units[row["product_id"]] += kept
report = Path("report")
report.mkdir(exist_ok=True)
if part == "unknown":
    lines = sorted(unknown)
    print(f"{len(unknown)} unknown orders, {sum(orders.values())} that count")
elif part == "regions":
    ranked = sorted(orders, key=lambda name: (-revenue[name], name))
    lines = ["region,orders,revenue_cents", *(f"{name},{orders[name]},{revenue[name]}" for name in ranked)]
    print(f"best region {ranked[0]}, total revenue {sum(revenue.values())} cents")
else:
    best = sorted(units, key=lambda name: (-units[name], name))[:5]
    lines = ["product_id,units", *(f"{name},{units[name]}" for name in best)]
    print(f"best product {best[0]}")
name = "unknown.txt" if part == "unknown" else f"{part}.csv"
(report / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
