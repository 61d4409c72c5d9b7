#!/bin/bash
set -euo pipefail
python3 - <<'PYTHON'
import json
import re
from collections import Counter
from pathlib import Path

text = Path("logs/access.log").read_text()
monitor = re.search(r"^# monitoring agent is (\S+)", text, re.MULTILINE).group(1)
line = re.compile(r'^(\S+) \[\S+T(\d\d:\d\d):\d\d\] "(\S+) ([^ ?]+)\S* \S+" (\d+) (\d+) (\d+)ms$', re.MULTILINE)
rows = [row for row in line.findall(text) if row[0] != monitor and row[2] != "HEAD"]


def ranked(values):
    return sorted(Counter(values).items(), key=lambda pair: (-pair[1], pair[0]))


minute, requests = ranked(row[1] for row in rows)[0]
answer = {
    "paths": ranked(row[3] for row in rows)[:5],
    "errors": ranked(row[0] for row in rows if row[4].startswith("5"))[0],
    "minute": minute,
    "minute_requests": requests,
    "bytes": sum(int(row[5]) for row in rows if row[4] == "200"),
    "slowest": max(rows, key=lambda row: int(row[6]))[3],
}
Path("top.json").write_text(json.dumps(answer, indent=2) + "\n")
PYTHON
