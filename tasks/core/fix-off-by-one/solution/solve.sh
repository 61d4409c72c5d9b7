#!/bin/bash
set -euo pipefail
python3 - <<'PYTHON'
from pathlib import Path

module = Path("billing/periods.py")
before, marker, after = module.read_text().partition("timedelta(days=14)\n")
module.write_text(before + marker + after.replace("append((first, last))", "append((first, last - DAY))", 1))
notes = Path("CHANGES.md")
line = "- Fixed: `fortnightly` no longer counts one day twice.\n"
notes.write_text(notes.read_text().replace("## Unreleased\n\n", "## Unreleased\n\n" + line))
PYTHON
python3 run_checks.py
