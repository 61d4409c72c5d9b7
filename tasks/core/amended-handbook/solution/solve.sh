#!/bin/bash
set -euo pipefail
python3 -I - <<'PYTHON'
import json
import re
from pathlib import Path

TODAY, TERMS = "2031-03-30", ['deposit', 'key allowance', 'loan period', 'storage limit', 'travel rate', 'trial period']
text = Path("handbook.md").read_text(encoding="utf-8")
found = re.findall(r"^> Amendment (\d+), in force from (\S+): (.*)$", text, re.M)
rows = [(int(number), day, rest) for number, day, rest in found]
repealed, values = set(), {}
for number, day, rest in sorted(rows, reverse=True):
    if day > TODAY or number in repealed:
        continue
    if found := re.match(r"Amendment (\d+) is repealed", rest):
        repealed.add(int(found[1]))
    else:
        term, value = re.match(r"the (.*) is (\d+) ", rest).groups()
        values.setdefault(term, {"value": int(value), "by": number})
for term in TERMS:
    base = int(re.search(rf"The {term} is (\d+) ", text)[1])
    values.setdefault(term, {"value": base, "by": None})
answer = {term: values[term] for term in TERMS}
Path("terms.json").write_text(json.dumps(answer, indent=2) + "\n", encoding="utf-8")
PYTHON
