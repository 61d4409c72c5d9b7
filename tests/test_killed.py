"""A run that is killed at once: what it has told is what its folder holds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from harness_eval import store
from harness_eval.types import TrialKey
from tests.doubles import make_task

_CHILD = """
import json, os, sys
from pathlib import Path
import anyio
from harness_eval import study
from harness_eval.study_file import load_study

class Telling:
    def ended(self, result):
        key = result.key
        os.write(1, json.dumps([key.task, key.harness, key.endpoint, key.repeat]).encode() + b"\\n")

    def __getattr__(self, name):
        return lambda *_: None

place = Path(sys.argv[1])
anyio.run(study.run, study.resolve(load_study(place / "study.yaml")), place / "run", Telling())
"""


def test_every_trial_that_was_told_before_a_kill_is_recorded_with_its_trajectory(tmp_path: Path) -> None:
    make_task(tmp_path / "suite")
    keys = {"reference": {}, "tasks": {"suite": "./suite"}, "design": "canonical", "repeats": 60, "probe": False}
    study = {"name": "killed", "sandbox": "local", "concurrency": 6, **keys}
    (tmp_path / "study.yaml").write_text(json.dumps(study))
    command = [sys.executable, "-c", _CHILD, str(tmp_path)]
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    told: list[TrialKey] = []
    for _ in range(2):  # a run, and the same one resumed
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=env, start_new_session=True) as process:
            assert process.stdout is not None
            first = [process.stdout.readline() for _ in range(12)]
            os.kill(process.pid, signal.SIGKILL)
            told += [TrialKey(*json.loads(line)) for line in [*first, *process.stdout]]
        assert process.returncode == -signal.SIGKILL, "it had not ended by itself"
    judged = [store.key_of(row) for row in store.rows(tmp_path / "run") if row["failure"] is None]
    assert {*told} <= {*judged}
    assert len(judged) == len({*judged}), "none was run twice"
    for key in told:
        record = store.read_trajectory(tmp_path / "run", key)
        assert record is not None
        assert record.steps
