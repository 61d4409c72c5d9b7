"""A hunt for the worst harness: which trials come next, decided from those that are recorded.

The tasks are dealt into blocks by the seed. All harnesses meet the first block; after each block the better half is
dropped. The canonical harness meets every task and is never dropped. Who stands in a block is written to hunt.json
before its first trial, so that a hunt that was stopped goes on with the same blocks whatever is tried again meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from pydantic import BaseModel

from harness_eval import recording, store
from harness_eval.config import parse
from harness_eval.draws import shuffled
from harness_eval.errors import ConfigError
from harness_eval.planning import Study
from harness_eval.types import Json, TrialKey

FILE = "hunt.json"
FOLDER = "predicted"


class Layout(BaseModel):
    """What study.json says of a hunt: the tasks as they are dealt, and the number of them at which each block ends."""

    allocate: str = "hunt"
    tasks: list[str]
    ends: list[int]
    trials: int


class _Recorded(BaseModel):
    stood: dict[str, list[list[str]]] = {}
    unpredicted: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Standing:
    """The harnesses that stood in each block that was begun at one endpoint, the canonical one not among them.

    After the last block one entry more has those that were left.
    """

    ends: Sequence[int]
    stood: Sequence[Sequence[str]]

    @property
    def left(self) -> Sequence[str] | None:
        """Those that were left after the last block; None while the hunt is on."""
        return self.stood[-1] if len(self.stood) > len(self.ends) else None

    @property
    def met(self) -> dict[str, int]:
        """How many tasks, of those dealt first, each harness meets in the blocks that were begun."""
        return {name: end for end, names in zip(self.ends, self.stood, strict=False) for name in names}

    def cells(self) -> int:
        """How many cells the whole hunt runs, where as many stand in the blocks to come as the halving leaves."""
        total, start, number = 0, 0, 0
        for place, end in enumerate(self.ends):
            number = len(self.stood[place]) if place < len(self.stood) else (number + 1) // 2
            total, start = total + (end - start) * number, end
        return total


def lay_out(study: Study) -> Study:
    """The study with its tasks dealt into blocks."""
    from harness_eval.stats.hunting import block_ends  # lazy: slow import

    others = [harness.name for harness in study.harnesses[1:]]
    ends = block_ends(len(study.tasks), len(others))
    config = study.config
    at_each = len(study.tasks) * study.canonical_repeats + Standing(ends, [others]).cells() * config.repeats
    order = shuffled([task.name for task in study.tasks], config.seed, "hunt")
    layout = Layout(tasks=order, ends=list(ends), trials=at_each * len(study.endpoints))
    return replace(study, hunt=layout.model_dump(), notes=(*study.notes, _note(ends, len(others))))


def _note(ends: Sequence[int], others: int) -> str:
    if not others:
        return "allocate hunt: no harness beside the canonical one, so nothing is hunted among and all trials are run"
    if len(ends) == 1:
        return f"allocate hunt: {ends[-1]} tasks and {others} harnesses beside the canonical one are a single block"
    told = ", ".join(map(str, ends))
    return f"allocate hunt: after {told} tasks the better half of the harnesses is dropped; canonical meets all tasks"


def place(run: Path, endpoints: Sequence[str], endpoint: str) -> Path:
    """The folder of what was predicted at an endpoint; with several a numbered one for each."""
    folder = run / FOLDER
    return folder if len(endpoints) == 1 else folder / str(list(endpoints).index(endpoint) + 1)


def layout_of(recorded: Mapping[str, Json]) -> Layout | None:
    """The hunt of a recorded study; None where its trials were not allocated by their results.

    Raises:
        ConfigError: it is damaged.
    """
    about = recorded.get("adaptive")
    return parse(Layout, about, f"{store.STUDY}: adaptive") if about else None


def standing_of(
    layout: Layout, stood: Sequence[Sequence[str]] | None, others: Sequence[str], refused: Collection[str]
) -> Standing:
    """Who stood in the blocks begun, but for those refused; before the first is over (None) all of the others.

    Raises:
        ConfigError: no hunt of this study can have come to that.
    """
    blocks = stood or [others]
    strange = any(set(after) - set(before) or len(after) > len(set(after)) for before, after in pairwise(blocks))
    if strange or sorted(blocks[0]) != sorted(others) or len(blocks) > len(layout.ends) + 1:
        raise ConfigError(f"{FILE}: does not fit this study; without it the blocks are decided again from the results")
    return Standing(layout.ends, [[name for name in names if name not in refused] for names in blocks])


def read(folder: Path) -> dict[str, list[list[str]]]:
    """Who stood in each block that was begun, and after the last one, by endpoint; empty before the first is over.

    Raises:
        ConfigError: the record is damaged.
    """
    return _read(folder).stood


def unpredicted(folder: Path) -> dict[str, str]:
    """Why no configuration was predicted after the hunt, by endpoint.

    Raises:
        ConfigError: the record is damaged.
    """
    return _read(folder).unpredicted


def _read(folder: Path) -> _Recorded:
    path = folder / FILE
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return _Recorded()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    if not isinstance(found := recording.load_or_none(data), dict):
        raise ConfigError(f"{path}: is damaged; without it the blocks are decided again from the results")
    return parse(_Recorded, found, str(path))


def keep(folder: Path, stood: Mapping[str, Sequence[Sequence[str]]], why: Mapping[str, str]) -> None:
    """Record who stood in the blocks, and why nothing was predicted.

    Raises:
        ConfigError: it cannot be written.
    """
    made = _Recorded.model_validate({"stood": stood, "unpredicted": why})
    if made == _read(folder):
        return
    try:
        recording.write_whole(folder / FILE, recording.dump(made.model_dump(exclude_defaults=True)) + b"\n")
    except OSError as error:
        raise ConfigError(f"{folder / FILE}: cannot be written: {error.strerror}") from None


@dataclass(frozen=True, slots=True)
class Hunt:
    """A study's hunt in a run's folder."""

    study: Study
    folder: Path
    layout: Layout

    def standing(self, endpoint: str, refused: Collection[str] = ()) -> Standing:
        """Who stood in the blocks begun; before the first all but the canonical harness."""
        others = [harness.name for harness in self.study.harnesses[1:]]
        return standing_of(self.layout, read(self.folder).get(endpoint), others, refused)

    def trials(self) -> tuple[TrialKey, ...]:
        """All trials of the blocks begun, block by block; within each in the study's own order."""
        place = {name: at for at, name in enumerate(self.layout.tasks)}
        canonical, met, reached = self.study.harnesses[0].name, {}, {}
        for endpoint in self.study.endpoints:
            standing = self.standing(endpoint)
            met[endpoint] = standing.met
            reached[endpoint] = self.layout.ends[min(len(standing.stood), len(self.layout.ends)) - 1]
            met[endpoint][canonical] = reached[endpoint]
        begun = [key for key in self.study.keys if place[key.task] < met[key.endpoint].get(key.harness, 0)]
        block = {name: sum(end <= at for end in self.layout.ends) for name, at in place.items()}
        return tuple(sorted(begun, key=lambda key: block[key.task]))

    def planned(self, refused: Collection[tuple[str, str]]) -> int:
        """How many trials the whole hunt has, but for what cannot run (harness and endpoint)."""
        config, canonical, total = self.study.config, self.study.harnesses[0].name, 0
        for endpoint in self.study.endpoints:
            there = {harness for harness, where in refused if where == endpoint}
            total += self.standing(endpoint, there).cells() * config.repeats
            total += 0 if canonical in there else len(self.study.tasks) * self.study.canonical_repeats
        return total

    def go_on(self, refused: Collection[tuple[str, str]], held: Collection[str] = ()) -> bool:
        """Drop the better half at each endpoint whose block is over, and record it; False once no block is left.

        At those `held`, and where no harness can run, the block is not over. What is refused is not dropped from the
        record of the blocks before, so that it is owed there should it be refused no longer.

        Raises:
            ConfigError: the record is damaged or cannot be written.
        """
        stood, on = {}, False
        for endpoint in self.study.endpoints:
            there = {harness for harness, where in refused if where == endpoint}
            standing = self.standing(endpoint, there)
            stood[endpoint] = [list(names) for names in self.standing(endpoint).stood]
            stuck = endpoint in held or all(harness.name in there for harness in self.study.harnesses)
            if standing.left is None and not stuck:
                stood[endpoint].append(self._kept(endpoint, standing))
                on |= len(stood[endpoint]) <= len(self.layout.ends)
        keep(self.folder, stood, unpredicted(self.folder))
        return on

    def _kept(self, endpoint: str, standing: Standing) -> list[str]:
        from harness_eval.stats.hunting import worse_half  # lazy: slow import

        names, end = list(standing.stood[-1]), self.layout.ends[len(standing.stood) - 1]
        if len(names) < 2:
            return names
        table = self._means(endpoint, names, self.layout.tasks[:end])
        return [names[at] for at in worse_half(table, range(len(names)))]

    def _means(self, endpoint: str, names: Sequence[str], tasks: Sequence[str]) -> Json:
        """The mean score of each task (row) with each harness (column); NaN where there is no verdict."""
        import numpy as np  # lazy: slow import

        rows, columns = ({name: at for at, name in enumerate(each)} for each in (tasks, names))
        total, number = np.zeros((len(tasks), len(names))), np.zeros((len(tasks), len(names)))
        for row in store.latest(self.folder):
            known = row["endpoint"] == endpoint and row["task"] in rows and row["harness"] in columns
            if known and row["failure"] is None and row["score"] is not None:
                cell = rows[row["task"]], columns[row["harness"]]
                total[cell], number[cell] = total[cell] + row["score"], number[cell] + 1
        return np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0)


def of(study: Study, folder: Path) -> Hunt | None:
    """The hunt that a study is; None where all its trials are run."""
    return Hunt(study, folder, Layout(**study.hunt)) if study.hunt else None
