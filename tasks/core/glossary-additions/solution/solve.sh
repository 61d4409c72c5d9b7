#!/bin/bash
set -euo pipefail
python3 - <<'PYTHON'
import re
from pathlib import Path


def key(term):
    return re.sub(r"[- ]", "", term).lower()


lines = Path("glossary.txt").read_bytes().decode("utf-8").split("\n")
places, letter, ends = {}, "", {}
for at, line in enumerate(lines):
    if heading := re.match(r"== (\w) ==", line):
        letter = heading[1].lower()
    elif line.strip():
        places[key(re.match(r"(.*?)(?: ->|:)", line)[1])] = (letter, at)
        ends[letter] = at
won = {}
for name in ("editors", "harbour", "legal"):
    for line in Path(f"additions/{name}.tsv").read_text(encoding="utf-8").splitlines():
        term, definition, state = line.split("\t")
        if state == "approved" and key(term) not in places:
            won.setdefault(key(term), (name, term, definition))
added, put = [], {}
for each in sorted(won):
    greater = [at for other, (letter, at) in places.items() if letter == each[0] and other > each]
    put.setdefault(min(greater, default=ends[each[0]] + 1), []).append(each)
result = []
for at, line in enumerate(lines):
    for each in put.get(at, []):
        name, term, definition = won[each]
        result.append(f"{term}: {definition}")
        added.append(f"{name}: {term}\n")
    result.append(line)
Path("glossary.txt").write_bytes("\n".join(result).encode())
Path("added.txt").write_text("".join(added), encoding="utf-8")
PYTHON
