#!/bin/bash
set -euo pipefail
python3 - <<'PYTHON'
import datetime
import json
from collections import Counter

data = open("tape/cargo.dat", "rb").read()
page, voyage, rows, void = "latin-1", {}, [], set()


def text(raw):
    return raw.decode(page).rstrip(" ")


def packed(raw):
    digits = raw.hex()
    return int(digits[:-1]) * (-1 if digits[-1] == "d" else 1)


def cents(raw):
    digits, last = raw[:-1].decode(), raw[-1:].decode()
    sign, last = ("-", "}JKLMNOPQR".index(last)) if last in "}JKLMNOPQR" else ("", "{ABCDEFGHI".index(last))
    number = int(f"{digits}{last}")
    return f"{sign if number else ''}{number // 100}.{number % 100:02d}"


def due(raw):
    digits = raw.hex()[:7]
    if not int(digits):
        return None
    return str(datetime.date(int(digits[:4]), 1, 1) + datetime.timedelta(days=int(digits[4:]) - 1))


for at in range(0, len(data), 72):
    record = data[at : at + 72]
    kind = chr(record[0])
    if kind == "P":
        page = record[1:9].decode().strip()
    elif kind == "V":
        year, month, day = record[7:10].hex(" ").split()
        century = "19" if int(year) >= 60 else "20"
        voyage = {"voyage": record[1:7].decode(), "sailed": f"{century}{year}-{month}-{day}"}
        voyage |= {"ship": text(record[10:34]), "master": text(record[34:58])}
    elif kind == "C":
        row = voyage | {"item": int(record[1:4]), "goods": text(record[4:36]), "weight_kg": packed(record[36:40])}
        rows.append(row | {"value": cents(record[40:49]), "due": due(record[49:53])})
    elif kind == "X":
        void.add((record[1:7].decode(), int(record[7:10])))
rows = [row for row in rows if (row["voyage"], row["item"]) not in void]
ships = Counter()
for row in rows:
    ships[row["ship"]] += row["weight_kg"]
with open("cargo.jsonl", "w", encoding="utf-8") as file:
    file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
with open("ships.json", "w", encoding="utf-8") as file:
    json.dump(ships, file, ensure_ascii=False)
last = data[-72:]
letters = sum(not letter.isascii() for row in rows for letter in row["goods"])
assert (int(last[1:6]), packed(last[6:11]), int(last[11:21])) == (len(rows), sum(ships.values()), letters)
PYTHON
