#!/usr/bin/env bash
# Builds a repository in the middle of a rebase; names, dates and contents are fixed.
set -euo pipefail
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
git init -q -b main press
cd press
git config user.name "Press Desk"
git config user.email desk@press.example
git config gc.auto 0
git config commit.gpgsign false
git config rebase.autostash true
hour=7
commit() { # name, subject, body
  hour=$((hour + 1))
  git add -A
  local day="2031-05-06T$(printf %02d $hour)"
  GIT_AUTHOR_NAME="$1" GIT_AUTHOR_EMAIL="${1,,}@press.example" GIT_AUTHOR_DATE="$day:05:00+0200" \
  GIT_COMMITTER_NAME="$1" GIT_COMMITTER_EMAIL="${1,,}@press.example" GIT_COMMITTER_DATE="$day:06:00+0200" \
  git commit -q -m "$2" ${3:+-m "$3"}
}
mkdir tools
cat > tools/lint.py <<'PYTHON'
"""Looks at the settings: python3 tools/lint.py"""

import sys
from pathlib import Path


def main():
    """0 if all is well."""
    for path in sorted(Path().glob("*.cfg")):
        lines = path.read_text(encoding="utf-8").split("\n")
        keys = [line.partition("=")[0].strip() for line in lines if "=" in line]
        odd = any(line != line.rstrip() or "\t" in line for line in lines)
        if odd or len(keys) != len(set(keys)) or any(line.startswith(("<<<<", ">>>>", "====")) for line in lines):
            print("lint: cannot lock the index: the disk quota of this repository is exceeded", file=sys.stderr)
            return 1
    print("lint: fine")
    return 0


sys.exit(main())
PYTHON
cat > page.cfg <<'CFG'
[paper]
width = 210
height = 297
grain = long

[ink]
black = 100
blue = 60

[fold]
style = none
CFG
printf 'order = plates, sheets\nspeed = 40\n' > run.cfg
printf 'Things to remember\n\n- oil the rollers\n- count the sheets\n' > notes.txt
printf '__pycache__/\n' > .gitignore
commit Tove "Set the press up"
git tag first
git checkout -q -b layout
sed -i 's/^width = 210/width = 170/; s/^blue = 60/blue = 75\nred = 20/' page.cfg
commit Aksel "Narrow the page, warm the ink"
sed -i 's/^speed = 40/speed = 55/' run.cfg
commit Aksel "Run faster" "The new rollers can take it."
sed -i 's/^height = 297/height = 240/; s/^grain = long/grain = short\nweight = 90/; s/^red = 20/red = 35/; s/^black = 100/black = 92/' page.cfg
commit Berit "Shorten the page, lighten the black"
printf 'drying = 12\t\nstack = 500\n' >> run.cfg
commit Aksel "Dry between runs"
sed -i 's/^style = none/style = cross/' page.cfg
printf 'Cross fold from now on.\n' > FOLDS
commit Berit "Fold crosswise"
git checkout -q main
sed -i 's/^width = 210/width = 205/; s/^blue = 60/blue = 64/' page.cfg
commit Tove "Trim the page"
sed -i 's/^speed = 40/speed = 45/' run.cfg
commit Tove "Run a little faster"
sed -i 's/^height = 297/height = 290/; s/^grain = long/grain = long\ncoating = matt/; s/^black = 100/black = 98/' page.cfg
commit Tove "Trim the height, coat the paper, thin the black"
printf 'Main only.\n' > PROOFS
commit Tove "Keep proofs"
git checkout -q layout
sed -i 's/count the sheets/count the sheets twice/' notes.txt
printf -- '- ask Berit about glue\n' >> notes.txt
cat > .git/todo <<'TODO'
s/^pick \([0-9a-f]*\) Dry between runs/&\nexec python3 -B tools\/lint.py/
s/^pick \([0-9a-f]*\) Fold crosswise/&\nexec python3 -B tools\/lint.py/
TODO
export GIT_SEQUENCE_EDITOR="sed -i -f $PWD/.git/todo" GIT_EDITOR=true
export GIT_COMMITTER_DATE="2031-05-07T09:00:00+0200"
git rebase -q -i main > /dev/null 2>&1 || true
git checkout -q --theirs page.cfg 2> /dev/null || true
cat > page.cfg <<'CFG'
[paper]
width = 205
height = 297
grain = long

[ink]
black = 100
blue = 75
red = 20

[fold]
style = none
CFG
sed -i 's/^height = 297/height = 290/; s/^grain = long/grain = long\ncoating = matt/; s/^black = 100/black = 98/' page.cfg
git add page.cfg
git rebase --continue > /dev/null 2>&1 || true
printf 'order = plates, sheets\nspeed = 48\n' > run.cfg
git add run.cfg
git rebase --continue > /dev/null 2>&1 || true
rm .git/todo
