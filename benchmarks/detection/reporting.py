"""From the outcomes of a study to what the report says about the axes."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from benchmarks.detection.bank import Bank, Wanted, outcomes
from benchmarks.detection.studies import levels_of
from harness_eval.planning import Study
from harness_eval.report.counts import exposure
from harness_eval.report.recorded import Outcome
from harness_eval.report.why import why
from harness_eval.stats.effects import axis_effects
from harness_eval.types import Json


class Incomplete(Exception):
    """A trial of the run is not in the bank."""


def why_of(bank: Bank, study: Study) -> Mapping[str, Json]:
    """The parts `axes` and `shares` of the study's report, by the report's own functions.

    `report.build` adds to them what takes long (WORST, verdicts); that it has the same in these parts is checked on a
    sample, see `checking`.

    Raises:
        Incomplete: a trial has not been run yet.
    """
    row = {task.name: place for place, task in enumerate(study.tasks)}
    column = {harness.name: place for place, harness in enumerate(study.harnesses)}
    score_TH = np.full((len(row), len(column)), np.nan)
    told = []
    for task, harness, found in outcomes(bank, study):
        if isinstance(found, Wanted):
            raise Incomplete
        score_TH[row[task], column[harness]] = found.score
        told.append(cast(Outcome, SimpleNamespace(score=found.score, harness=harness, acted=found.acted)))
    levels = levels_of(study)
    effects = axis_effects(score_TH, levels, levels[0])
    exposed = exposure(told, {each.name: given for each, given in zip(study.harnesses, levels, strict=True)})
    return why(cast(Any, SimpleNamespace(effects=effects)), exposed, 0)
