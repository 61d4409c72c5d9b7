#!/usr/bin/env bash
# Builds the repository; names, dates and contents are fixed, so every commit has the same id everywhere.
set -euo pipefail
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
git init -q -b main cellar
cd cellar
git config user.name "Cellar Desk"
git config user.email desk@cellar.example
git config gc.auto 0
git config commit.gpgsign false
hour=8
commit() { # name, subject
  hour=$((hour + 1))
  git add -A
  GIT_AUTHOR_NAME="$1" GIT_AUTHOR_EMAIL="${1,,}@cellar.example" GIT_AUTHOR_DATE="2031-02-03T$(printf %02d $hour):20:00+0100" \
  GIT_COMMITTER_NAME="$1" GIT_COMMITTER_EMAIL="${1,,}@cellar.example" GIT_COMMITTER_DATE="2031-02-03T$(printf %02d $hour):30:00+0100" \
  git commit -q -m "$2" ${3:+-m "$3"}
}
cat > rack.py <<'PYTHON'
"""Bottles on racks."""

THIS_YEAR = 2031


def mean_age(rack):
    """The mean age of the bottles on a rack, in years."""
    ages = [THIS_YEAR - bottle["year"] for bottle in rack]
    return sum(ages) / len(ages)


def oldest(rack):
    """The oldest bottle of a rack."""
    return min(rack, key=lambda bottle: bottle["year"])


def label(bottle):
    """What stands on a bottle: its name and year."""
    return f"{bottle['name']} {bottle['year']}"
PYTHON
cat > test_rack.py <<'PYTHON'
"""Run with: python3 test_rack.py"""

import json

from rack import label, mean_age, oldest

RACKS = json.load(open("racks.json"))
PORT = {"name": "Port", "year": 2011}
SHERRY = {"name": "Sherry", "year": 2021}

CASES = [
    (mean_age([PORT, SHERRY]), 15),
    (oldest([SHERRY, PORT]), PORT),
    (label(PORT), "Port 2011"),
    (oldest(RACKS["north"])["year"], 1998),
]

wrong = [f"{got!r} instead of {wanted!r}" for got, wanted in CASES if got != wanted]
print("\n".join(wrong) or f"{len(CASES)} cases passed")
raise SystemExit(bool(wrong))
PYTHON
cat > racks.json <<'JSON'
{
  "north": [
    {"name": "Madeira", "year": 1998},
    {"name": "Tawny", "year": 2009}
  ],
  "south": [
    {"name": "Muscat", "year": 2019}
  ]
}
JSON
printf '# cellar\n\nA bottle has a name and a year.\n' > README.md
printf '__pycache__/\n' > .gitignore
commit Runa "Start the cellar"
printf '\nRun the tests with `python3 test_rack.py`.\n' >> README.md
commit Odd "Say how to test"
git tag v1
printf '1. Empty racks\n2. Prices\n' > WISHES
commit Runa "List what is wanted"
git branch review HEAD~1
sed -i "s/'year'/'vintage'/; s/\"year\"/\"vintage\"/; s/name and year/name and vintage/" rack.py test_rack.py
sed -i 's/"year"/"vintage"/' racks.json
sed -i 's/a name and a year/a name and a vintage/' README.md
sed -i 's/^    ages = /    if not rack:\n        return 0\n&/; s/on a rack, in years\./on a rack, in years; 0 for an empty one./' rack.py
sed -i 's/bottle of a rack\./bottle of a rack, None for an empty one./; s/\["vintage"\])$/["vintage"], default=None)/' rack.py
sed -i 's/^    (oldest(\[SHERRY.*/    (mean_age([]), 0),\n&\n    (oldest([]), None),/' test_rack.py
commit Odd "Guard against empty racks, say vintage"
cat >> rack.py <<'PYTHON'


def worth(bottle):
    """What a bottle is worth, in crowns: the older, the more."""
    return 100 + 7 * (THIS_YEAR - bottle["vintage"])
PYTHON
sed -i 's/import label, mean_age, oldest/import label, mean_age, oldest, worth/; s/^]$/    (worth(SHERRY), 170),\n]/' test_rack.py
commit Runa "Tell what a bottle is worth" "Asked for by the insurance."
