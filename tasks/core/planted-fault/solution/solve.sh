#!/bin/bash
set -euo pipefail
python3 -I - <<'PYTHON'
from pathlib import Path

path = Path('harbor/figures.py')
text = path.read_text(encoding="utf-8")
for right, wrong in [('        if lines and len(lines[-1]) + 1 + len(word) <= width:\n', '        if lines and len(lines[-1]) + 1 + len(word) < width:\n')]:
    assert text.count(wrong) == 1, wrong
    text = text.replace(wrong, right)
path.write_text(text, encoding="utf-8")
PYTHON
python3 -B examples.py | tail -n 1
