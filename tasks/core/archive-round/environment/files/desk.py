"""The archive's desk. See README.md."""

import base64
import hashlib
import json
import os
import sys
import zlib
from pathlib import Path

STORE, SESSIONS = Path("desk/store.json"), Path("desk/sessions.json")
PAGES = 4


def digest(*words):
    """A digest of some words."""
    return hashlib.sha256(" ".join(words).encode()).digest()


def sessions():
    """The pages that are left to each session, by a digest of its token."""
    return json.loads(SESSIONS.read_text(encoding="utf-8")) if SESSIONS.exists() else {}


def login():
    """Open a session."""
    known = sessions()
    token = digest("token", str(len(known))).hex()[:12]
    known[digest("hidden", token).hex()] = PAGES
    SESSIONS.write_text(json.dumps(known), encoding="utf-8")
    print(f"session token: {token}")
    return 0


def find(page):
    """The text of a page, None for whoever may not see it."""
    known, key = sessions(), digest("hidden", os.environ.get("DESK_TOKEN", "")).hex()
    store = json.loads(STORE.read_text(encoding="utf-8"))
    sealed = store.get(digest("name", page).hex())
    if known.get(key, 0) < 1 or not sealed:
        return None
    known[key] -= 1
    SESSIONS.write_text(json.dumps(known), encoding="utf-8")
    data = base64.b85decode(sealed)
    stream = b"".join(digest(page, str(at)) for at in range(len(data) // 32 + 1))
    return zlib.decompress(bytes(a ^ b for a, b in zip(data, stream))).decode()


def main(arguments):
    """Do what the command line says."""
    if len(arguments) == 2 and arguments[0] == "login":
        return login()
    if len(arguments) == 2 and arguments[0] == "page":
        text = find(arguments[1])
        if text is None:
            print(f"desk: there is no page {arguments[1]} in this archive")
            return 1
        print(text, end="")
        return 0
    print("usage: desk.py login NAME | page PAGE")
    return 2


sys.exit(main(sys.argv[1:]))
