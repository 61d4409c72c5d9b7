"""The page of the measurement."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping

OURS = "harness-eval"
PEERS = ("Inspect AI", "Harbor", "mini-swe-agent")
_WAYS = {"chunks": "all at once", "apart": "each by itself, about 1 ms apart"}


def page(
    turns: Mapping[str, float],
    versions: Mapping[str, str],
    skipped: Mapping[str, str],
    chunks: Mapping[tuple[str, str], float],
    extent: tuple[int, int, int],
) -> str:
    """Markdown of CPU milliseconds a turn, CPU microseconds a chunk; `extent` is bytes a request, trials, rounds."""
    size, trials, rounds = extent
    rows = [_row(name, turns, versions) for name in sorted(turns, key=turns.__getitem__)]
    lines = [
        "# What the runner costs beside the model",
        "",
        "Written by `python -m benchmarks.overhead`. CPU time of user and system, children included, measured in one",
        f"run: Python {platform.python_version()} (peers on theirs), {os.cpu_count()} cores, {rounds} rounds",
        f"of {trials} trials, of which the median counts.",
        "The endpoint answers at once and is a process of its own, which is not counted; 10 turns a trial, four trials",
        f"at once where the program can do that, {size:,} bytes a request on average. Commands cost nothing in any of",
        "them, and starting up and warming up are not counted.",
        "",
        "| program | version | CPU ms a turn | times ours |",
        "|---|---|---:|---:|",
        *rows,
        "",
        *[f"{name} was skipped: {reason}.\n" for name, reason in skipped.items()],
        "Ours is all of it: order, client (streamed), harness, labels, verdict, results and trajectories on disk.",
        "Inspect AI runs `eval` with its loop over tools and writes its log; Harbor runs trials of Terminus 2 without",
        "a verifier and without a recording of the terminal; mini-swe-agent runs its default agent and writes its",
        "trajectory. The loop over aiohttp and the typed openai call only send the history and append to it.",
        "",
        _verdict(turns),
        "",
        "## A streamed chunk",
        "",
        "| chunks come | openai's own stream, CPU µs a chunk | ours | times |",
        "|---|---:|---:|---:|",
        *[_chunk_row(way, chunks) for way in _WAYS],
        "",
    ]
    return "\n".join(lines)


def _row(name: str, turns: Mapping[str, float], versions: Mapping[str, str]) -> str:
    shown = f"**{name}**" if name == OURS else name
    return f"| {shown} | {versions[name]} | {turns[name]:.2f} | {turns[name] / turns[OURS]:.1f} |"


def _verdict(turns: Mapping[str, float]) -> str:
    known = {name: turns[name] / turns[OURS] for name in PEERS if name in turns}
    if not known:
        return "No peer was measured."
    lightest = min(known, key=known.__getitem__)
    inspect = f"{known['Inspect AI']:.1f} times lighter than Inspect AI, and " if "Inspect AI" in known else ""
    return f"A turn is {inspect}{known[lightest]:.1f} times lighter than with the lightest peer, {lightest}."


def _chunk_row(way: str, chunks: Mapping[tuple[str, str], float]) -> str:
    typed, ours = chunks[way, "typed"], chunks[way, "ours"]
    return f"| {_WAYS[way]} | {typed:.1f} | {ours:.1f} | {typed / ours:.1f} |"
