#!/bin/bash
# Writes tour/: always the same bytes.
set -euo pipefail
mkdir -p tour
python3 -I - <<'PYTHON'
import datetime
import hashlib


def draw(limit, *parts):
    """A number below the limit that depends on the parts alone."""
    digest = hashlib.sha256(" ".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:6], "big") % limit


START = datetime.date(2031, 5, 4)  # a Sunday: no rate on this day or before
BASE = {"CHF": 10450, "SEK": 870, "PLN": 2350, "GBP": 11650}
PEOPLE = ["Abel Okafor", "Brita Lund", "Cosmin Radu", "Dilys Vaughan", "Ewa Zielinska"]
TEXTS = ["train", "hotel", "props", "paint", "meal", "van", "strings", "lamp oil", "porter", "tuning"]
with open("tour/rates.csv", "w", encoding="utf-8") as file:
    file.write("date,currency,rate\n")
    days = [START + datetime.timedelta(days=n) for n in range(27)]
    for day in sorted(days, key=lambda day: draw(10**6, "order", day)):
        for currency, base in BASE.items():
            if day.weekday() < 5 and draw(9, "holiday", day, currency):
                step = 10 if currency == "SEK" else 50
                ten_thousandths = base + draw(base // 20, "rate", day, currency) // step * step
                file.write(f"{day},{currency},{ten_thousandths // 10000}.{ten_thousandths % 10000:04d}\n")


def amount(cents, style):
    whole, rest = divmod(cents, 100)
    point, group = [(".", ","), (",", "."), (",", " "), (".", "")][style]
    text = f"{whole:,}".replace(",", group)
    return f"{text}{point}{rest:02d}"


rows = []
for n in range(96):
    currency = ["CHF", "SEK", "PLN", "GBP", "EUR"][draw(5, "currency", n)]
    day = START + datetime.timedelta(days=draw(27, "day", n))
    cents = (5 + draw(400, "cents", n)) * 20 if draw(3, "round", n) else 100 + draw(250000, "cents", n)
    category = ["travel", "stay", "stage", "food", "private"][draw(5, "category", n)]
    row = [f"T-{101 + n}", day, PEOPLE[draw(5, "who", n)], category, amount(cents, draw(4, "style", n)), currency]
    rows.append(row + [TEXTS[draw(10, "text", n)]])
for n, other in ((30, 12), (57, 55), (83, 90)):
    rows[n][2:6], rows[n][6] = rows[other][2:6], f"cancels {rows[other][0]}"
for n, currency in ((44, "NOK"), (71, "HUF")):
    rows[n][3], rows[n][5] = "stage", currency
rows[61][1:2], rows[61][3], rows[61][5] = [START], "food", "SEK"
rows[20][1:2], rows[20][3], rows[20][5] = [START], "private", "GBP"
with open("tour/expenses.csv", "w", encoding="utf-8") as file:
    file.write("id,date,who,category,amount,currency,note\n")
    for row in rows:
        row[4] = f'"{row[4]}"' if "," in row[4] else row[4]
        file.write(",".join(map(str, row)) + "\n")
PYTHON
