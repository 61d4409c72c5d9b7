#!/bin/bash
set -euo pipefail
python3 -I - <<'PYTHON'
from pathlib import Path


def replace(name, old, new):
    path = Path(name)
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, (name, old)
    path.write_text(text.replace(old, new), encoding="utf-8")


line = "  --since DATE     only loans on or after DATE (YYYY-MM-DD)\n"
for name in ("shelf.py", "README.md"):
    replace(name, "  --until DATE  ", line + "  --until DATE  ")
replace("shelf.py", '    "--until": parse_day,\n', '    "--since": parse_day,\n    "--until": parse_day,\n')
replace(
    "shelf.py",
    '    if len(files) != 1:\n',
    '    if "--since" in values and "--until" in values and values["--since"] >= values["--until"]:\n'
    '        raise UsageError("--since must be before --until")\n'
    '    if len(files) != 1:\n',
)
replace(
    "shelf.py",
    '        if "--until" in values and',
    '        if "--since" in values and datetime.date.fromisoformat(day) < values["--since"]:\n'
    '            continue\n'
    '        if "--until" in values and',
)
replace("CHANGES.md", "everything.\n", "everything.\n- New option `--since`.\n")
PYTHON
python3 -B shelf.py --since 2030-06-01 loans.csv
