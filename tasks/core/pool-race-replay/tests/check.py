"""Replays hidden scenarios with the pool: what becomes of every request, and when, follows from the promises."""

import ast
import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from solver import answers, copied
from workspace import content, digest_of

GIVEN = {
    "POOL.md": "cfbc280361928d357fdcffb6952fb4f0ece35dbce4751fc0320458d407c000ba",
    "replay.py": "9e450575f454df337c1f51d87247474695a9af3d5b4145d2a8052dda33ca9b8d",
    "sim.py": "096a634558293e46e46d1672c81fb9c73c0bf9e1caff1c217a0ae8abcdfed6b3",
    "scenarios/morning.json": "c659076b970de0f68c24b9e2cdb4d118640973902ee1aa6cf0c160540578c5d4",
    "scenarios/night.json": "59428435743eb41efd4d4219c2350e287156dc797f74bc7aede8a40f08a0f71c",
}
PROBE = """
import json, sys
import replay, sim
from pool import ConnectError, Pool, Timeout
results = {}
for name, scenario in json.load(sys.stdin).items():
    steps = [0]

    class Counting(sim.Simulation):
        def _step(self, task, value):
            steps[0] += 1
            if steps[0] > 10 * len(scenario["requests"]):
                raise RuntimeError("asks again and again")
            super()._step(task, value)

    replay.Simulation = Counting
    try:
        run = replay.Replay(scenario)
        run.run()
        results[name] = [run.outcomes, run.broken]
    except Exception as error:
        results[name] = repr(error)
print(json.dumps(results))
"""
EXPECTED = json.loads(Path(__file__).with_name("expected.json").read_text(encoding="utf-8"))
"""By name of a scenario: what becomes of each request, and 0 broken promises."""


def draw(most: int, *words: object) -> int:
    """A whole number below `most`, always the same for the same words."""
    return int.from_bytes(hashlib.sha256(" ".join(map(str, words)).encode()).digest()[:4], "big") % most


def ask(
    when: float, hold: float = 1.0, patience: float = 50.0, broken: bool = False, cancel: float | None = None,
    again: bool = False,
) -> list[Any]:
    """One request as a scenario has it."""
    return [when, patience, hold, broken, cancel, again]


def scenario(size: int, *requests: list[Any], opening: float = 0.5, failing: list[list[float]] | None = None) -> Any:
    """A whole scenario."""
    return {"size": size, "opening": opening, "failing": failing or [], "requests": requests}


def crowd(seed: str, cancels: bool) -> Any:
    """Many requests at times that never meet (all are multiples of 1/1024, so that no sum is rounded)."""
    rows, clock = [], 0.0
    for at in range(60):
        clock += (128 + draw(700, seed, "gap", at)) / 1024
        hold, patience = (300 + draw(3000, seed, "hold", at)) / 1024, (100 + draw(3000, seed, "patience", at)) / 1024
        cancel = clock + draw(2500, seed, "when", at) / 1024 if cancels and not draw(3, seed, "cancel", at) else None
        rows.append(ask(clock, hold, patience, not draw(4, seed, "broken", at), cancel, not draw(5, seed, "again", at)))
    return scenario(3, *rows, opening=677 / 1024, failing=[[5.0, 6.5], [14.0, 15.0], [22.0, 22.5]])


PLAIN = {
    "a crowd meets in the opening": scenario(2, *(ask(at / 16) for at in range(1, 8))),
    "failing with a queue": scenario(1, *(ask(1 + at / 16) for at in range(5)), failing=[[0.0, 1.75]]),
    "failing gives the place back": scenario(2, *(ask(float(at)) for at in range(1, 9)), failing=[[0.0, 4.25]]),
    "asks again at once": scenario(1, ask(1.0, again=True), ask(1.25), ask(1.5, again=True), ask(1.75)),
    "asks again at once, two places": scenario(2, *(ask(1 + at / 8, 0.75, again=True) for at in range(6))),
    "gave up before its turn": scenario(1, ask(1.0, 4.0), ask(1.25, patience=1.5), ask(1.5), ask(7.0)),
    "all gave up": scenario(1, ask(1.0, 4.0), ask(1.25, patience=1.5), ask(1.5, patience=2.0), ask(9.0)),
    "broken with a queue": scenario(2, *(ask(1 + at / 16, broken=at % 2 == 0) for at in range(9))),
    "a place for one who opens while others give back": scenario(
        2, ask(1.0, 1.0, broken=True), ask(1.0625, 1.25), ask(1.125), ask(1.25), opening=2.0
    ),
    "crowd": crowd("plain", cancels=False),
    "another crowd": crowd("second", cancels=False),
}
CANCELS = {
    "cancelled in the queue": scenario(1, ask(1.0, 3.0), ask(1.25, cancel=2.0), ask(1.5)),
    "cancelled while it opens": scenario(1, ask(1.0, cancel=1.25), ask(1.125), ask(1.1875), ask(6.0)),
    "cancelled when just handed a connection": scenario(1, ask(1.0, 2.0), ask(1.25, cancel=3.5), ask(1.5), ask(9.0)),
    "cancelled when just handed a place": scenario(
        1, ask(1.0, 2.0, broken=True), ask(1.25, cancel=3.5), ask(1.5), ask(9.0)
    ),
    "cancelled when just handed, nobody else": scenario(1, ask(1.0, 2.0), ask(1.25, cancel=3.5), ask(9.0)),
    "two in a row cancelled when handed": scenario(
        1, ask(1.0, 2.0), ask(1.25, cancel=3.5), ask(1.5, cancel=3.5), ask(1.75)
    ),
    "cancelled with the connection": scenario(1, ask(1.0, 9.0, cancel=3.0), ask(1.5)),
    "crowd": crowd("third", cancels=True),
    "another crowd": crowd("fourth", cancels=True),
}


def uses(code: bytes) -> set[str]:
    """The names and attributes that the code uses, and `import X` for each module X; comments are free."""
    found: set[str] = set()
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        for node in ast.walk(ast.parse(code)):
            found |= {word for field in ("id", "attr") if (word := getattr(node, field, None))}
            if isinstance(node, ast.ImportFrom):
                found |= {f"import {node.module}", *(alias.name for alias in node.names)}
            elif isinstance(node, ast.Import):
                found |= {f"import {alias.name}" for alias in node.names}
    return found


def broken_rules() -> list[str]:
    """What was to stay and did not, and what the pool may not use."""
    wrong = [name for name, digest in GIVEN.items() if digest_of(name) != digest]
    for folder, names, files in os.walk("."):
        names[:] = [name for name in names if name != "__pycache__"]
        wrong += [path for path in (Path(folder, name).as_posix() for name in files) if path not in (*GIVEN, "pool.py")]
    if uses(content("pool.py")) & {"Sleep", "import replay", "import time"}:
        wrong.append("pool.py: sleeps, or looks at the clock or the replay")
    return sorted(wrong)


def score() -> float:
    """Half for all scenarios without cancelled requests, half for those with them as well; half where a rule broke."""
    rules = broken_rules()
    asked = {f"plain: {name}": given for name, given in PLAIN.items()}
    asked |= {f"cancel: {name}": given for name, given in CANCELS.items()}
    found = answers(PROBE, asked, copied(["pool.py", "sim.py", "replay.py"]))
    found = found if isinstance(found, dict) else {}
    wrong = [name for name in asked if found.get(name) != EXPECTED[name]]
    print(f"scenarios that go wrong: {wrong}; rules broken: {rules[:20]!a}")
    plain = not any(name.startswith("plain") for name in wrong)
    return (plain * 0.5 + (not wrong) * 0.5) * (0.5 if rules else 1.0)


REWARD = Path(os.environ.get("VERIFIER_DIR", "/logs/verifier"), "reward.txt")
REWARD.write_text("0\n", encoding="utf-8")
REWARD.write_text(f"{score():.4f}\n", encoding="utf-8")
