#!/bin/bash
set -euo pipefail
python3 -I - <<'PYTHON'
from pathlib import Path

path = Path("plant/registers.py")
head, name, tail = path.read_text(encoding="utf-8").partition("def read_tank_17(bus):")
path.write_text(head + name + tail.replace("    offset = -40\n", "    offset = -25\n", 1), encoding="utf-8")
PYTHON
python3 -B compare_panel.py | tail -n 1
