"""Where a hunt has not looked: the configuration of the family that main effects predict to be the worst is run, too.

It runs in a folder of its own below the run's, on the same tasks and seeds, so that it is compared with the harness at
which the hunt ended task by task. It was chosen by the results of the run, so it belongs to none of the run's figures.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness_eval import hunt, store
from harness_eval.design import Plan, build
from harness_eval.dialogue import requests_of, wire_hash
from harness_eval.errors import ConfigError
from harness_eval.family import Family, load_family
from harness_eval.harness import Harness, make_harness
from harness_eval.planning import REFERENCE, Study
from harness_eval.report.wording import count
from harness_eval.types import Json

_TRIED = 20_000  # combinations that are looked at before it is given up: those before are impossible or were run
_HALF_WIDTH = 1.96  # standard errors in half an interval of 95 %
_LEAST = 3  # scores beside the canonical one: two variances are estimated from their differences to it
_LONGEST_NAME = 70  # of a run, so that "-predicted" still fits into the name of a study

Section = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Predicted:
    """A configuration that was not run, the score that main effects predict, and how it differs from canonical."""

    harness: Harness
    expected: float
    differs: Mapping[str, str]


def most_trials(study: Study) -> int:
    """How many trials the predicted configuration adds to a study at most; 0 where none can be predicted."""
    if study.hunt is None or study.config.family is None or len(study.harnesses) <= _LEAST:
        return 0
    return len(study.tasks) * study.config.repeats * len(study.endpoints)


def prepare(study: Study, run: Path, section: Section) -> Study | str:
    """The study that runs the predicted worst configuration at one endpoint, or why there is nothing to predict.

    `section` is what the run's report says of the endpoint. What was begun is gone on with, whatever is predicted now.

    Raises:
        ConfigError: the folder of what was begun is damaged.
    """
    endpoint, left = section["endpoint"]["name"], (section["hunt"] or {}).get("left")
    if not left:
        return "the hunt has left no harness"
    if study.config.family is None:
        return "the harnesses do not come from a family, so there is no other configuration to predict"
    folder = hunt.place(run, study.endpoints, endpoint)
    if (folder / store.STUDY).is_file():
        begun = store.read_study(folder)
        if not isinstance(begun.get("predicted"), Mapping):
            raise ConfigError(f"{folder}: holds a run that predicts nothing; move it away")
        harness, about = make_harness(begun["harnesses"][0]["spec"], str(folder / store.STUDY)), begun["predicted"]
    else:
        found = predict(load_family(study.config.family), section, {each.id for each in study.harnesses})
        if isinstance(found, str):
            return found
        harness = found.harness
        about = {
            "harness": harness.name,
            "against": _lowest(section, left),
            "expected": round(found.expected, 4),
            "differs": dict(found.differs),
        }
    return _study(study, endpoint, harness, about)


def _lowest(section: Section, names: Sequence[str]) -> str:
    """Of these harnesses that with the lowest score; of such without one the first."""
    score = {each["harness"]: each["estimate"] for each in section["harnesses"]}
    return min(names, key=lambda name: 2.0 if score.get(name) is None else score[name])


def _study(study: Study, endpoint: str, harness: Harness, about: Mapping[str, Json]) -> Study:
    """The run's study with this harness alone, at one endpoint, with the same seed."""
    config = study.config
    kept = {
        "name": f"{config.name[:_LONGEST_NAME]}-predicted",
        "endpoints": [each for each in config.endpoints if each.name == endpoint],
        "reference": config.reference if endpoint == REFERENCE else None,
        "trace": False,
    }
    return replace(
        study,
        config=config.model_copy(update=kept),
        endpoints=(endpoint,),
        served=study.served if endpoint == REFERENCE else None,
        plan=Plan((harness,)),
        canonical_repeats=config.repeats,
        notes=(f"predicted by {config.name} to be the worst configuration that it has not run",),
        wires={harness.name: wire_hash(requests_of(harness))},
        hunt=None,
        predicted=about,
    )


def predict(family: Family, section: Section, run: set[str]) -> Predicted | str:
    """The possible configuration of a family with the lowest predicted score, of those whose ids were not run.

    Predicted is the score of the canonical harness plus the effects of the levels, shrunk for prediction; a level that
    no harness of the run has is not considered. Else why nothing is predicted.
    """
    base = section["canonical"]["estimate"]
    if base is None:
        return "the canonical harness has no score to predict from"
    scored = len(_scored(section))
    if scored < _LEAST:
        return f"only {count(scored, 'harness')} beside the canonical one has a score, and levels need {_LEAST} to tell"
    effects = effects_of(section, base)
    if not any(axis in family.axes for axis, _ in effects):
        return "no axis of the family varies among the harnesses that have a score"
    axes = list(family.axes)
    ranked = {axis: _ranked(family, axis, effects) for axis in axes}

    def total(at: tuple[int, ...]) -> float:
        return sum(ranked[axis][place][0] for axis, place in zip(axes, at, strict=True))

    first = (0,) * len(axes)
    heap, met = [(total(first), first)], {first}
    for _ in range(_TRIED):
        if not heap:
            return "every possible configuration of the levels that were run was run itself"
        cost, at = heapq.heappop(heap)
        row = {axis: ranked[axis][place][1] for axis, place in zip(axes, at, strict=True)}
        built = build(family, row, "predicted")
        if isinstance(built, Harness) and built.id not in run:
            differs = {axis: family.axes[axis][index].label for axis, index in row.items() if index}
            return Predicted(built, min(1.0, max(0.0, base + cost)), differs)
        for place, axis in enumerate(axes):
            after = (*at[:place], at[place] + 1, *at[place + 1 :])
            if after[place] < len(ranked[axis]) and after not in met:
                met.add(after)
                heapq.heappush(heap, (total(after), after))
    return f"the {_TRIED:,} configurations with the lowest predicted scores are impossible or were run"


def _ranked(family: Family, axis: str, effects: Mapping[tuple[str, str], float]) -> list[tuple[float, int]]:
    """The levels of an axis with a known effect, the lowest first; of equal ones the canonical one."""
    known = [(effects.get((axis, level.label)), index) for index, level in enumerate(family.axes[axis]) if index]
    return sorted([(0.0, 0), *((effect, index) for effect, index in known if effect is not None)])


def effects_of(section: Section, base: float) -> dict[tuple[str, str], float]:
    """What each level that some harness has adds to the score of the canonical harness, by axis and level."""
    import numpy as np  # lazy: slow import

    from harness_eval.stats.hunting import predicted_effects  # lazy: slow import

    scored = _scored(section)
    levels = list(dict.fromkeys(pair for each in scored for pair in each["differs"].items()))
    if not levels:
        return {}
    has = np.array([[each["differs"].get(axis) == level for axis, level in levels] for each in scored])
    drop = np.array([each["estimate"] - base for each in scored])
    found = predicted_effects(has, drop, np.array([_variance(each) for each in scored]))
    return {level: float(effect) for level, effect in zip(levels, found, strict=True)}


def _scored(section: Section) -> list[Section]:
    return [each for each in section["harnesses"] if each["estimate"] is not None and not each["canonical"]]


def _variance(harness: Section) -> float:
    """Of its score; without an interval, at most that of one task's outcome over its tasks."""
    if harness["low"] is None or harness["high"] is None:
        return 0.25 / max(1, int(harness["tasks"]))
    error = float(harness["high"] - harness["low"]) / 2 / _HALF_WIDTH
    return error * error
