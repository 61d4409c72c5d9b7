#!/bin/bash
set -euo pipefail
export GIT_EDITOR=true
cd press
cat > page.cfg <<'CFG'
[paper]
width = 205
height = 290
grain = long
coating = matt
weight = 90

[ink]
black = 92
blue = 75
red = 35

[fold]
style = none
CFG
git add page.cfg
git rebase --continue > /dev/null 2>&1 || true
printf 'order = plates, sheets\nspeed = 48\ndrying = 12\nstack = 500\n' > run.cfg
git add run.cfg
git rebase --continue
git status
