#!/bin/bash
# Makes nine shifts, and what the service left behind when it was killed.
set -euo pipefail
mkdir -p data shifts
python3 -I - <<'PYTHON'
import hashlib
import json
from pathlib import Path

PLACES = "north,south,dry dock,fish market,customs,pilot,coal pier,lower lock,upper lock,ferry,grain silo,timber pond".split(",")
GATES = [f"{place} {letter}" for place in PLACES for letter in "ABCDE"]


def number(*words):
    return int(hashlib.sha256(repr(words).encode()).hexdigest()[:8], 16)


shifts = {}
for at in range(1, 10):
    rows = [(gate, number(at, gate) % 400) for gate in GATES if number("open", at, gate) % 9]
    shifts[at] = rows
    Path(f"shifts/{at:02}.csv").write_text("gate,count\n" + "".join(f"{gate},{count}\n" for gate, count in rows))
counts, flushes, log, memory = {}, 0, [], {}


def start():
    global memory
    memory = dict(counts)
    log.append(f"started with a total of {sum(memory.values())}")


def load(at):
    for gate, count in shifts[at]:
        memory[gate] = memory.get(gate, 0) + count
    log.append(f"loaded shifts/{at:02}.csv")


def flush():
    global counts, flushes
    counts, flushes = dict(memory), flushes + 1
    log.append("flushed")


start(), load(1), load(2), flush(), load(3), load(5), log.append("refused shifts/06.csv"), log.append("stopped")
start(), load(4), flush(), load(6)
start(), load(5), load(3), log.append("refused shifts/08.csv")
start(), load(7), flush(), load(6), load(8)
seal = hashlib.sha256(f"tally {flushes} {sorted(counts.items())}".encode()).hexdigest()[:16]
Path("data/tally.log").write_text("".join(f"{line}\n" for line in log))
stored = {"counts": counts, "flushes": flushes, "seal": seal}
Path("data/counts.json").write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n")
PYTHON
