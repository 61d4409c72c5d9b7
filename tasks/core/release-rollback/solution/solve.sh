#!/bin/bash
set -euo pipefail
for link in srv/current srv/conf/app.conf srv/bin/web srv/bin/worker; do
  ln -sfn "$(readlink $link | sed s/r117/r112/)" $link
done
echo "2031-03-18 rolled-back r117 to r112" >> srv/history.log
