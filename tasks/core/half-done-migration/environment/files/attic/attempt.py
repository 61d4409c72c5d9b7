"""The attempt of last year. Do not run it again."""

STATEMENTS = [
    "CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT)",
    "INSERT INTO town (name) SELECT DISTINCT town FROM member",
    "ALTER TABLE member ADD COLUMN town_id INTEGER",
    "UPDATE member SET town_id = (SELECT id FROM town WHERE town.name = member.town)",
    "ALTER TABLE payment ADD COLUMN currency TEXT NOT NULL DEFAULT 'EUR'",
    "CREATE TABLE member_new (id INTEGER PRIMARY KEY, given TEXT, family TEXT, email TEXT UNIQUE, joined TEXT, town_id INTEGER)",
    "INSERT INTO member_new SELECT id, name, '', lower(email), joined, town_id FROM member LIMIT 5",
    "CREATE UNIQUE INDEX town_once ON town(name)",
]


def attempt(connection):
    """One statement after another, each for good at once."""
    for statement in STATEMENTS:
        connection.execute(statement)
        connection.commit()
