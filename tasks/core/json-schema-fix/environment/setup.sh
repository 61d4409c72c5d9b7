#!/usr/bin/env bash
# Generates catalog.json and the suppliers' sheets; the seed makes them the same everywhere.
set -eu
mkdir -p suppliers
python3 - <<'PYTHON'
import json
import random

draw = random.Random(4711).random
suppliers = ["alvor", "benmark", "corvida", "nordal", "ostara"]
things = ["bracket", "hinge", "hook", "knob", "latch", "rail", "shelf", "spacer"]
stuffs = ["beech", "brass", "nylon", "oak", "steel", "zinc"]


def pick(items):
    return items[int(draw() * len(items))]


products = []
sheets = {name: [] for name in suppliers}
for number in range(214):
    sku = f"{pick('KLMPQT')}{pick('RSXZ')}-{2000 + number * 37}"
    supplier = pick(suppliers)
    grams = 40 + int(draw() * 3000)
    pieces = 1 + int(draw() * 20)
    product = {"sku": sku, "name": f"{pick(stuffs)} {pick(things)}", "supplier": supplier}
    product |= {"unit": pick(["piece", "pair", "set"]), "price_cents": 90 + int(draw() * 9000), "weight_g": grams}
    if draw() < 0.2:
        product["colour"] = pick(["plain", "black", "white"])
    if number == 103:
        product["weight_g"] = "1,250"
        grams = 1205
        sheets[supplier].append(f"{sku};{pieces};1520;2019-05-01")
    sheets[supplier].append(f"{sku};{pieces};{grams};2023-{1 + int(draw() * 9):02d}-01")
    if number == 103 or draw() < 0.2:
        old = 1250 if number == 103 else grams + 15
        sheets[supplier].append(f"{sku};{pieces};{old};2021-{1 + int(draw() * 9):02d}-01")
    products.append(product)

with open("catalog.json", "w", encoding="utf-8") as file:
    json.dump({"currency": "EUR", "products": products}, file, indent=1)
    file.write("\n")
for name, rows in sheets.items():
    with open(f"suppliers/{name}.csv", "w", encoding="utf-8") as file:
        file.write("sku;pieces;grams;valid_from\n" + "".join(row + "\n" for row in rows))
PYTHON
