#!/usr/bin/env bash
# Builds a repository and bundles for it; names, dates and contents are fixed, so commits have the same ids everywhere.
set -euo pipefail
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
git init -q -b main build
cd build
git config gc.auto 0
git config commit.gpgsign false
export GIT_AUTHOR_NAME="Atlas Desk" GIT_AUTHOR_EMAIL=desk@atlas.example
export GIT_COMMITTER_NAME="$GIT_AUTHOR_NAME" GIT_COMMITTER_EMAIL="$GIT_AUTHOR_EMAIL"
at=1930000000
commit() { # file, content, subject
  at=$((at + 3700))
  mkdir -p "$(dirname "$1")"
  printf '%s\n' "$2" "sheet $((at / 100 % 977))" >> "$1"
  git add -A
  GIT_AUTHOR_DATE="$at +0000" GIT_COMMITTER_DATE="$at +0000" git commit -q -m "$3"
}
bundle() { # number, revisions...
  local name="../incoming/drop-$1.bundle"
  shift
  git bundle create -q "$name" "$@"
}
mkdir ../incoming
commit README.md "The atlas" "Begin the atlas"
commit sheets/harbour.txt "quay" "Draw the harbour"
git branch m2
commit sheets/hills.txt "ridge" "Draw the hills"
GIT_COMMITTER_DATE="$at +0000" git tag -a v1.0 -m "First edition"
git branch m3

commit sheets/coast.txt "cliffs" "Sketch the coast"
commit sheets/coast.txt "bays" "Name the bays"
git branch coast
commit sheets/shore.txt "dunes" "Survey the shore"
git branch survey
commit sheets/shore.txt "northern tide line" "Trace the northern shore"
git branch shore
commit sheets/islands.txt "skerries" "Draft the islands"
git branch draft
git checkout -q -b release shore
commit sheets/legend.txt "symbols" "Draw the legend"
commit sheets/cover.txt "second edition" "Set the cover"
GIT_COMMITTER_DATE="$at +0000" git tag -a v2.0 -m "Second edition"

git checkout -q -b shore-again coast
commit sheets/shore.txt "dunes" "Survey the shore"
commit sheets/shore.txt "northern tide line" "Trace the northern shore"
git bundle create -q ../incoming/release.bundle release v2.0 ^shore
bundle 14 coast ^m3
bundle 07 draft ^coast
bundle 03 shore ^m3
size=$(stat -c %s ../incoming/drop-03.bundle)
truncate -s $((size - 190)) ../incoming/drop-03.bundle
bundle 11 shore-again ^coast
bundle 05 survey ^m3
size=$(stat -c %s ../incoming/drop-05.bundle)
truncate -s $((size / 2 + 90)) ../incoming/drop-05.bundle
number=20
for place in mills lakes roads ferry quarry abbey woods tolls wells inns; do
  number=$((number + 1))
  git checkout -q -b "$place" "$([ $((number % 2)) = 0 ] && echo m2 || echo m3)"
  commit "sheets/$place.txt" "$place of the north" "Draw the $place"
  commit "sheets/$place.txt" "$place of the south" "Trace the northern $place"
  bundle $number "$place" "^m$((2 + number % 2))"
done
git checkout -q -b tides release~1
commit sheets/tides.txt "springs and neaps" "Tabulate the tides"
bundle 31 tides ^release~1
git checkout -q -b fog draft
commit sheets/fog.txt "banks" "Mark the fog banks"
bundle 32 fog ^draft
cd ..
git init -q -b main atlas
cd atlas
git config user.name "Atlas Desk"
git config user.email desk@atlas.example
git config gc.auto 0
git config core.logAllRefUpdates false
git fetch -q ../build refs/heads/m3:refs/heads/incoming refs/tags/v1.0:refs/tags/v1.0
git reset -q --hard incoming
git branch -q -D incoming
rm -rf .git/FETCH_HEAD .git/ORIG_HEAD ../build
