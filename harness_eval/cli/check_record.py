"""`harness-eval check --replay RUN`: a recorded run gates the harnesses of today, without an endpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness_eval import rerun, store
from harness_eval.cli import running
from harness_eval.cli.output import say
from harness_eval.cli.replay import boxes_for, run_again
from harness_eval.gate import record
from harness_eval.gate.document import Check
from harness_eval.gate.record import Recorded
from harness_eval.report.recorded import read_study
from harness_eval.rerun import Verdicts

_WIDTH = 4  # trials at once, as of `replay`


def check_record(given: Mapping[str, Any]) -> Check:
    """Hold a recorded run against today's harnesses.

    Raises:
        Exit: it was interrupted while trials were run again.
        ConfigError: there is no such run, or nothing in it that could be compared.
    """
    folder: Path = given["replay"]
    study = read_study(folder)
    harnesses = record.today(study, given.get("harness", ()))
    found = record.compare(folder, study, harnesses)
    found = replace(found, as_recorded=record.unfollowed(study, given.get("harness", ())))
    again = _again(found, given) if "rerun" in given else None
    return record.judged(found, again, release="release" in given)


def _again(found: Recorded, given: Mapping[str, Any]) -> Verdicts | None:
    """Run the trials that are as they were again on their recorded replies, and judge them."""
    rows = list(_unchanged(found))
    if not rows:
        say("no trial is as it was recorded, so none is run again")
        return None
    boxes = boxes_for(given.get("sandbox") or str(found.study.get("sandbox") or "auto"), "allow_local" in given)
    out = given.get("out") or running.new_folder(f"check-{found.folder.name}")
    with running.resumable(out):
        again = rerun.prepare(found.folder, rows, boxes, given.get("suite"))
        if run_again(again, out, given.get("concurrency", _WIDTH)).interrupted:
            raise KeyboardInterrupt
        return rerun.verdicts(found.folder, out)


def _unchanged(found: Recorded) -> Iterator[store.Row]:
    passing = {each.name for each in found.impacts if each.verdict == "pass"}
    for row in store.latest(found.folder):
        key = store.key_of(row)
        if key in found.same and key.harness in passing:
            yield row
