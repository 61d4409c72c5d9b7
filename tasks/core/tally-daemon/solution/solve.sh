#!/bin/bash
set -euo pipefail
tell() { python3 service/tell.py "$@"; }
nohup python3 service/tally.py > /dev/null 2>&1 &
for _ in $(seq 100); do tell shifts > /dev/null 2>&1 && break; sleep 0.1; done
for shift in 03 05 flush 06 08 flush 09 flush; do
  if [ $shift = flush ]; then tell flush; else tell load shifts/$shift.csv; fi
done
tell report | sed -n 's/^total //p' > total.txt
tell stop
wait
