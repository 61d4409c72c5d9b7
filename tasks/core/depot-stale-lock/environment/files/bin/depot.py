"""Keeps the depot's book. See README.md."""

import csv
import hashlib
import json
import os
import sys
from pathlib import Path

STATE = Path("state")
BOOK = STATE / "book.jsonl"
LOCK = STATE / "locks" / "book.lock"


def seal(before, entry):
    """The seal of an entry after the one with the seal `before`."""
    return hashlib.sha256(f"{before}|{json.dumps(entry, sort_keys=True)}".encode()).hexdigest()[:16]


def entries():
    """All entries of the book."""
    return [json.loads(line) for line in BOOK.read_text(encoding="utf-8").splitlines()]


def book(name):
    """Add a delivery."""
    try:
        handle = os.open(LOCK, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except OSError:
        print(f"depot: {BOOK}: permission denied: the file system does not let this user write (errno 13)")
        print("depot: try again after `chmod -R a+rwX state`, as another user, or with --anew")
        return 13
    host = (STATE / "host").read_text(encoding="utf-8").strip()
    os.write(handle, f"host={host} pid={os.getpid()}\n".encode())
    os.close(handle)
    try:
        known = entries()
        last = known[-1]["seal"] if known else ""
        with open(name, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        with BOOK.open("a", encoding="utf-8") as out:
            for row in rows:
                entry = {"delivery": Path(name).stem, "article": row["article"], "pieces": int(row["pieces"])}
                last = seal(last, entry)
                out.write(json.dumps({**entry, "seal": last}, sort_keys=True) + "\n")
    finally:
        LOCK.unlink()
    print(f"booked {len(rows)} lines of {Path(name).stem}; the last seal is {last}")
    return 0


def main(arguments):
    """Do what the command line says."""
    if arguments[:1] == ["--anew"]:
        LOCK.unlink(missing_ok=True)
        BOOK.write_text("", encoding="utf-8")
        arguments = arguments[1:]
    if arguments[:1] == ["book"] and len(arguments) == 2:
        return book(arguments[1])
    if arguments == ["show"]:
        known = entries()
        print(f"{len(known)} entries; the last seal is {known[-1]['seal'] if known else 'none'}")
        return 0
    print("usage: depot.py [--anew] book FILE | show")
    return 2


sys.exit(main(sys.argv[1:]))
