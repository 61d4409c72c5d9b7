"""Computes the four reports from the tables and compares: a quarter for each.

Extra files in report/ halve it, and changed tables leave nothing.
"""

import csv
import hashlib
import json
import os
from collections import Counter
from pathlib import Path

from workspace import content

LAST_DAY = "2031-04-11"
TABLES = "181afd596bafd7c2965ed807f3660c3e10284d853d271853197ebbea6172f5f3"
WRONG = (OSError, ValueError, RecursionError, csv.Error)


def rows(name: str) -> list[dict[str, str]]:
    """One of the given tables."""
    return list(csv.DictReader(content(Path("data", name)).decode("utf-8").splitlines()))


def tables_digest() -> str:
    """A digest over the four tables and the notes."""
    total = hashlib.sha256()
    for path in sorted(Path("data").iterdir()):
        total.update(os.fsencode(path.name) + b"\0" + content(path))
    return total.hexdigest()


def expected() -> dict[str, object]:
    """The right content of the four files."""
    region = {row["customer_id"]: row["region"] for row in rows("customers.csv")}
    price = {row["product_id"]: int(row["price_cents"]) for row in rows("products.csv")}
    back: Counter[str] = Counter()
    for row in rows("returns.csv"):
        back[row["order_id"]] += int(row["units"]) if row["received"] <= LAST_DAY else 0
    unknown, orders, revenue, units = [], Counter[str](), Counter[str](), Counter[str]()
    for row in rows("orders.csv"):
        customer, product = row["customer_id"], row["product_id"]
        if customer not in region or product not in price:
            unknown.append(row["order_id"])
            continue
        kept = int(row["quantity"]) - back[row["order_id"]]
        orders[region[customer]] += 1
        revenue[region[customer]] += kept * price[product]
        units[product] += kept
    ranked = sorted(orders, key=lambda name: (-revenue[name], name))
    best = sorted(units, key=lambda name: (-units[name], name))[:5]
    return {
        "unknown.txt": [[order] for order in sorted(unknown)],
        "regions.csv": [
            ["region", "orders", "revenue_cents"],
            *([name, str(orders[name]), str(revenue[name])] for name in ranked),
        ],
        "products.csv": [["product_id", "units"], *([name, str(units[name])] for name in best)],
        "summary.json": {
            "orders": orders.total(),
            "unknown": len(unknown),
            "revenue_cents": revenue.total(),
            "best_region": ranked[0],
        },
    }


def found(name: str) -> object:
    """What the solver wrote, as cells or as an object; None if it cannot be read."""
    try:
        text = content(Path("report", name)).decode("utf-8-sig")
        if name.endswith(".json"):
            return json.loads(text)
        return [[cell.strip() for cell in row] for row in csv.reader(text.splitlines()) if row]
    except WRONG as error:
        print(f"report/{name}: {error}")
        return None


def score() -> float:
    """The reward in 0..1."""
    if tables_digest() != TABLES:
        print("the tables or their notes were changed")
        return 0.0
    wanted = expected()
    right = [name for name, content in wanted.items() if found(name) == content]
    extra = [path.name for path in Path("report").iterdir() if path.name not in wanted] if right else []
    print(f"right: {right}, extra files: {extra[:9]!a}")
    return len(right) / len(wanted) * (0.5 if extra else 1.0)


def reward() -> float:
    """The score, or 0 where the tables or the folder of the reports cannot be read."""
    try:
        return score()
    except OSError as error:
        print(f"data/ or report/ cannot be read: {type(error).__name__}")
        return 0.0


Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward():.4f}\n", encoding="utf-8")
