#!/usr/bin/env bash
set -eu
conflict=$(python3 check_ports.py | grep CONFLICT)
port=$(sed -E 's/^port ([0-9]+) .*/\1/' <<< "$conflict")
younger=$(sed -E 's/.*held by ([a-z]+) .* and ([a-z]+) .*/\1 \2/' <<< "$conflict" | tr ' ' '\n' | while read -r name; do
  echo "$(sed -n 's/^since = //p' "services/$name.conf") $name"
done | sort | tail -n 1 | cut -d ' ' -f 2)
setting=$(sed -nE "s/^([a-z]+) = $port$/\1/p" "services/$younger.conf")
team=$(sed -n 's/^team = //p' "services/$younger.conf")
new=$(python3 check_ports.py | sed -nE "s/^port ([0-9]+) block $team +free.*/\1/p" | head -n 1)
sed -i "s/^$setting = $port$/$setting = $new/" "services/$younger.conf"
echo "$younger $setting $port $new" > moved.txt
python3 check_ports.py | tail -n 1
