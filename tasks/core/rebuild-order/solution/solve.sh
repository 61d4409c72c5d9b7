#!/bin/bash
set -euo pipefail
python3 -I - > rebuild.txt <<'PYTHON'
from pathlib import Path

changed = {Path(line).resolve() for line in Path("changed.txt").read_text().split()}
needs, version, todo = {}, {}, set()
for file in Path("packages").glob("*/package.txt"):
    name, lines = file.parent.name, [line.split() for line in file.read_text().splitlines()]
    needs[name] = [other for verb, *others in lines if verb == "needs" for other in others]
    version[name] = next(line[1] for line in lines if line[0] == "version")
    own = {(file.parent / line[1]).resolve() for line in lines if line[0] == "source"}
    if ["pinned"] in lines:
        needs[name] = []
    elif own & changed:
        todo.add(name)
while more := {name for name in needs if name not in todo and todo & set(needs[name])}:
    todo |= more
order = []
while len(order) < len(todo):
    order.append(min(name for name in todo if name not in order and not (todo & set(needs[name])) - set(order)))
for name in order:
    *front, last = version[name].split(".")
    print(name, ".".join([*front, str(int(last) + 1)]))
PYTHON
