#!/bin/bash
set -euo pipefail
python3 - <<'PYTHON'
import json
import re

lines = {}
for line in open("logs/orders.log", encoding="utf-8"):
    lines[re.search(r"event=(E\d+)", line).group(1)] = line
event = next(key for key, line in lines.items() if " FATAL " in line)
chain = [event]
while found := re.search(r"caused_by=(E\d+)$", lines[event]):
    event = found.group(1)
    chain.append(event)
answer = {
    "event": event,
    "host": re.search(r"host=(\S+)", lines[event]).group(1),
    "deploy": re.search(r"dep-\d+", lines[event]).group(0),
    "chain": chain,
}
open("root_cause.json", "w", encoding="utf-8").write(json.dumps(answer, indent=2) + "\n")
PYTHON
