"""A small run that took place, for tests of what reads one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import anyio

from harness_eval import store
from harness_eval.planning import record, resolve
from harness_eval.sandboxes import provider
from harness_eval.study_file import StudyConfig
from harness_eval.trial import Trial, run_trial
from harness_eval.types import Reply, Request
from tests.doubles import Scripted, solve


def recorded(suite: Path, script: Callable[[Request], Reply | Exception] = solve, **keys: object) -> Path:
    """The folder `run` beside a suite: all trials of a study in the local sandbox, with the script as the model."""
    given = {"name": "first", "reference": {}, "tasks": {"suite": str(suite)}, "sandbox": "local", "seed": 3, **keys}
    study = resolve(StudyConfig.model_validate(given))
    tasks, harnesses = {t.name: t for t in study.tasks}, {h.name: h for h in study.harnesses}
    folder, endpoint, boxes = suite.parent / "run", Scripted(script), provider("local")
    with store.open_run(folder, record(study)) as run:
        for key in study.keys:
            harness = harnesses[key.harness]
            trial = Trial(
                key, harness, tasks[key.task], study.config.limits, key.seed(3), wire=study.wires[harness.name]
            )
            run.append(anyio.run(run_trial, trial, endpoint, boxes))
    return folder
