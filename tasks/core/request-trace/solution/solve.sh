#!/bin/bash
set -euo pipefail
python3 -I - <<'PYTHON'
import json
import re
from pathlib import Path

jobs = {}
for path in Path("logs").iterdir():
    service, taken = path.name.split(".")[0], {}
    for line in path.read_text(encoding="utf-8").splitlines():
        worker, text = line.split(" ", 3)[2:]
        if text.startswith("takes ticket "):
            taken[worker] = text.split()[-1]
        elif done := re.fullmatch(r"(?:finishes|forwards|fails).* after (\d+) ms", text):
            jobs[service, taken.pop(worker, "")] = (worker, int(done[1]), text)
chain, text = [('ledger', 't-2457')], ""
while not text.startswith("fails"):
    worker, after, text = jobs[chain[-1]]
    if onward := re.match(r"forwards to (\w+) as ticket (t-\d+)", text):
        chain.append(onward.groups())
answer = {
    "services": [service for service, _ in chain],
    "workers": [jobs[key][0] for key in chain],
    "waited_ms": sum(jobs[key][1] for key in chain),
    "code": re.search(r"K-\d+", text)[0],
}
Path("trace.json").write_text(json.dumps(answer, indent=2) + "\n", encoding="utf-8")
PYTHON
