#!/bin/bash
# Writes stock.csv: a few hundred labels, some of which were used again.
set -euo pipefail
python3 -I - <<'PYTHON'
import hashlib
from pathlib import Path

GOODS = {
    "food": "flour rice oats sugar lentils".split(),
    "tools": "hammers anvils saws files".split(),
    "frozen": "peas spinach cod".split(),
    "chilled": "butter cheese yeast".split(),
    "paint": "varnish enamel primer".split(),
    "cleaner": "soap lye polish".split(),
}
REAL = {
    "K-417": [("food", "flour", 24)],
    "K-388": [("tools", "saws", 26), ("frozen", "peas", 18)],
    "K-902": [("paint", "enamel", 27)],
    "K-115": [("tools", "anvils", 30)],
    "K-640": [("chilled", "yeast", 14)],
    "K-273": [("cleaner", "soap", 20), ("food", "oats", 5)],
    "K-551": [("chilled", "butter", 22)],
    "K-737": [("food", "sugar", 19), ("cleaner", "lye", 19)],
}


def number(*words):
    return int(hashlib.sha256(repr(words).encode()).hexdigest()[:8], 16)


rows = []
for label, boxes in REAL.items():
    at = number("at", label) % 200
    for use, (kind, goods, weight) in enumerate(boxes):
        rows.append((at + 230 * use, f"{label},{goods},{kind},{weight}"))
for at in range(420):
    label = f"K-{100 + number('label', at) % 900}"
    if label not in REAL:
        kind = sorted(GOODS)[number("kind", at) % 6]
        goods = GOODS[kind][number("goods", at) % len(GOODS[kind])]
        rows.append((at, f"{label},{goods},{kind},{3 + number('weight', at) % 30}"))
Path("stock.csv").write_text("label,goods,class,kg\n" + "".join(f"{row}\n" for _, row in sorted(rows)))
PYTHON
