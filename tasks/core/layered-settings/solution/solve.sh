#!/bin/bash
set -euo pipefail
python3 -I - <<'PYTHON'
import json
from pathlib import Path

WANTED = ['http.timeout', 'jobs.limit', 'log.rotate', 'mail.from', 'mail.queue', 'session.length', 'upload.limit']
values, files = {}, {}


def read(name):
    for line in Path("conf", name).read_text().splitlines():
        verb, _, rest = line.strip().partition(" ")
        key, _, value = rest.partition(" ")
        if verb == "include":
            read(rest)
        elif verb in ("set", "add", "drop"):
            values[key] = f"{values[key]},{value}" if verb == "add" and values.get(key) else value or None
            files[key] = name


read("hosts/wagtail.conf")
for key in WANTED:
    print(f"{key} = {values[key]} from {files[key]}")
answer = {key: {"value": values[key], "file": files[key]} for key in WANTED}
Path("effective.json").write_text(json.dumps(answer, indent=2) + "\n")
PYTHON
