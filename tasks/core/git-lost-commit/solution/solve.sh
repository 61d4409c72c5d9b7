#!/usr/bin/env bash
set -eu
cd ledger
lost=$(git fsck --no-reflogs 2> /dev/null | sed -n 's/dangling commit //p' \
  | xargs git log --no-walk --date=short --format='%ad|%an|%s|%H' \
  | sed -n 's/^2024-03-06|Mara Lindqvist|Round invoice totals half to even|//p')
git cherry-pick "$lost"
echo "$lost" > ../recovered.txt
python3 -B tests/test_totals.py
