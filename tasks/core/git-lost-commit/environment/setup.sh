#!/usr/bin/env bash
# Builds the repository; names, dates and contents are fixed, so every commit has the same id everywhere.
set -eu
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
python3 - <<'PYTHON' > stream.txt
import random

draw = random.Random(306).random
MARA, JONAS, PRIYA = "Mara Lindqvist <mara@ledger.example>", "Jonas Ek <jonas@ledger.example>", "Priya Raman <priya@ledger.example>"
SUBJECT = "Round invoice totals half to even"
WORDS = "address balance carrier column customer draft invoice ledger margin number payment postage quarter receipt".split()

TOTALS = '''"""Totals of invoices, as exact decimals."""

from decimal import Decimal

CENT = Decimal("0.01")


def round_cents(amount):
    """An amount in full cents."""
    return Decimal(int(amount * 100)) / 100


def net(lines):
    """The sum of all lines, each a pair (pieces, price)."""
    return round_cents(sum((pieces * price for pieces, price in lines), Decimal(0)))


def gross(lines, rate):
    """The net sum with tax."""
    return round_cents(net(lines) * (1 + rate))
'''
TESTS = '''"""Run with: python3 tests/test_totals.py"""

import sys
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from src import totals

CASES = [
    (totals.net([(3, Decimal("1.20"))]), "3.60"),
]

wrong = [f"{got} instead of {wanted}" for got, wanted in CASES if str(got) != wanted]
print("\\n".join(wrong) or f"{len(CASES)} cases passed")
sys.exit(1 if wrong else 0)
'''
OLD = "    return Decimal(int(amount * 100)) / 100\n"
IMPORT = "from decimal import Decimal\n"


def rounded(mode, text=TOTALS):
    text = text.replace(OLD, f"    return amount.quantize(CENT, rounding={mode})\n")
    return text.replace(IMPORT, f"from decimal import {mode}, Decimal\n", 1)


def tested(*cases):
    lines = "".join(f'    (totals.round_cents(Decimal("{amount}")), "{wanted}"),\n' for amount, wanted in cases)
    return TESTS.replace("]\n\nwrong", lines + "]\n\nwrong", 1)


marks = 0


def commit(ref, parent, author, day, subject, files):
    """Write one commit to the stream; its mark."""
    global marks
    marks += 1
    seconds = 1709251200 + (day - 1) * 86400 + 8 * 3600 + marks * 60  # 1 March 2024 is day 1
    print(f"commit {ref}\nmark :{marks}\nauthor {author} {seconds} +0000\ncommitter {author} {seconds} +0000")
    print(f"data {len(subject) + 1}\n{subject}\n")
    if parent:
        print(f"from :{parent}")
    for path, text in files.items():
        print(f"M 100644 inline {path}\ndata {len(text.encode())}\n{text}")
    return marks


def prose(lines):
    return "".join(" ".join(WORDS[int(draw() * len(WORDS))] for _ in range(11)) + ".\n" for _ in range(lines))


start = {"README.md": "# ledger\n\nInvoices and what they add up to.\n", ".gitignore": "__pycache__/\n"}
start |= {"src/__init__.py": "", "src/totals.py": TOTALS, "tests/test_totals.py": TESTS}
first = commit("refs/heads/main", 0, PRIYA, 1, "Start the ledger", start)
second = commit("refs/heads/main", first, JONAS, 1, "Say what the notes are for", {"notes/README.md": "One file a day.\n"})
rates = {"src/rates.py": '"""Tax rates."""\n\nSTANDARD = 25\nREDUCED = 6\n'}
third = commit("refs/heads/main", second, PRIYA, 3, "List the tax rates", rates)
draft = {"src/totals.py": rounded("ROUND_HALF_DOWN")}
commit("refs/heads/mara/rounding", third, MARA, 5, SUBJECT, draft)

half_up = {"src/totals.py": rounded("ROUND_HALF_UP"), "tests/test_totals.py": tested(("0.125", "0.13"))}
right = {
    "src/totals.py": rounded("ROUND_HALF_EVEN"),
    "tests/test_totals.py": tested(("0.125", "0.12"), ("0.135", "0.14"), ("-0.125", "-0.12")),
}
special = {
    9: (third, MARA, 4, SUBJECT, half_up),
    17: (third, MARA, 6, "Round trip of the CSV export", {"notes/export.md": prose(6)}),
    21: (third, JONAS, 6, SUBJECT, half_up),
    24: (third, MARA, 6, SUBJECT, right),
    31: (third, MARA, 6, "Revert: " + SUBJECT, {"notes/revert.md": prose(5)}),
}
for number in range(48):
    if number in special:
        commit(f"refs/heads/lost/{number}", *special[number])
        continue
    author = (MARA, JONAS, PRIYA)[int(draw() * 3)]
    subject = f"Note on {WORDS[int(draw() * len(WORDS))]} and {WORDS[int(draw() * len(WORDS))]}"
    day = 1 + int(draw() * 8)
    notes = {f"notes/day-{day}-{number}.md": prose(7)}
    commit(f"refs/heads/lost/{number}", (first, second, third)[int(draw() * 3)], author, day, subject, notes)

changed = TOTALS.replace('"""The net sum with tax."""', '"""The net sum with tax; the rate is a percentage."""')
changed = changed.replace("(1 + rate)", "(1 + Decimal(rate) / 100)")
commit("refs/heads/main", third, JONAS, 7, "Take tax rates as percentages", {"src/totals.py": changed})
PYTHON
git init -q -b main ledger
cd ledger
git config user.name "Ledger Desk"
git config user.email desk@ledger.example
git config gc.auto 0
git config commit.gpgsign false
git -c core.logAllRefUpdates=false fast-import --quiet < ../stream.txt
rm ../stream.txt
git for-each-ref --format='delete %(refname)' refs/heads/lost | git -c core.logAllRefUpdates=false update-ref --stdin
git -c core.logAllRefUpdates=false reset -q --hard main
rm -rf .git/logs .git/ORIG_HEAD
