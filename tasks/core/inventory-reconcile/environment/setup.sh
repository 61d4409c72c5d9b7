#!/usr/bin/env bash
# Generates the two stock lists; the seed makes them the same everywhere.
set -eu
mkdir -p stores
python3 - <<'PYTHON'
import random

draw = random.Random(5150).random
bins, shop = [], []
numbers = sorted({1 + int(draw() * 9800) for _ in range(150)})
for position, number in enumerate(numbers):
    letters = "".join("BDKMRT"[int(draw() * 6)] for _ in range(2))
    sku, article = f"{letters}-{number:05d}", f"{letters.lower()}{number}"
    quantity = int(draw() * 60)
    parts = [quantity]
    if draw() < 0.3:
        parts = [quantity // 3, quantity - quantity // 3]
    off = draw()
    believed = quantity
    if off < 0.17:
        believed = max(0, quantity + (-1 if draw() < 0.5 else 1) * (1 + int(draw() * 5)))
    quantity, believed = {20: (0, 5), 61: (0, 2), 95: (7, 0)}.get(position, (quantity, believed))
    if position in (20, 61, 95):
        parts, off = [quantity], 1.0
    reserved = min(believed, int(draw() * 4))
    status = "retired" if draw() < 0.07 else "live"
    if not 0.17 <= off < 0.23:
        bins += [(sku, f"{'ABCDEF'[int(draw() * 6)]}{1 + int(draw() * 40)}", part) for part in parts]
        if draw() < 0.06:
            bins.append((sku, "Z9", "-"))
    if position in (33, 110):
        bins = [row for row in bins if row[0] != sku] + [(sku, "Y4", "-")]
    if not 0.23 <= off < 0.29:
        shop.append((article, believed - reserved, reserved, status))
bins.sort(key=lambda row: (row[1], draw()))
shop.sort(key=lambda _: draw())
with open("stores/warehouse.csv", "w", encoding="utf-8") as file:
    file.write("article,bin,quantity,counted_by\n")
    for sku, place, quantity in bins:
        file.write(f"{sku},{place},{quantity},desk {1 + int(draw() * 5)}\n")
with open("stores/shop.json", "w", encoding="utf-8") as file:
    rows = [
        f'{{"article": "{article}", "stock": {stock}, "reserved": {reserved}, "status": "{status}"}}'
        for article, stock, reserved, status in shop
    ]
    file.write("[\n" + ",\n".join(rows) + "\n]\n")
PYTHON
