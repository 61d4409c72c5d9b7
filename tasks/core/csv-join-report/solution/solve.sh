#!/bin/bash
set -euo pipefail
script="$(dirname "$0")/make_report.py"
last_day="$(grep -o 'after [0-9-]*' data/NOTES.md | cut -d' ' -f2)"
read -r unknown _ _ orders _ < <(python3 "$script" "$last_day" unknown)
read -r _ _ region _ _ revenue _ < <(python3 "$script" "$last_day" regions | tr -d ,)
python3 "$script" "$last_day" products
printf '{"orders": %d, "unknown": %d, "revenue_cents": %d, "best_region": "%s"}\n' "$orders" "$unknown" "$revenue" "$region" > report/summary.json
