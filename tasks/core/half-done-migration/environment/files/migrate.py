"""Brings a database to the newest version: python3 migrate.py FILE"""

import importlib
import sqlite3
import sys

from migrations import MIGRATIONS, Refused


def main(path):
    """Run what is missing; the exit status."""
    connection = sqlite3.connect(f"file:{path}?mode=rw", uri=True, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    for number in sorted(MIGRATIONS):
        if number > version:
            try:
                importlib.import_module(MIGRATIONS[number]).migrate(connection)
            except Refused as reason:
                print(f"cannot migrate to {number}: {reason}", file=sys.stderr)
                return 1
    print(f"version {connection.execute('PRAGMA user_version').fetchone()[0]}")
    connection.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
