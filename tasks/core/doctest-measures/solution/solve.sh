#!/bin/bash
set -euo pipefail
python3 -I - <<'PYTHON'
from pathlib import Path

path = Path("kitchen/measures.py")
text = path.read_text(encoding="utf-8")
for old, new in (
    (
        '    whole, rest = _split(amount)\n    return " ".join(str(part) for part in (whole, rest) if part) or "0"\n',
        '    whole, rest = _split(abs(amount))\n    shown = " ".join(str(part) for part in (whole, rest) if part) or "0"\n'
        '    return f"-{shown}" if amount < 0 else shown\n',
    ),
    (
        '    return sum((Fraction(part) for part in text.split()), Fraction(0))\n',
        '    size = sum((Fraction(part) for part in text.removeprefix("-").split()), Fraction(0))\n'
        '    return -size if text.startswith("-") else size\n',
    ),
    ("return unit if amount == 1 else", "return unit if 0 < abs(amount) <= 1 else"),
):
    assert text.count(old) == 1, old
    text = text.replace(old, new)
path.write_text(text, encoding="utf-8")
PYTHON
python3 -B -m doctest kitchen/measures.py
python3 -B -m doctest docs/recipes.md
