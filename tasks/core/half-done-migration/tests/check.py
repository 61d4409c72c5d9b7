"""Migrates hidden databases in every state that the attempt can have left, and looks at them and at club.db."""

import contextlib
import os
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from solver import answers, copied
from workspace import LARGEST, content, digest_of

GIVEN = {
    "MIGRATION_3.md": "2532f5f33473cef32dcf83be13ea5b6fbcb4e4a70158f85287aeea4c8c6f9c62",
    "attic/attempt.py": "a58ad1a6baff579c6427fd671b4e4de15f32facf3d7a6ffa1a777dcf5e493c9c",
    "migrate.py": "fe1f2193307948c984e9b6a7db4a0b14b909eb7b945469fc49c480e355e310ee",
    "migrations/__init__.py": "003d5e92d4c2174e0c0582734a4411e972b015797130ffbf55e7a5eccfd7254b",
    "schema_v2.sql": "e5c492997a2b9242f39e547653a0f0319e057c67b16f01ce614819a208832051",
    "schema_v3.sql": "663af9423f3064c4b7e8e08bfa2ac85829253d088c091de1327efdd96e32baa2",
}
CHANGED = ("migrations/m003.py", "club.db")
ATTEMPT = [
    "CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT)",
    "INSERT INTO town (name) SELECT DISTINCT town FROM member",
    "ALTER TABLE member ADD COLUMN town_id INTEGER",
    "UPDATE member SET town_id = (SELECT id FROM town WHERE town.name = member.town)",
    "ALTER TABLE payment ADD COLUMN currency TEXT NOT NULL DEFAULT 'EUR'",
    "CREATE TABLE member_new (id INTEGER PRIMARY KEY, given TEXT, family TEXT, email TEXT UNIQUE, joined, town_id)",
    "INSERT INTO member_new SELECT id, name, '', lower(email), joined, town_id FROM member LIMIT 5",
    "CREATE UNIQUE INDEX town_once ON town(name)",
]
PROBE = """
import contextlib, io, json, shutil, sqlite3, sys
import migrate
from migrations import Refused, m003


def command(name):
    said, complained = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
        status = safely(migrate.main, name)
    return [status, said.getvalue(), complained.getvalue()]


def safely(act, name):
    try:
        return act(name)
    except Exception as error:
        return repr(error)


def called(name):
    shutil.copyfile(name, "copy.db")
    connection = sqlite3.connect("copy.db", isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    try:
        m003.migrate(connection)
        told = ""
    except Refused as reason:
        told = str(reason)
    return [told, connection.in_transaction, connection.execute("PRAGMA foreign_keys").fetchone()[0]]


results = []
for name, times in json.load(sys.stdin):
    flags = safely(called, name) if times else None
    results.append([flags, [command(name) for _ in range(times or 1)]])
print(json.dumps(results))
"""
Member = tuple[int, str, str | None, str, str | None]  # id, name, email, day of joining, town
Payment = tuple[int, int, int, str, str]  # id, id of the member, cents, day, currency

MEMBERS: list[Member] = [
    (4, "Nils  Holger Ö ", " Nils@Sea.example ", "2028-01-01", "öregrund"),
    (7, "Olga", None, "2028-02-01", "  "),
    (9, " Per af Trolle", "", "2028-03-01", " ÖREGRUND"),
    (12, "Quinn Rask", "Q.Rask@sea.EXAMPLE", "2028-04-01", "Visby"),
    (13, "Rut Sand", None, "2028-05-01", None),
    (20, "Sten Tor", "sten@sea.example", "2028-06-01", "visby "),
    (21, "Tyra Uhr", "   ", "2028-07-01", "Öregrund"),
    (300, "Ulf Vik", "ulf@sea.example", "2028-08-01", "Arholma"),
]
PAYMENTS: list[Payment] = [
    (2, 4, 5000, "2029-01-02", "EUR"),
    (3, 9, -250, "2029-01-03", "EUR"),
    (5, 9, 5000, "2029-01-04", "EUR"),
    (8, 20, 0, "2029-01-05", "EUR"),
    (90, 300, 12345678901, "2029-01-06", "EUR"),
]
FOREIGN: list[Payment] = [(91, 12, 6100, "2029-02-01", "SEK"), (92, 9, 6200, "2029-02-02", "NOK")]
MOVED = "UPDATE member SET town = 'Sandhamn' WHERE id IN (12, 13)"

CLUB_NAMES = ["Ada Berg", "Bo  Ek", "Cilla Maria Dahl", "Dag", "Eva Falk"]
CLUB_NAMES += ["Finn Gran", "Gerd Holm", "Hugo von Essen", "Ida Jung"]
CLUB_TOWNS = ["Åbo", " Lund", "ÅBO", None, "lund ", "Kivik", "", "åbo", "Malmö"]
CLUB: list[Member] = [
    (at * 3, name, None if at in (4, 7) else f"{name.split()[0]}@club.example", f"2029-0{at}-11", town)
    for at, (name, town) in enumerate(zip(CLUB_NAMES, CLUB_TOWNS, strict=True), 1)
] + [
    (32, "Jon Kvist", None, "2031-01-10", "MALMÖ"),
    (35, "Kaj Lund", None, "2031-01-11", "Lund"),
    (38, "Lo Moberg", None, "2031-01-12", "Kivik"),
]
CLUB_PAID = [
    (at * 3, 4200 if part else -700, f"2030-0{at}-0{part + 1}") for at in range(1, 10) for part in range(at % 3)
]
CLUB_PAYMENTS: list[Payment] = [(number, *row, "EUR") for number, row in enumerate(CLUB_PAID, 1)] + [
    (len(CLUB_PAID) + 1, 32, 3100, "2031-02-03", "SEK"),
    (len(CLUB_PAID) + 2, 35, 3100, "2031-02-03", "EUR"),
    (len(CLUB_PAID) + 3, 38, 3100, "2031-02-03", "SEK"),
]


def script(name: str, without_trigger: bool = False) -> str:
    """One of the schemas, if need be without its trigger."""
    text = content(name).decode("utf-8")
    return re.sub(r"CREATE TRIGGER.*?END;\n", "", text, flags=re.DOTALL) if without_trigger else text


def half_done(path: Path, members: list[Member], statements: int) -> None:
    """A database of version 2 in which so many statements of the attempt have acted, and then somebody worked."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA synchronous = OFF")
        database.executescript(script("schema_v2.sql", without_trigger=True))
        database.executemany("INSERT INTO member VALUES (?, ?, ?, ?, ?)", members)
        database.executemany("INSERT INTO payment VALUES (?, ?, ?, ?)", [row[:4] for row in PAYMENTS])
        database.executescript(re.findall(r"(?s)CREATE TRIGGER.*?END;\n", script("schema_v2.sql"))[0])
        for statement in ATTEMPT[:statements]:
            database.execute(statement)
        if statements > 4:
            database.executemany("INSERT INTO payment VALUES (?, ?, ?, ?, ?)", FOREIGN)
        if statements:
            database.execute(MOVED)
        database.execute("PRAGMA user_version = 2")
    path.chmod(0o666)


def fill(database: sqlite3.Connection, members: list[Member], payments: list[Payment]) -> None:
    """Make an empty database one of version 3, as it has to come out."""
    towns: dict[str, tuple[int, str]] = {}
    database.execute("PRAGMA synchronous = OFF")
    database.executescript(script("schema_v3.sql", without_trigger=True))
    for number, name, email, joined, town in members:
        *given, family = name.split()
        place = (town or "").strip()
        if place and place.casefold() not in towns:
            towns[place.casefold()] = (len(towns) + 1, place)
            database.execute("INSERT INTO town VALUES (?, ?)", towns[place.casefold()])
        town_id = towns[place.casefold()][0] if place else None
        row = (number, " ".join(given), family, (email or "").strip().lower() or None, joined, town_id)
        database.execute("INSERT INTO member VALUES (?, ?, ?, ?, ?, ?)", row)
    database.executemany("INSERT INTO payment VALUES (?, ?, ?, ?, ?)", payments)
    database.executescript(re.findall(r"(?s)CREATE TRIGGER.*?END;\n", script("schema_v3.sql"))[0])
    database.execute("PRAGMA user_version = 3")


QUERIES = {
    "version": "PRAGMA user_version",
    "names": "SELECT type, name, tbl_name FROM sqlite_master WHERE name NOT LIKE 'sqlite%' ORDER BY name",
    "members": "SELECT m.id, given, family, email, joined, t.name FROM member m LEFT JOIN town t ON t.id = town_id"
    " ORDER BY m.id",
    "towns": "SELECT name FROM town ORDER BY name",
    "payments": "SELECT id, member_id, cents, paid_on, currency FROM payment ORDER BY id",
    "paid": "SELECT * FROM paid ORDER BY 1, 3",
    "dangling": "PRAGMA foreign_key_check",
    "integrity": "PRAGMA integrity_check",
}


def indexes(database: sqlite3.Connection, table: str) -> list[tuple[int, list[str]]]:
    """Of each index of a table whether it is unique, and its columns."""
    rows = database.execute(f"PRAGMA index_list({table})").fetchall()
    columns = [database.execute("SELECT name FROM pragma_index_info(?)", (row[1],)).fetchall() for row in rows]
    return sorted((row[2], [name for (name,) in names]) for row, names in zip(rows, columns, strict=True))


def state(database: sqlite3.Connection) -> Any:
    """All that counts of a database of version 3."""
    found: dict[str, Any] = {name: database.execute(query).fetchall() for name, query in QUERIES.items()}
    for table in ("town", "member", "payment"):
        found[table] = [row[1:6] for row in database.execute(f"PRAGMA table_info({table})")]
        found[f"{table} refers"] = [row[2:8] for row in database.execute(f"PRAGMA foreign_key_list({table})")]
        found[f"{table} indexes"] = indexes(database, table)
    code = database.execute("SELECT sql FROM sqlite_master WHERE type IN ('view', 'trigger') ORDER BY name")
    found["code"] = [" ".join(row[0].split()) for row in code]
    return found


def dump(database: sqlite3.Connection) -> Any:
    """A whole database as text."""
    return [*database.iterdump(), database.execute("PRAGMA user_version").fetchone()]


def wanted(members: list[Member], payments: list[Payment]) -> Any:
    """The state that has to come out; no file holds it, which the solver's code could find."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        fill(database, members, payments)
        return state(database)


def looked_at(path: Path, look: Callable[[sqlite3.Connection], Any]) -> Any:
    """What a look at a database gives that the solver's code has written, or what is wrong with it."""
    if not path.is_file() or path.is_symlink() or path.stat().st_size > LARGEST:
        return "no file of moderate size"
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as database:
            budget = iter(range(2000))
            database.set_progress_handler(lambda: next(budget, None) is None, 1000)
            return look(database)
    except (sqlite3.Error, ValueError, OverflowError) as error:
        return f"cannot be read: {error}"


def moved(members: list[Member]) -> list[Member]:
    """The members after somebody worked on the half-done database."""
    return [(*row[:4], "Sandhamn") if row[0] in (12, 13) else row for row in members]


def broken() -> list[str]:
    """What was to stay and did not, or came into being."""
    wrong = [name for name, digest in GIVEN.items() if digest_of(name) != digest]
    for folder, names, files in os.walk("."):
        names[:] = [name for name in names if name != "__pycache__"]
        wrong += [path for path in (Path(folder, name).as_posix() for name in files) if path not in (*GIVEN, *CHANGED)]
    return sorted(wrong)


def club() -> bool:
    """Whether the database of the home branch is what it has to be."""
    return bool(looked_at(Path(copied(["club.db"]), "club.db"), state) == wanted(CLUB, CLUB_PAYMENTS))


def refusals() -> dict[str, tuple[list[Member], str]]:
    """By name: members that must be refused, and why."""
    twice, last = (MEMBERS[5][0], "Sten Tor", " NILS@sea.example", "2028-06-01", "Visby"), MEMBERS[-1]
    return {
        "twice": ([*MEMBERS[:5], twice, *MEMBERS[6:]], "members 4 and 20 have the same email"),
        "nameless": ([*MEMBERS[:7], (last[0], " \t ", *last[2:])], "member 300 has no name"),
    }


class Trial:
    """All hidden databases in one folder, and what has to come out of them."""

    def __init__(self) -> None:
        self.folder = Path(copied([*GIVEN, "migrations/m003.py"]))
        self.wanted: dict[str, Any] = {}
        self.asked: list[tuple[str, int]] = []  # name of a database, and how often it is migrated (0: it is done)
        self.before: dict[str, Any] = {}
        self.reasons: dict[str, str] = {}
        self._migrated()
        self._refused()
        self.known = {path.name for path in self.folder.iterdir()} | {"copy.db"}

    def _migrated(self) -> None:
        for statements in range(len(ATTEMPT) + 1):
            name, members = f"half-{statements}.db", moved(MEMBERS) if statements else MEMBERS
            half_done(self.folder / name, MEMBERS, statements)
            self.wanted[name] = wanted(members, PAYMENTS + FOREIGN * (statements > 4))
            self.asked.append((name, 2))
        half_done(self.folder / "empty.db", [], 0)
        with contextlib.closing(sqlite3.connect(self.folder / "empty.db", isolation_level=None)) as database:
            database.execute("PRAGMA synchronous = OFF")
            database.execute("DELETE FROM payment")
        with contextlib.closing(sqlite3.connect(self.folder / "done.db", isolation_level=None)) as database:
            fill(database, MEMBERS[1:], FOREIGN)  # what none of the others has to become
        (self.folder / "done.db").chmod(0o666)
        self.wanted |= {"empty.db": wanted([], []), "done.db": wanted(MEMBERS[1:], FOREIGN)}
        self.asked += [("empty.db", 1), ("done.db", 0)]

    def _refused(self) -> None:
        for case, (members, reason) in refusals().items():
            for statements in (0, 6):
                name = f"{case}-{statements}.db"
                half_done(self.folder / name, members, statements)
                self.before[name], self.reasons[name] = looked_at(self.folder / name, dump), reason
                self.asked.append((name, 1))

    def _right(self, name: str, times: int, found: Any) -> bool:
        """Whether a database has become what it must, and its migration said what it must."""
        if name in self.reasons:
            reason = self.reasons[name]
            said = [[reason, False, 1], [[1, "", f"cannot migrate to 3: {reason}\n"]]]
            return bool(found == said and looked_at(self.folder / name, dump) == self.before[name])
        said = [["", False, 1] if times else None, [[0, "version 3\n", ""]] * (times or 1)]
        return bool(found == said and looked_at(self.folder / name, state) == self.wanted[name])

    def wrong(self) -> list[str]:
        """The databases that went wrong, and what was left beside them."""
        found = answers(PROBE, self.asked, str(self.folder))
        found = found if isinstance(found, list) and len(found) == len(self.asked) else [None] * len(self.asked)
        asked = zip(self.asked, found, strict=True)
        wrong = [name for (name, times), result in asked if not self._right(name, times, result)]
        return wrong + sorted({path.name for path in self.folder.iterdir()} - self.known)


def score() -> float:
    """A quarter for club.db, half for what can be migrated, a quarter for what is refused besides."""
    told = broken()
    if any(name.startswith("schema") for name in told):
        print("the schemas have changed")
        return 0.0
    home, trial = club(), Trial()
    wrong = trial.wrong()
    print(f"club.db right: {home}; wrong: {wrong!a}; broken: {told[:20]!a}")
    migrated = set(wrong) <= set(trial.reasons)
    return (0.25 * home + 0.5 * migrated + 0.25 * (not wrong)) * (0.5 if told else 1.0)


REWARD = Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt")
REWARD.write_text("0\n", encoding="utf-8")
REWARD.write_text(f"{score():.4f}\n", encoding="utf-8")
