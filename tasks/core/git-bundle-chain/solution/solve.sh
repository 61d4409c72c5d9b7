#!/bin/bash
set -euo pipefail
cd atlas
for name in drop-14.bundle:coast drop-07.bundle:draft release.bundle:release; do
  git fetch -q --no-tags ../incoming/${name%:*} ${name#*:}
done
git merge -q --ff-only FETCH_HEAD
git fetch -q ../incoming/release.bundle refs/tags/v2.0:refs/tags/v2.0
printf '%s\n' drop-14.bundle drop-07.bundle release.bundle > ../used.txt
