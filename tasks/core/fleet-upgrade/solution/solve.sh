#!/bin/bash
set -euo pipefail
next() { grep -oE 'n[1-6] under the ticket T-[0-9a-f]+' | sed 's/ under the ticket / /'; }
step() { # node, channel, ticket: drains, upgrades and resumes, and prints the next node and its ticket
  python3 fleet.py drain "$1" >&2
  python3 fleet.py upgrade "$@" | next || true
  python3 fleet.py resume "$1" >&2
}
set -- n3 T-ff1163
for channel in fast slow rescue slow; do
  if [ "$1" = n1 ]; then python3 fleet.py handover n1 n5; fi
  last="$*"
  set -- $(step "$1" $channel "$2")
done
step ${last% *} rescue ${last#* } > /dev/null
for channel in fast rescue; do
  set -- $(step "$1" $channel "$2")
done
certificate=$(python3 fleet.py certify | cut -d ' ' -f 2)
cat > report.json <<JSON
{"nodes": [["n3", "3.9.2", "fast"], ["n5", "3.8.11", "slow"], ["n1", "3.9.4", "rescue"], ["n6", "3.9.7", "rescue"],
           ["n2", "3.7.0", "fast"], ["n4", "3.8.16", "rescue"]],
 "retried": ["n6"], "certificate": "$certificate"}
JSON
