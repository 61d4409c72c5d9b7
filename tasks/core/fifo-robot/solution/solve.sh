#!/bin/bash
set -euo pipefail
nohup python3 robot/robot.py > /dev/null 2>&1 &
until [ -p line/in ]; do sleep 0.05; done
exec 3> line/in
order() {
  local old new
  old=$(cat line/out 2> /dev/null || true)
  echo "$*" >&3
  until new=$(cat line/out 2> /dev/null || true); [ "$new" != "$old" ]; do sleep 0.02; done
  echo "$new"
}
token=$(order HELLO | grep -o 'token=.*' | cut -d= -f2)
for bay in B1 B2 B3 B4 B5 B6 B7 B8; do
  label=$(order TAKE $token $bay | grep -o 'K-[0-9]*')
  IFS=, read -r _ _ class kg < <(grep "^$label," stock.csv | tail -n 1)
  case $class in food|tools) shelves="D1 D2 D3" ;; frozen|chilled) shelves="C1 C2" ;; *) shelves="A1 A2" ;; esac
  for shelf in $shelves; do
    read -r room load limit < <(order LOOK $token $shelf | grep -oE '[0-9]+' | tail -n 3 | xargs)
    case $shelf in D2|C2|A1) high=1 ;; *) high=0 ;; esac
    [ $((kg > 25 && high)) = 0 ] && [ $room -gt 0 ] && [ $((load + kg)) -le $limit ] || continue
    order PUT $token $shelf
    break
  done
done
echo "END $token" >&3
wait
cat line/receipt.json
