"""Runs as pandas frames: what was planned, every trial, every step and every label that was met.

A frame is made when it is first asked for, and kept. All texts that repeat are categories, all numbers may be missing
(`<NA>`), and `run`, `task`, `harness`, `endpoint`, `repeat` together name a trial in every frame.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from harness_eval import store
from harness_eval.errors import ConfigError, nearest
from harness_eval.frames.columns import AXIS, Columns
from harness_eval.frames.steps import rows_of_trial
from harness_eval.frames.studies import read_study
from harness_eval.frames.trials import Trials
from harness_eval.types import Json

__all__ = ["FRAMES", "Run", "load"]

Frame: TypeAlias = Any  # a pandas.DataFrame; pandas is imported when the first one is made
FrameName: TypeAlias = Literal["trials", "steps", "labels", "harnesses", "tasks"]
FRAMES = get_args(FrameName)


def load(*runs: str | PathLike[str]) -> Run:
    """One or several runs as frames; nothing but their studies is read before a frame is asked for.

    Raises:
        ConfigError: none is named, one is named twice, or a folder is not that of a run.
    """
    if not runs:
        raise ConfigError("load: name the folder of a run")
    folders = tuple(Path(run) for run in runs)
    places = [os.path.realpath(folder) for folder in folders]
    for folder, place in zip(folders, places, strict=True):
        if places.count(place) > 1:
            raise ConfigError(f"load: {folder} is named twice, so that each of its trials would count twice")
    return Run(folders, tuple(read_study(folder) for folder in folders))


class Run:
    """The frames of one run, or of several one after the other; `run` tells them apart by their folders' names.

    `studies` holds what study.json says of each.
    """

    def __init__(self, folders: Sequence[Path], studies: Sequence[Mapping[str, Json]]) -> None:
        self.folders = tuple(folders)
        self.studies = tuple(studies)
        names = [folder.resolve().name for folder in folders]
        self.names = [name if names.count(name) == 1 else str(path) for name, path in zip(names, folders, strict=True)]

    def __repr__(self) -> str:
        return f"<Run {', '.join(self.names)}: {', '.join(FRAMES)}>"

    @cached_property
    def trials(self) -> Frame:
        """One row a trial: its latest attempt, so that no trial counts twice.

        `solved` and `score` (0..1) are missing where it was `lost`, which has `lost_owner`, `lost_label` and
        `lost_message`. `cause` and `cause_owner` say why it was not solved, as reports do. `recovered` is the score
        after going on from a leaked call. `tokens` are prompt and completion together; `cost` is in the currency of
        the endpoint's price; `seconds` of wall clock. `acted` names the axes whose level acted. Then `suite`,
        `difficulty`, `stresses` of the task, and the harness's levels, one column `axis.NAME` each.
        """
        trials = Trials()
        for name, folder, study in self._each():
            trials.add(name, folder, study)
        return trials.frame()

    @cached_property
    def steps(self) -> Frame:
        """One row a step of each trial that has a trajectory, counted from 1.

        Lengths are in characters: `text_length`, `thinking_length` (missing where there was none), of all its
        observations `shown_length` and `full_length`; it is `truncated` where one of them was cut. `calls` and
        `malformed` count calls, `tools` are their names, `failed` and `refused` count results. `compactions` counts
        those before the step. A trajectory that cannot be read is one row without a step, with a `warning`.
        """
        return self._recorded[0]

    @cached_property
    def labels(self) -> Frame:
        """One row for each label met in a step, and for each of a whole trial (`step` is missing there).

        `owner` is who must act and `effect` what it does to a score, by this version's vocabulary.
        """
        return self._recorded[1]

    @cached_property
    def _recorded(self) -> tuple[Frame, Frame]:
        steps, labels = Columns("steps"), Columns("labels")
        for name, folder, _ in self._each():
            for row in store.latest(folder):
                of_steps, of_labels = rows_of_trial(name, folder, row)
                steps.extend(of_steps)
                labels.extend(of_labels)
        return steps.frame(), labels.frame()

    @cached_property
    def harnesses(self) -> Frame:
        """One row a harness: `harness_id`, `version`, whether it is `canonical`, and one column `axis.NAME` each."""
        columns = Columns("harnesses")
        for name, _, study in self._each():
            for harness in study.get("harnesses") or ():
                levels = {f"{AXIS}{axis}": level for axis, level in (harness.get("labels") or {}).items()}
                known = {"harness_id": harness.get("id"), "version": harness.get("version")}
                canonical = harness["name"] == study.get("canonical")
                columns.append({"run": name, "harness": harness["name"], **known, "canonical": canonical, **levels})
        return columns.frame()

    @cached_property
    def tasks(self) -> Frame:
        """One row a task: `suite`, `difficulty`, `stresses` (joined by commas), `digest`, `group` (its cluster)."""
        columns = Columns("tasks")
        for name, _, study in self._each():
            for task in study.get("tasks") or ():
                known = {key: task.get(key) for key in ("suite", "difficulty", "digest", "group")}
                stresses = ", ".join(task.get("stresses") or ())
                columns.append({"run": name, "task": task["name"], **known, "stresses": stresses})
        return columns.frame()

    def to_dataset(self, frame: FrameName = "trials") -> Any:
        """A frame as a `datasets.Dataset`; categories become texts.

        Raises:
            ConfigError: there is no such frame.
        """
        if frame not in FRAMES:
            raise ConfigError(f"to_dataset: no frame {frame!r}; {nearest(frame, FRAMES)}")
        from datasets import Dataset  # lazy: slow import

        table = getattr(self, frame)
        texts = {name: "str" for name, kind in table.dtypes.items() if str(kind) == "category"}
        return Dataset.from_pandas(table.astype(texts), preserve_index=False)

    def _each(self) -> Iterator[tuple[str, Path, Mapping[str, Json]]]:
        return zip(self.names, self.folders, self.studies, strict=True)
