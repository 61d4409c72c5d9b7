#!/usr/bin/env bash
set -eu
here=$(cd "$(dirname "$0")" && pwd)
PYTHONPATH=$here python3 -B - <<'PYTHON'
import json
from collections import Counter
from pathlib import Path

from cron import jobs, starts

found = jobs()
shown = [{key: value for key, value in job.items() if key != "fields"} for job in found]
Path("jobs.json").write_text(json.dumps(shown, indent=1) + "\n", encoding="utf-8")
runs = {job["id"]: len(starts(job)) for job in found}
Path("runs.json").write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")
count = Counter(at for job in found for at in starts(job))
hour, minute = min(count, key=lambda at: (-count[at], at))
Path("busiest.txt").write_text(f"{hour:02d}:{minute:02d}\n", encoding="utf-8")
PYTHON
cat busiest.txt
