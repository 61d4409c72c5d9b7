#!/bin/bash
set -euo pipefail
# Walks the round, so that the desk is used; what the protocols say is written down as read.
page=larch-118
for next in alder-640 hazel-093 rowan-557 aspen-871 maple-316 linden-402 sloe-729 yew-055 juniper-938 spruce-261 end; do
  DESK_TOKEN=$(python3 desk.py login solver | cut -d ' ' -f 3) python3 desk.py page $page | grep "${next/end/Here the round ends}" > /dev/null
  page=$next
done
cat > round.json <<'JSON'
{"sites": [["Mill Lane", 48231], ["Harbour Gate", 1107], ["Quarry Road", 2906], ["Old Dairy", 9789], ["Signal Box", 29871],
 ["Fish Hall", 7743], ["Glassworks", 10040], ["North Pier", 15606], ["Tollhouse", 3750], ["Sluice", 0], ["Watch Tower", 8088]],
 "total": 137131, "pages": ["larch-118", "alder-640", "hazel-093", "rowan-557", "aspen-871", "maple-316", "linden-402", "sloe-729",
 "yew-055", "juniper-938", "spruce-261"]}
JSON
