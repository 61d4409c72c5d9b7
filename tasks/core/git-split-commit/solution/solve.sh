#!/bin/bash
set -euo pipefail
cd cellar
tip=$(git rev-parse main)
mixed=$(git rev-parse main~1)
git reset -q --hard "$mixed~1"
for file in rack.py test_rack.py; do
  git show "$mixed:$file" | sed s/vintage/year/ > $file
done
python3 -B test_rack.py
git commit -q -a -C "$mixed"
git commit -q --amend -m "Guard against empty racks"
git checkout -q "$mixed" -- .
git commit -q -C "$mixed"
git commit -q --amend -m "Say vintage instead of year"
git cherry-pick "$tip" > /dev/null
