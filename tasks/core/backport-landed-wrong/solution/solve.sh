#!/bin/bash
set -euo pipefail
python3 -I - <<'PYTHON'
from pathlib import Path


def replace(name, old, new):
    path = Path(name)
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, old
    path.write_text(text.replace(old, new), encoding="utf-8")


start = "    fee = days * BOAT\n    if days >= 7:\n        fee -= fee // 10\n    if late > 0:\n"
replace(
    "rental/fees.py",
    start + "        fee += late * LATE\n",
    start + "        free = 1 if days >= 3 else 0\n        fee += min(max(late - free, 0), 10) * 2 * LATE\n",
)
replace(
    "rental/fees.py",
    "    if number > 2:\n        amount -= BOAT // 2\n",
    "    if number > 3:\n        amount -= (number - 3) * BOAT // 4\n",
)
replace(
    "rental/texts.py",
    '    rows = [f"Boat {name}: {days} days"]\n',
    '    rows = [f"Boat {name}: {days} days"]\n    if late:\n'
    '        rows.append(f"{late} days late" + (", one of them free" if days >= 3 else ""))\n',
)
PYTHON
