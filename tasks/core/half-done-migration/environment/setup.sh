#!/bin/bash
# Makes club.db: version 2, the attempt broke off in it, and members and payments were added since.
set -euo pipefail
python3 -B - <<'PYTHON'
import sqlite3
import sys

sys.path.insert(0, ".")
from attic.attempt import STATEMENTS

NAMES = "Ada Berg|Bo  Ek|Cilla Maria Dahl|Dag|Eva Falk|Finn Gran|Gerd Holm|Hugo von Essen|Ida Jung|Jon Kvist|Kaj Lund|Lo Moberg".split("|")
TOWNS = ["Åbo", " Lund", "ÅBO", None, "lund ", "Ystad", "", "åbo", "Malmö", "MALMÖ", "Lund", "Kivik"]
connection = sqlite3.connect("club.db", isolation_level=None)
connection.execute("PRAGMA synchronous = OFF")
connection.executescript(open("schema_v2.sql", encoding="utf-8").read().split("CREATE TRIGGER")[0])
for at, (name, town) in enumerate(zip(NAMES[:9], TOWNS), 1):
    email = None if at == 4 else "" if at == 7 else f" {name.split()[0]}@Club.example"
    connection.execute("INSERT INTO member VALUES (?, ?, ?, ?, ?)", (at * 3, name, email, f"2029-0{at}-11", town))
    for part in range(at % 3):
        connection.execute("INSERT INTO payment VALUES (NULL, ?, ?, ?)", (at * 3, 4200 if part else -700, f"2030-0{at}-0{part + 1}"))
script = open("schema_v2.sql", encoding="utf-8").read()
connection.executescript(script[script.index("CREATE TRIGGER") :])
for statement in STATEMENTS[:7]:
    connection.execute(statement)
for at, (name, town) in enumerate(zip(NAMES[9:], TOWNS[9:]), 9):
    connection.execute("INSERT INTO member (id, name, email, joined, town) VALUES (?, ?, ?, ?, ?)", (at * 3 + 5, name, None, f"2031-01-{at + 1}", town))
    connection.execute("INSERT INTO payment (member_id, cents, paid_on, currency) VALUES (?, 3100, '2031-02-03', ?)", (at * 3 + 5, "SEK" if at % 2 else "EUR"))
connection.execute("UPDATE member SET town = 'Kivik' WHERE id = 18")
connection.execute("PRAGMA user_version = 2")
connection.close()
PYTHON
