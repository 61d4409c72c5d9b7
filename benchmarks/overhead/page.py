"""The page of the measurement, and what is demanded of it."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

OURS = "harness-eval"
INSPECT = "Inspect AI"
PEERS = (INSPECT, "Harbor", "mini-swe-agent")
WAYS = {"chunks": "all at once", "apart": "each by itself, about 1 ms apart"}
_MOST, _INSPECT, _LIGHTEST, _CHUNKS = 2.0, 10.0, 5.0, 10.0  # milliseconds a turn; times ours


@dataclass(frozen=True, slots=True)
class Measured:
    """CPU milliseconds a turn, by program, and CPU microseconds a chunk, by way and kind, each in the order of rounds.

    `versions` has those of the program and of its Python; `loads` the average load of the machine over a minute before
    and after. What was `skipped` has its reason.
    """

    turns: Mapping[str, Sequence[float]]
    versions: Mapping[str, tuple[str, str]]
    skipped: Mapping[str, str]
    chunks: Mapping[tuple[str, str], Sequence[float]]
    request_bytes: int
    trials: int
    rounds: int
    loads: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Demand:
    """What is demanded, in words, and whether it holds; None where it could not be measured."""

    text: str
    holds: bool | None

    @property
    def told(self) -> str:
        """All of it as one line."""
        return f"{self.text}: {'not measured' if self.holds is None else 'holds' if self.holds else 'DOES NOT HOLD'}"


def demands(measured: Measured) -> list[Demand]:
    """What is demanded of the figures, and whether it holds."""
    own = median(measured.turns[OURS])
    peers = {name: _times(measured.turns[name], measured.turns[OURS]) for name in PEERS if name in measured.turns}
    lightest = min(peers, key=lambda name: peers[name][0], default=None)
    found = [Demand(f"a turn takes {own:.2f} ms, less than {_MOST:g} are demanded", own < _MOST)]
    for name, who, least in ((INSPECT, INSPECT, _INSPECT), (lightest, f"the lightest peer, {lightest}", _LIGHTEST)):
        if name not in peers:
            found.append(Demand(f"at least {least:g} times lighter than {INSPECT if name else 'any peer'}", None))
            continue
        found.append(_at_least(f"a turn is {_range(peers[name])} times lighter than with {who}", peers[name], least))
    for way, shown in WAYS.items():
        times = _times(measured.chunks[way, "typed"], measured.chunks[way, "ours"])
        text = f"chunks that come {shown} are {_range(times)} times cheaper than in the openai stream"
        found.append(_at_least(text, times, _CHUNKS))
    return found


def _at_least(text: str, times: tuple[float, float, float], least: float) -> Demand:
    return Demand(f"{text}, at least {least:g} are demanded", times[0] >= least)


def _times(theirs: Sequence[float], ours: Sequence[float]) -> tuple[float, float, float]:
    """Theirs by ours: of the medians, and the least and the most of any round."""
    by_round = [their / own for their, own in zip(theirs, ours, strict=False)]
    return median(theirs) / median(ours), min(by_round), max(by_round)


def _range(times: tuple[float, float, float]) -> str:
    middle, least, most = times
    return f"{middle:.1f} ({least:.1f} to {most:.1f} by round)"


def page(measured: Measured) -> str:
    """Markdown of all of it."""
    turns, chunks = measured.turns, measured.chunks
    names = sorted(turns, key=lambda name: median(turns[name]))
    rounds = f"{measured.rounds} round{'s' if measured.rounds > 1 else ''}"
    before, after = measured.loads
    lines = [
        "# What the runner costs beside the model",
        "",
        "Written by `python -m benchmarks.overhead`, which installs the peers. CPU time of user and system, children",
        "included, of programs that were measured one after the other in one run: the median of",
        f"{rounds} of {measured.trials} trials, the least and the most. Starting up and warming up are not counted.",
        f"{platform.system()} on {platform.machine()}, {os.cpu_count()} cores, average load {before:.1f} before and",
        f"{after:.1f} after; on a machine that does something else all of it costs more.",
        "",
        "The endpoint answers at once and is a process of its own, which is not counted; 10 turns a trial, four trials",
        f"at once where the program can do that, {measured.request_bytes:,} bytes a request on average. Commands cost",
        "nothing in any of them.",
        "",
        "| program | version | Python | CPU ms a turn | least to most | times ours |",
        "|---|---|---|---:|---:|---:|",
        *(_row(name, measured) for name in names),
        "",
        *(f"{name} was skipped: {reason}.\n" for name, reason in measured.skipped.items()),
        "Ours is all of it: order, client (streamed), harness, labels, verdict, results and trajectories on disk.",
        "Inspect AI runs `eval` with its loop over tools and writes its log; Harbor runs trials of Terminus 2 without",
        "a verifier and without a recording of the terminal; mini-swe-agent runs its default agent and writes its",
        "trajectory. The loop over aiohttp and the typed openai call only send the history and append to it.",
        "",
        "## A streamed chunk",
        "",
        "CPU microseconds a chunk, of replies of 2,000 chunks.",
        "",
        "| chunks come | openai's own stream | least to most | ours | least to most | times |",
        "|---|---:|---:|---:|---:|---:|",
        *(_chunk_row(way, chunks[way, "typed"], chunks[way, "ours"]) for way in WAYS),
        "",
        "A reply that takes longer than 10 ms is looked at now and then: after a further twentieth of its time, but",
        "5 ms at least and 100 ms at most, which is how late its last word can be. Nothing is put off before its first",
        "word.",
        "",
        "## What is demanded",
        "",
        *(f"- {demand.told}" for demand in demands(measured)),
        "",
    ]
    return "\n".join(lines)


def _row(name: str, measured: Measured) -> str:
    own, python = measured.versions[name]
    values, shown = measured.turns[name], f"**{name}**" if name == OURS else name
    times = median(values) / median(measured.turns[OURS])
    return f"| {shown} | {own} | {python} | {median(values):.2f} | {_spread(values, 2)} | {times:.1f} |"


def _chunk_row(way: str, typed: Sequence[float], ours: Sequence[float]) -> str:
    cells = [f"{median(values):.1f} | {_spread(values, 1)}" for values in (typed, ours)]
    return f"| {WAYS[way]} | {cells[0]} | {cells[1]} | {median(typed) / median(ours):.1f} |"


def _spread(values: Sequence[float], digits: int) -> str:
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"
