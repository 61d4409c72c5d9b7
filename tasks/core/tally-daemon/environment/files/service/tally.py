"""Counts what passes the gates. See README.md."""

import hashlib
import json
import os
import socket
import sys
from pathlib import Path

DATA = Path("data")
STORE, LOG, SOCKET = DATA / "counts.json", DATA / "tally.log", DATA / "tally.sock"
ROOM = 130  # lines between two flushes


def seal(counts, flushes):
    """What shows that counts were written by the service."""
    return hashlib.sha256(f"tally {flushes} {sorted(counts.items())}".encode()).hexdigest()[:16]


class Tally:
    """The counts in memory."""

    def __init__(self):
        stored = json.loads(STORE.read_text(encoding="utf-8"))
        self.counts, self.flushes = stored["counts"], stored["flushes"]
        self.lines, self.loaded = 0, []
        self.log(f"started with a total of {sum(self.counts.values())}")

    def log(self, words):
        """Note an event."""
        with LOG.open("a", encoding="utf-8") as out:
            out.write(words + "\n")

    def load(self, name):
        """Count a shift."""
        if name in self.loaded:
            return f"refused: {name} was loaded in this run"
        try:
            lines = [line.split(",") for line in Path(name).read_text(encoding="utf-8").splitlines()[1:]]
        except OSError as problem:
            return f"refused: {name}: {problem.strerror}"
        if self.lines + len(lines) > ROOM:
            self.log(f"refused {name}")
            return f"refused: write {name}: no space left on device (disk full, delete old files or ask for a larger volume)"
        for gate, count in lines:
            self.counts[gate] = self.counts.get(gate, 0) + int(count)
        self.lines += len(lines)
        self.loaded.append(name)
        self.log(f"loaded {name}")
        return f"loaded {name}: {len(lines)} lines, in memory"

    def flush(self):
        """Write the counts."""
        self.flushes += 1
        stored = {"counts": self.counts, "flushes": self.flushes, "seal": seal(self.counts, self.flushes)}
        new = STORE.with_suffix(".new")
        new.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        os.replace(new, STORE)
        self.lines = 0
        self.log("flushed")
        return f"flushed: {len(self.counts)} gates"

    def report(self):
        """What is in memory."""
        gates = "".join(f"{gate:<22}{count:>9}\n" for gate, count in sorted(self.counts.items()))
        return f"{gates}total {sum(self.counts.values())}"

    def answer(self, command):
        """The answer to a command."""
        verb, _, argument = command.strip().partition(" ")
        if verb == "load" and argument:
            return self.load(os.path.normpath(argument))
        if verb in ("flush", "report"):
            return getattr(self, verb)()
        if verb == "shifts":
            return "\n".join(self.loaded) or "none in this run"
        if verb == "stop":
            self.log("stopped")
            return "stopped"
        return "refused: the commands are load FILE, flush, report, shifts, stop"


def main():
    """Serve until told to stop."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(SOCKET))
            return "tally: it runs already"
        except OSError:
            SOCKET.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(SOCKET))
        listener.listen(8)
        tally, said = Tally(), ""
        while said != "stopped":
            line, _ = listener.accept()
            with line:
                try:
                    line.settimeout(5)
                    said = tally.answer(line.makefile("r", encoding="utf-8").readline())
                    line.sendall(said.encode() + b"\n")
                except (OSError, ValueError):
                    continue
    SOCKET.unlink(missing_ok=True)
    return None


sys.exit(main())
