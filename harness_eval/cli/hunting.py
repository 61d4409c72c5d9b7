"""What follows a hunt: the predicted worst configuration that was not run is run, too."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from harness_eval import hunt, predicting, report
from harness_eval.cli import running
from harness_eval.cli.output import say
from harness_eval.cli.trace import Asked, left_of
from harness_eval.ending import INCOMPLETE
from harness_eval.report.content import sections_of
from harness_eval.report.wording import count, one_line
from harness_eval.study import INTERRUPTED, Study
from harness_eval.types import Json


def predict_all(resolved: Study, asked: Asked, data: dict[str, Json]) -> tuple[int, dict[str, Json]]:
    """Run what is predicted to be the worst at each endpoint; the exit code, and the content of the run's report.

    Where nothing can be predicted it is said why, here and in the report.

    Raises:
        ConfigError: it would cost money and nobody agreed, or it cannot be run.
    """
    codes: list[int] = []
    for section in sections_of(data):
        codes.append(_predict(resolved, asked, section))
        if codes[-1] == INTERRUPTED:
            break
    return max(codes), report.write(asked.run)


def _predict(resolved: Study, asked: Asked, section: Mapping[str, Json]) -> int:
    study, endpoint = predicting.prepare(resolved, asked.run, section), section["endpoint"]["name"]
    if isinstance(study, str):
        say(f"no untested configuration is predicted at {one_line(endpoint)}: {study}")
        hunt.keep(asked.run, hunt.read(asked.run), {**hunt.unpredicted(asked.run), endpoint: study})
        return 0
    folder = hunt.place(asked.run, resolved.endpoints, section["endpoint"]["name"])
    running.agree(study, folder, asked.yes)
    told = f"predicted worst configuration not run yet: {one_line(study.harnesses[0].name)}"
    say(f"{told}, {count(study.planned, 'trial')}, into {folder}")
    folders = [hunt.place(asked.run, resolved.endpoints, name) for name in resolved.endpoints]
    others = [each for each in folders if each != folder]
    budgets = left_of(study.config.budgets, [*asked.charged, *others], time.monotonic() - asked.started)
    if budgets is None:
        say("incomplete: the budget is used up, so the predicted configuration was not run")
        return INCOMPLETE
    study = replace(study, config=study.config.model_copy(update={"budgets": budgets}))
    ended = running.carry_out(study, folder, asked.agenda, asked.run)
    running.say_how_it_ended(study, ended, running.again(asked.run))
    return ended.exit_code
