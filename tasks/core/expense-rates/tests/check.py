"""Judges the three files of the settlement, a third each; changed tables or other files beside them give nothing."""

import csv
import io
import os
import re
from pathlib import Path

from workspace import content, digest_of

GIVEN = {
    "tour/expenses.csv": "dc54a1e20e7d3766250c406b5195719811ccad6de310582bba14a30c824fa47e",
    "tour/rates.csv": "c860a716c2a35f6636c11ef76984b1d96820ca02976c82ec2fb7819df3353bc4",
}


def table(name: str) -> list[list[str]]:
    """The rows of a CSV file, blanks at the ends of cells and empty rows left out; none if it is no such file."""
    try:
        rows = list(csv.reader(io.StringIO(content(name).decode("utf-8-sig"))))
    except (ValueError, csv.Error):
        return []
    return [cells for row in rows if any(cells := [cell.strip() for cell in row])]


def euros(ten_thousandths: int) -> int:
    """Millionths of a euro as whole cents, halves to the even cent."""
    cents, rest = divmod(ten_thousandths, 10000)
    return cents + (rest > 5000 or (rest == 5000 and cents % 2 == 1))


def expected() -> tuple[list[list[str]], list[list[str]], list[str]]:
    """The rows of lines.csv and people.csv, and the ids without a rate."""
    rates = {(day, currency): int(rate.replace(".", "")) for day, currency, rate in table("tour/rates.csv")[1:]}
    expenses = table("tour/expenses.csv")[1:]
    cancelling = {row[0]: row[6][8:] for row in expenses if row[6].startswith("cancels ")}
    left_out = {*cancelling, *cancelling.values()}
    lines, missing, sums = [], [], {}
    for number, day, who, category, amount, currency, _ in expenses:
        if category == "private" or number in left_out:
            continue
        days = [known for known, other in rates if other == currency and known <= day]
        if not days and currency != "EUR":
            missing.append(number)
            continue
        rate = 10000 if currency == "EUR" else rates[max(days), currency]
        cents = euros(int(re.sub("[^0-9]", "", amount)) * rate)
        lines.append([number, f"{cents // 100}.{cents % 100:02d}"])
        count, total = sums.get(who, (0, 0))
        sums[who] = (count + 1, total + cents)
    ranked = sorted(sums, key=lambda who: (-sums[who][1], who))
    people = [[who, str(sums[who][0]), f"{sums[who][1] // 100}.{sums[who][1] % 100:02d}"] for who in ranked]
    return [["id", "eur"], *lines], [["who", "lines", "eur"], *people], sorted(missing)


def score() -> float:
    """The reward in 0..1."""
    if any(digest_of(name) != digest for name, digest in GIVEN.items()):
        print("the tables of the tour were changed")
        return 0.0
    try:
        found = {path.name for path in Path("settled").iterdir()}
    except OSError as error:
        print(f"settled/: {error}")
        return 0.0
    lines, people, missing = expected()
    points = {
        "lines.csv": table("settled/lines.csv") == lines,
        "people.csv": table("settled/people.csv") == people,
        "no-rate.txt": content("settled/no-rate.txt").split() == [each.encode() for each in missing],
    }
    print(f"right: {points}; found: {sorted(found)[:9]!a}")
    return sum(points.values()) / len(points) if found <= points.keys() else 0.0


reward = score()
Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt").write_text(f"{reward:.4f}\n", encoding="utf-8")
