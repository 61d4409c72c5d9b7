"""How much of each prompt a server would find in its prefix cache, by the order in which the trials of a run are made.

harness-eval run --family standard --design random:15 --out RUN
python -m benchmarks.prefix_cache RUN
python -m benchmarks.prefix_cache RUN --repeats 3 --width 8 --cache 32 64 128 --json

The requests are the real ones of a run's recorded trials, derived again from the record. The cache is that of servers:
blocks of 16 tokens, each known by all that comes before it in the prompt, the least recently used thrown away first,
the end of a prompt before its beginning. A token is taken for four bytes; tools stand before messages, as templates
have them. Replies are not put into the cache, which servers may do. Repeats are the recorded trials once more, of which
only the first prompt is the same: what follows a reply differs. `width` trials are under way at once, and each turn
takes a time that is drawn.

Beside it, for each order: what a server whose quality drifts would add to the differences between equal harnesses.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import random
import statistics
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Any, TypeAlias

from harness_eval import recording, store
from harness_eval.harness import Harness
from harness_eval.ordering import Ordering
from harness_eval.replaying import exact, rebuilt, requested
from harness_eval.types import Event, Note, Request, Trajectory, TrialKey

BYTES_A_TOKEN, BLOCK = 4, 16
BLOCKS = (2, 4, 8)  # of tasks
Cell: TypeAlias = tuple[str, str]  # task and harness
Trials: TypeAlias = list[tuple[Cell, int]]
DRIFTS: dict[str, Callable[[float], float]] = {
    "falls evenly by 20 points": lambda at: -20 * at,
    "falls by 20 points half way": lambda at: -20.0 * (at >= 0.5),
    "falls by 20 points for a tenth": lambda at: -20.0 * (0.42 <= at < 0.52),
    "swings by 10 points, 5 times": lambda at: 10 * math.sin(10 * math.pi * at),
}


@dataclass(frozen=True)
class Prompts:
    """The prompts of one trial as blocks; the first `shared` blocks of each are of the first prompt."""

    turns: tuple[tuple[int, ...], ...]
    shared: int

    def blocks(self, turn: int, repeat: int) -> list[tuple[int, int]]:
        return [(block, 0 if place < self.shared else repeat) for place, block in enumerate(self.turns[turn])]


def text_of(request: Request) -> bytes:
    """What a template makes a prompt of, tools first."""
    return b"".join(map(recording.dump, (*request.tools, *request.messages))) + request.prompt.encode()


class Blocks:
    """Numbers for blocks, each known by all that comes before it."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, bytes], int] = {}

    def of(self, text: bytes) -> tuple[int, ...]:
        size, before, found = BYTES_A_TOKEN * BLOCK, 0, []
        for start in range(0, len(text) - size + 1, size):
            before = self._known.setdefault((before, text[start : start + size]), len(self._known) + 1)
            found.append(before)
        return tuple(found)


def requests_of(harness: Harness, record: Trajectory) -> Iterator[Request]:
    events: list[Event] = []
    for event in record.events:
        if not isinstance(event, Note):
            yield requested(harness, Trajectory(record.system, record.prompt, tuple(events)), event)
        events.append(exact(harness, event))


def read_run(folder: Path) -> tuple[dict[Cell, Prompts], list[str], list[str]]:
    """The prompts of a run's trials, its tasks and its harnesses."""
    study, blocks = store.read_study(folder), Blocks()
    harnesses: Mapping[str, Harness | str] = rebuilt(study)
    found = {}
    for row in store.latest(folder):
        key: TrialKey = store.key_of(row)
        harness, record = harnesses[key.harness], store.read_trajectory(folder, key)
        if isinstance(harness, Harness) and record is not None and key.repeat == 0:
            turns = tuple(blocks.of(text_of(request)) for request in requests_of(harness, record))
            if turns:
                found[key.task, key.harness] = Prompts(turns, len(turns[0]))
    return found, [task["name"] for task in study["tasks"]], list(harnesses)


def orders(tasks: Sequence[str], harnesses: Sequence[str], repeats: int, seed: int) -> dict[str, Trials]:
    def of(kind: Any, block: int = 1) -> Trials:
        ordering = Ordering(kind, seed, block)
        return [(cell, number) for number in range(repeats) for cell in ordering.pairs(number, tasks, harnesses)]

    shuffled = of("interleaved")
    random.Random(seed).shuffle(shuffled)
    alone = [((task, harness), number) for harness in harnesses for task in tasks for number in range(repeats)]
    blocks = {f"prefix, blocks of {size}": of("prefix", size) for size in BLOCKS}
    return {"random": shuffled, "interleaved": of("interleaved"), **blocks, "harness after harness": alone}


class Cache:
    def __init__(self, blocks: int) -> None:
        self._most = blocks
        self._kept: OrderedDict[tuple[int, int], None] = OrderedDict()

    def ask(self, prompt: list[tuple[int, int]]) -> int:
        """How many blocks of a prompt are there, from its beginning; afterwards all are."""
        hits = next((place for place, block in enumerate(prompt) if block not in self._kept), len(prompt))
        for block in reversed(prompt):
            self._kept[block] = None
            self._kept.move_to_end(block)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return hits


def cached_share(prompts: Mapping[Cell, Prompts], trials: Trials, width: int, tokens: int) -> float:
    cache, drawn, number = Cache(tokens // BLOCK), random.Random(1), count()
    waiting = iter([(prompts[cell], repeat) for cell, repeat in trials if cell in prompts])
    flying = [(drawn.random(), next(number), trial, 0) for trial in islice(waiting, width)]
    heapq.heapify(flying)
    found, asked = 0, 0
    while flying:
        now, _, trial, turn = heapq.heappop(flying)
        prompt = trial[0].blocks(turn, trial[1])
        found, asked = found + cache.ask(prompt), asked + len(prompt)
        following = (trial, turn + 1) if turn + 1 < len(trial[0].turns) else (next(waiting, None), 0)
        if following[0] is not None:
            heapq.heappush(flying, (now + drawn.uniform(0.5, 1.5), next(number), *following))
    return found / asked


def drifted(trials: Trials, drift: Callable[[float], float]) -> float:
    """Standard deviation between the means of equal harnesses, in points, that a drift alone brings."""
    seen: dict[str, list[float]] = {}
    for place, ((_, harness), _) in enumerate(trials):
        seen.setdefault(harness, []).append(drift(place / len(trials)))
    return statistics.pstdev(map(statistics.fmean, seen.values()))


def drifts(tasks: Sequence[str], harnesses: Sequence[str], repeats: int) -> dict[str, dict[str, float]]:
    """By drift and order, the mean over seeds."""
    many = [orders(tasks, harnesses, repeats, seed) for seed in range(10)]
    return {
        what: {name: statistics.fmean(drifted(each[name], drift) for each in many) for name in many[0]}
        for what, drift in DRIFTS.items()
    }


def measure(asked: argparse.Namespace) -> dict[str, Any]:
    prompts, tasks, harnesses = read_run(asked.run)
    lengths = [len(turn) * BLOCK for each in prompts.values() for turn in each.turns]
    made = orders(tasks, harnesses, asked.repeats, 0)
    wide = ([f"task {number}" for number in range(64)], [f"harness {number}" for number in range(32)])
    return {
        "trials": len(prompts) * asked.repeats,
        "harnesses": len(harnesses),
        "tasks": len(tasks),
        "turns": len(lengths) / len(prompts),
        "prompt_tokens": statistics.fmean(lengths),
        "width": asked.width,
        "cached": {
            str(size): {name: cached_share(prompts, each, asked.width, size * 1000) for name, each in made.items()}
            for size in asked.cache
        },
        "drift": {
            f"{len(on[0])} tasks, {len(on[1])} harnesses: {what}": row
            for on in ((tasks, harnesses), wide)
            for what, row in drifts(*on, asked.repeats).items()
        },
    }


def told(found: Mapping[str, Any]) -> str:
    names = list(next(iter(found["cached"].values())))
    sizes = (
        f"{found['trials']:,} trials of {found['harnesses']} harnesses and {found['tasks']} tasks, "
        f"{found['turns']:.1f} turns each, {found['prompt_tokens']:,.0f} tokens a prompt, "
        f"{found['width']} trials at once."
    )
    head, rule = f"| {' | '.join(names)} |", f"|{'---:|' * len(names)}"
    lines = [
        sizes,
        "",
        "Share of prompt tokens found in the cache:",
        "",
        f"| cache, thousand tokens {head}",
        f"|---:{rule}",
    ]
    lines += [
        f"| {size} | {' | '.join(f'{100 * row[name]:.1f} %' for name in names)} |"
        for size, row in found["cached"].items()
    ]
    lines += ["", "Points (standard deviation) between equal harnesses, from a server whose quality", ""]
    lines += [f"| drifts {head}", f"|---{rule}"]
    lines += [
        f"| {what} | {' | '.join(f'{row[name]:.2f}' for name in names)} |" for what, row in found["drift"].items()
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--width", type=int, default=8, help="trials at once")
    parser.add_argument("--cache", type=int, nargs="+", default=[16, 32, 64, 128, 256, 512], help="thousand tokens")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found = measure(asked)
    print(json.dumps(found, indent=2) if asked.json else told(found))


if __name__ == "__main__":
    main()
