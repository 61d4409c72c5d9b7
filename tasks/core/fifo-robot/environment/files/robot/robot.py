"""The robot. See ROBOT.md."""

import base64
import copy
import hashlib
import json
import os
import sys
import zlib
from pathlib import Path

HERE, LINE = Path(__file__).parent, Path("line")
IN, OUT, COUNT = LINE / "in", LINE / "out", LINE / "sessions"


class Over(Exception):
    """The session was ended."""


class Session:
    """What happens while the line is open."""

    def __init__(self, number, store):
        self.number, self.replies = number, 0
        self.bays, self.shelves, self.weights = (copy.deepcopy(store[key]) for key in ("bays", "shelves", "weights"))
        self.token = hashlib.sha256(f"robot {number}".encode()).hexdigest()[:8]
        self.greeted, self.grip, self.placed = False, None, []

    def say(self, words):
        """Replace the newest reply."""
        self.replies += 1
        new = LINE / "out.new"
        new.write_text(f"{self.number}.{self.replies}: {words}\n", encoding="utf-8")
        os.replace(new, OUT)

    def obey(self, order):
        """The reply to an order."""
        verb, *rest = order.split()
        if verb == "HELLO" and not self.greeted:
            self.greeted = True
            return f"READY token={self.token}"
        if not rest or rest[0] != self.token:
            return "DENIED"
        name = rest[1] if len(rest) == 2 else ""
        if verb == "TAKE" and name in self.bays and self.bays[name] and not self.grip:
            self.grip, self.bays[name] = self.bays[name], None
            return f"GRIP box={self.grip}"
        if verb == "LOOK" and name in self.shelves:
            room, load, limit = self.shelves[name]
            return f"SHELF room={room} load={load} limit={limit}"
        if verb == "PUT" and name in self.shelves and self.grip:
            return self.put(name)
        if verb == "END" and not any(self.bays.values()) and not self.grip:
            self.end()
        return "DENIED"

    def put(self, name):
        """Put the box down."""
        if not self.shelves[name][0]:
            return "JAM, the box is still in the grip"
        self.shelves[name][0] -= 1
        self.shelves[name][1] += self.weights[self.grip]
        self.placed.append([self.grip, name])
        self.grip = None
        return "PLACED"

    def end(self):
        """Write the receipt and stop."""
        seal = hashlib.sha256(f"{self.token} {self.placed}".encode()).hexdigest()[:16]
        receipt = {"session": self.number, "placed": self.placed, "seal": seal}
        (LINE / "receipt.json").write_text(json.dumps(receipt) + "\n", encoding="utf-8")
        raise Over


def main():
    """Session after session, until one is ended."""
    store = json.loads(zlib.decompress(base64.b85decode((HERE / "store.b85").read_bytes().strip())))
    LINE.mkdir(exist_ok=True)
    for path in (IN, OUT):
        path.unlink(missing_ok=True)
    number = int(COUNT.read_text()) if COUNT.exists() else 0
    os.mkfifo(IN)
    try:
        while True:
            with IN.open(encoding="utf-8", errors="replace") as orders:
                number += 1
                COUNT.write_text(f"{number}\n", encoding="utf-8")
                session = Session(number, store)
                for order in orders:
                    session.say(session.obey(order) if order.strip() else "DENIED")
                session.say("the line was dropped, the work is undone")
    except Over:
        return 0
    finally:
        IN.unlink(missing_ok=True)
        OUT.unlink(missing_ok=True)


sys.exit(main())
