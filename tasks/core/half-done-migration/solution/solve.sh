#!/bin/bash
set -euo pipefail
cat > migrations/m003.py <<'PYTHON'
"""Version 3: names in two parts, towns in a table of their own, currencies."""

import sqlite3
from pathlib import Path

from migrations import Refused

SCHEMA = Path(__file__).resolve().parents[1] / "schema_v3.sql"


def migrate(connection):
    """Bring a database of version 2 to version 3, or leave it as it is.

    The connection commits by itself (`isolation_level` None) and has foreign keys switched on, which must be so afterwards too.
    Raises `migrations.Refused`.
    """
    connection.execute("PRAGMA foreign_keys = OFF")  # has no effect inside of a transaction
    try:
        connection.execute("BEGIN IMMEDIATE")
        try:
            rebuild(connection)
            connection.execute("PRAGMA user_version = 3")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
    finally:
        connection.execute("PRAGMA foreign_keys = ON")


def rebuild(connection):
    """Read what counts, drop everything, make it anew."""
    members = connection.execute("SELECT id, name, email, joined, town FROM member ORDER BY id").fetchall()
    columns = [row[1] for row in connection.execute("PRAGMA table_info(payment)")]
    currency = "currency" if "currency" in columns else "'EUR'"
    payments = connection.execute(f"SELECT id, member_id, cents, paid_on, {currency} FROM payment").fetchall()
    people, towns = renewed(members)
    for kind in ("view", "trigger", "table"):
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = ? AND name NOT LIKE 'sqlite%'", (kind,)).fetchall():
            connection.execute(f'DROP {kind} "{name}"')
    script = statements(SCHEMA.read_text(encoding="utf-8"))
    for statement in script:
        if not statement.startswith("CREATE TRIGGER"):
            connection.execute(statement)
    connection.executemany("INSERT INTO town VALUES (?, ?)", towns)
    connection.executemany("INSERT INTO member VALUES (?, ?, ?, ?, ?, ?)", people)
    connection.executemany("INSERT INTO payment VALUES (?, ?, ?, ?, ?)", payments)
    for statement in script:
        if statement.startswith("CREATE TRIGGER"):
            connection.execute(statement)


def renewed(members):
    """Rows of the new table of members, and of that of towns. Raises Refused."""
    people, towns, owners = [], {}, {}
    for number, name, email, joined, town in members:
        words, email, town = name.split(), (email or "").strip().lower() or None, (town or "").strip()
        if not words:
            raise Refused(f"member {number} has no name")
        if email and owners.setdefault(email, number) != number:
            raise Refused(f"members {owners[email]} and {number} have the same email")
        if town:
            towns.setdefault(town.casefold(), (len(towns) + 1, town))
        people.append((number, " ".join(words[:-1]), words[-1], email, joined, towns[town.casefold()][0] if town else None))
    return people, list(towns.values())


def statements(script):
    """The single statements of a script; executescript would commit."""
    found, rest = [], ""
    for line in script.splitlines(True):
        rest += line
        if sqlite3.complete_statement(rest):
            found.append(rest.strip())
            rest = ""
    return found
PYTHON
python3 -B migrate.py club.db
