#!/bin/bash
set -euo pipefail
python3 - <<'PYTHON'
import hashlib
import shutil
from pathlib import Path

spares = {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in sorted(Path("spares").rglob("*.bin"))}
repairs = []
for row in Path("manifest.tsv").read_text().splitlines():
    name, _, digest = row.split("\t")
    if hashlib.sha256(Path("parts", name).read_bytes()).hexdigest() != digest:
        shutil.copyfile(spares[digest], Path("parts", name))
        repairs.append(f"{name} {spares[digest]}\n")
Path("repairs.txt").write_text("".join(sorted(repairs)))
PYTHON
python3 join.py | tail -n 1
