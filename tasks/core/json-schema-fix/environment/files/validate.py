"""Checks catalog.json and prints what it looked at: python3 validate.py"""

import json
import sys
from pathlib import Path

KINDS = {"sku": str, "name": str, "supplier": str, "unit": str, "price_cents": int, "weight_g": int}
UNITS = ("piece", "pair", "set")


def problems(product: dict[str, object]) -> list[str]:
    """What is wrong with a product, one sentence each."""
    found = []
    for field, kind in KINDS.items():
        value = product.get(field)
        if type(value) is not kind:
            wanted = "an integer" if kind is int else "a string"
            found.append(f"{field} is {value!r}, not {wanted}; see suppliers/{product.get('supplier')}.csv")
    if product.get("unit") not in UNITS:
        found.append(f"unit is none of {', '.join(UNITS)}")
    return found


def main() -> int:
    """Print the report; 1 if there are errors."""
    products = json.loads(Path("catalog.json").read_text(encoding="utf-8"))["products"]
    errors = warnings = 0
    for number, product in enumerate(products):
        print(f"product {number:02d} {product.get('sku')} ({product.get('name')}): {len(product)} fields")
        found = problems(product)
        for problem in found:
            print(f"    ERROR {product.get('sku')} {problem}")
        if "colour" in product:
            print("    WARN  colour is deprecated; accepted until the next edition")
            warnings += 1
        elif not found:
            print("    ok    all required fields present, types and unit as agreed")
        errors += len(found)
    print(f"{len(products)} products, {warnings} warnings, {errors} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
