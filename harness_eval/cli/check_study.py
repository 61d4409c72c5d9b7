"""`harness-eval check STUDY`: the trials of a check are run until it is decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from harness_eval import report
from harness_eval.cli import options, running
from harness_eval.cli.output import say
from harness_eval.ending import INCOMPLETE
from harness_eval.gate import running as gate
from harness_eval.gate.asked import Asked
from harness_eval.gate.checking import check
from harness_eval.gate.document import Check
from harness_eval.gate.kept import Snapshot
from harness_eval.gate.snapshot import snapshot_of
from harness_eval.report.wording import count, one_line
from harness_eval.study import Agenda, Ended
from harness_eval.study_file import StudyConfig, load_study

_ALSO = {"harness", "repeats"}  # flags that mean something else here than for a run


def check_study(before: Snapshot, asked: Asked, given: Mapping[str, Any]) -> Check:
    """Run a study's trials until the gate decides, and check them.

    Raises:
        Exit: it was interrupted.
        ConfigError: the study cannot be used, or is not of the baseline's kind; nothing has run then.
    """
    config = _config(before, given)
    folder = given.get("out") or running.new_folder(f"check-{config.name}")
    matrix = given.get("matrix") is True and not before.adaptive  # of a hunt nothing else is compared
    if asked.gate == "fixed" and not asked.release and "repeats" not in given:
        asked = replace(asked, cap=1)  # one look at one repeat is the bill that is fixed
    under_way = gate.under_way(config, folder, before, asked, matrix)
    running.agree(under_way.study, folder, "yes" in given)
    retry_lost = given.get("retry_lost", True)
    under_way.resume(retry_lost)
    with running.resumable(folder):
        ended = _run(under_way, matrix, retry_lost, given.get("probe") is True)
        if ended.judged and not ended.outcome.interrupted:
            report.write(folder)
            say(f"report: {folder / 'report.html'} (also report.md and report.json)")
    running.say_how_it_ended(under_way.study, ended, running.again(folder))
    if ended.outcome.interrupted:
        raise typer.Exit(ended.exit_code)
    found = check(before, snapshot_of(folder, under_way.endpoint), under_way.asked)
    if not (ended.outcome.down or ended.outcome.exhausted) or not (matrix or found.verdict == "incomplete"):
        return found
    return _stopped(found, [one_line(each, 300) for each in ended.problems])


def _stopped(found: Check, problems: list[str]) -> Check:
    """The check with what stopped its trials; first of all where that is why nothing is decided."""
    what = "trials" if found.verdict == "incomplete" else "harnesses"
    notes = (*found.notes, *(f"not all {what} were run: {each}" for each in problems))
    said = "; ".join([*problems[:1], found.said]) if found.verdict == "incomplete" else found.said
    return found.model_copy(update={"exit_code": found.exit_code or INCOMPLETE, "notes": notes, "said": said})


def _config(before: Snapshot, given: Mapping[str, Any]) -> StudyConfig:
    flags = {name: value for name, value in options.given(given).items() if name not in _ALSO}
    laid = options.laid_out(flags)
    if "target" in given:
        return load_study(Path(given["target"]), laid)
    return gate.of_baseline(before, laid)


def _run(under_way: gate.UnderWay, matrix: bool, retry_lost: bool, probe_again: bool) -> Ended:
    """Run the gated harness until it is decided, then with `matrix` the others."""
    most = under_way.asked.cap * len(under_way.matched.tasks)
    kind = "release" if under_way.asked.release else under_way.asked.gate
    say(f"gate {kind} on {under_way.matched.harness}: {count(most, 'trial')} at most")
    agenda = Agenda(under_way.gated(), under_way.enough, retry_lost, probe_again)
    ended = running.carry_out(under_way.study, under_way.folder, agenda)
    outcome = ended.outcome
    if matrix and not (outcome.interrupted or outcome.down or outcome.exhausted or under_way.refused):
        everything = Agenda(under_way.with_others(), retry_lost=retry_lost)
        ended = running.carry_out(under_way.study, under_way.folder, everything)
    return ended
