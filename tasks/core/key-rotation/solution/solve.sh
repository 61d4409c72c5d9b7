#!/bin/bash
set -euo pipefail
python3 - <<'PYTHON'
import base64
import hashlib
import re
from pathlib import Path

KEY = re.compile(rb"hbk_(?:live|test)_[A-Za-z0-9]{24}(?![A-Za-z0-9])")
HIDDEN = re.compile(rb"(?<=_b64)(\W+)([A-Za-z0-9+/]+=*)")
table = {}
for row in Path("revoked.tsv").read_text().splitlines():
    mark, stage, new = row.split("\t")
    table[mark, stage] = new.encode()
report = ["file,line,fingerprint"]
for path in sorted(Path("deploy").rglob("*.*"), key=str):
    stage = path.parts[1]
    if stage == "archive":
        continue
    lines = path.read_bytes().split(b"\n")
    for at, line in enumerate(lines):
        hidden = HIDDEN.search(line)
        found = KEY.search(base64.b64decode(hidden[2]) if hidden else line)
        if not found or (at and b"rotate: never" in lines[at - 1]):
            continue
        mark = hashlib.sha256(found[0]).hexdigest()[:12]
        new = table.get((mark, stage), table.get((mark, "*")))
        if new:
            lines[at] = line.replace(hidden[2], base64.b64encode(new)) if hidden else line.replace(found[0], new)
            report.append(f"{path},{at + 1},{mark}")
    if b"\n".join(lines) != path.read_bytes():
        path.write_bytes(b"\n".join(lines))
Path("rotated.csv").write_text("\n".join(report) + "\n")
PYTHON
