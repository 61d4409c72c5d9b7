#!/bin/bash
set -euo pipefail
python3 -I - <<'PYTHON'
from pathlib import Path

path = Path("locker/machine.py")
text = path.read_text(encoding="utf-8")
for before, line in (
    ('    "WAITING": {\n', '        "pay_failed": ("RETURNING", ("take_photo", "lock"), "keep"),\n'),
    ('    "PAYING": {\n', '        "door_timeout": ("PAYING", ("refund", "write_log"), "restart"),\n'),
):
    assert text.count(before) == 1
    text = text.replace(before, before + line)
path.write_text(text, encoding="utf-8")
PYTHON
python3 -B walk.py | tail -n 1
