#!/bin/bash
set -euo pipefail
rm state/locks/book.lock
for day in monday tuesday wednesday; do
  python3 bin/depot.py book inbox/$day.csv
done
