#!/usr/bin/env bash
set -eu
python3 - <<'PYTHON'
import configparser
from pathlib import Path

SECONDS = {"s": 1, "m": 60, "h": 3600}
for path in sorted(Path("conf.d").iterdir()):
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.read_string(path.read_text(encoding="utf-8"))
    sync = parser["sync"]
    every = int(sync["every"][:-1]) * SECONDS[sync["every"][-1]]
    if sync["enabled"] == "yes" and sync["source"] == "mirror-07.internal" and every < 20 * 60:
        text = path.read_text(encoding="utf-8")
        assert text.count(f"every = {sync['every']}\n") == 1
        path.write_text(text.replace(f"every = {sync['every']}\n", "every = 95m\n"), encoding="utf-8")
        Path("culprit.txt").write_text(parser["job"]["name"] + "\n", encoding="utf-8")
PYTHON
cat culprit.txt
