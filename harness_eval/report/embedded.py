"""Trajectories inside the page of a report: which of them it holds, and how they are packed.

The page has room for some. First come the cells of the worst set that were not solved, each with the canonical trial of
its task and both side by side; then other unsolved cells; then solved ones.
"""

from __future__ import annotations

import base64
import gzip
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness_eval import recording, store
from harness_eval.errors import ConfigError
from harness_eval.report.content import sections_of
from harness_eval.report.trajectory import pair_html, trial_html
from harness_eval.report.wording import percent
from harness_eval.store import Row
from harness_eval.types import Json, TrialKey

BYTES = 4_000_000  # of all packed fragments of a page
FRAGMENTS = 400  # made for one page, since each takes time

Cell = tuple[str, str]  # task, harness
Section = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Fragment:
    """One trial of a cell: what it is called, and its HTML, gzipped in base64."""

    title: str
    packed: str


@dataclass(slots=True)
class Embedded:
    """What the page holds of one endpoint's trials. `recorded` counts the trajectories in the run's folder."""

    recorded: int = 0
    trials: dict[Cell, list[Fragment]] = field(default_factory=dict)
    pairs: dict[Cell, str] = field(default_factory=dict)  # the canonical trial on the left

    def add(self, row: Row, packed: str | None) -> None:
        """Keep the fragment of a trial, if there is one."""
        if packed is not None:
            self.trials.setdefault((row["task"], row["harness"]), []).append(Fragment(_title(row), packed))

    def add_pair(self, row: Row, packed: str | None) -> None:
        """Keep the fragment of a trial beside the canonical one, if there is one."""
        if packed is not None:
            self.pairs[row["task"], row["harness"]] = packed


def collect(folder: Path, data: Mapping[str, Json]) -> list[Embedded]:
    """What the page embeds, one entry a section; a damaged trajectory is left out, as one that was never written."""
    files = _files(folder / store.TRAJECTORIES)
    sections = sections_of(data)
    if not files:
        return [Embedded() for _ in sections]
    repeats = max(int(data["repeats"] or 1), int(data["canonical_repeats"] or 1))
    size, fragments = BYTES // len(sections), FRAGMENTS // len(sections)
    wanted = [_wanted(section, files, repeats, fragments) for section in sections]
    rows = _rows(folder, {key for pairs in wanted for pair in pairs for key in pair})
    return [_embed(_Packer(folder, size, fragments), pairs, rows, len(files)) for pairs in wanted]


def _files(folder: Path) -> set[str]:
    """The names of all frames below the folder, as `recording.file_name` makes them."""
    try:
        tasks = [entry for entry in os.scandir(folder) if entry.is_dir()]
        return {f"{task.name}/{frame.name}" for task in tasks for frame in os.scandir(task.path)}
    except OSError:
        return set()


def _wanted(section: Section, files: set[str], repeats: int, most: int) -> list[tuple[TrialKey, TrialKey]]:
    """The trials with a trajectory, those first that are looked at first, each with the canonical one beside it."""
    endpoint, keys = section["endpoint"]["name"], list[TrialKey]()
    canonical = next((entry["harness"] for entry in section["harnesses"] if entry["canonical"]), "")
    for task, harness in _ordered(section):
        every = (TrialKey(task, harness, endpoint, repeat) for repeat in range(repeats))
        keys += [key for key in every if recording.file_name(key) in files]
        if len(keys) >= most:
            break
    return [(key, replace(key, harness=canonical)) for key in keys]


def _ordered(section: Section) -> Iterator[Cell]:
    """All cells that were run, what a reader asks for first at the front; tasks before harnesses, to show many."""
    cells, worst = section["cells"], set(section["worst"]["set"])
    estimates = {entry["harness"]: entry["estimate"] for entry in section["harnesses"]}
    ranked = sorted(
        range(len(cells["harnesses"])),
        key=lambda place: (estimates[cells["harnesses"][place]] is None, estimates[cells["harnesses"][place]] or 0.0),
    )

    def rank(score: float | None, harness: str) -> int:
        if score is not None and score < 1.0:
            return 0 if harness in worst else 1
        return 2 if score is not None else 3

    placed = [
        (rank(cells["score"][place][at], cells["harnesses"][place]), at, order)
        for at in range(len(cells["tasks"]))
        for order, place in enumerate(ranked)
    ]
    for _, at, order in sorted(placed):
        yield cells["tasks"][at], cells["harnesses"][ranked[order]]


class _Packer:
    """Makes fragments until the room for them is used up."""

    def __init__(self, folder: Path, size: int, fragments: int) -> None:
        self.folder, self.size, self.fragments = folder, size, fragments

    @property
    def full(self) -> bool:
        return self.size <= 0 or self.fragments <= 0

    def pack(self, *rows: Row) -> str | None:
        """One trial, or two of them beside each other; None where there is no room, or a record is damaged."""
        if self.full:
            return None
        self.fragments -= 1
        try:
            html = trial_html(self.folder, rows[0]) if len(rows) == 1 else pair_html(self.folder, rows[0], rows[1])
        except (ConfigError, OSError):
            return None
        packed = base64.b64encode(gzip.compress(html.encode("utf-8", "replace"), mtime=0)).decode()
        self.size -= len(packed)
        return packed if self.size >= 0 else None


def _embed(
    packer: _Packer, wanted: Sequence[tuple[TrialKey, TrialKey]], rows: Mapping[TrialKey, Row], recorded: int
) -> Embedded:
    embedded, made = Embedded(recorded), set[TrialKey]()
    for key, canonical in wanted:
        if key not in rows:
            continue
        here, there = rows[key], rows.get(canonical)
        compared = there is not None and there is not here and there["score"] != here["score"]
        for row in (here, there) if compared and there else (here,):
            if store.key_of(row) not in made:
                made.add(store.key_of(row))
                embedded.add(row, packer.pack(row))
        if compared and there and (key.task, key.harness) not in embedded.pairs:
            embedded.add_pair(here, packer.pack(there, here))
    return embedded


def _rows(folder: Path, wanted: Collection[TrialKey]) -> dict[TrialKey, Row]:
    """The latest line of each of these trials."""
    return {key: row for row in store.rows(folder) if (key := store.key_of(row)) in wanted}


def _title(row: Row) -> str:
    """Which repeat it is, and how it ended."""
    if row["failure"] is not None:
        ended = f"lost ({row['failure']['owner']})"
    else:
        score = row["score"]
        ended = "solved" if score == 1 else "not solved" if not score else f"score {percent(score)}"
    return f"repeat {row['repeat']}: {ended}"
