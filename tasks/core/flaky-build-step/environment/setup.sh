#!/bin/bash
# Writes the pages of the almanac and its manifest: always the same bytes.
set -euo pipefail
mkdir -p pages
python3 -I - <<'PYTHON'
import random
from pathlib import Path

rng = random.Random(551)
WORDS = "dew frost gale haze hail mist rain sleet snow squall storm sun thaw wind".split()
names = []
for month in ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"):
    for part in range(1, 21):
        names.append(f"{month}-{part}.txt")
        words = [WORDS[int(rng.random() * len(WORDS))] for _ in range(14)]
        lines = [f"{month} {part}.{at} {words[2 * at]} then {words[2 * at + 1]}" for at in range(7)]
        Path("pages", names[-1]).write_text("\n".join(lines) + "\n")
names = sorted(names, key=lambda _: rng.random())
Path("manifest.txt").write_text("\n".join(["layout 3 fold 4", *names]) + "\n")
PYTHON
