"""`harness-eval trace`: what each change between the canonical harness and a run's worst one costs."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer

from harness_eval import report, store, tracing
from harness_eval.cli import options, running
from harness_eval.cli.output import JsonFlag, print_json, say
from harness_eval.ending import INCOMPLETE
from harness_eval.errors import ConfigError, nearest
from harness_eval.report import traced, traced_words
from harness_eval.report.content import sections_of
from harness_eval.report.wording import one_line
from harness_eval.study import INTERRUPTED, Agenda, Ended, Study
from harness_eval.study_file import Budgets, StudyConfig
from harness_eval.types import Json

app = typer.Typer(add_completion=False)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be traced: the run, the study at each endpoint that is meant, and a harness instead of the worst.

    `charged` are folders whose trials count against the budgets, too; `started` is when the seconds of those began.
    """

    run: Path
    bases: Mapping[str, StudyConfig]
    harness: str | None = None
    yes: bool = False
    agenda: Agenda = field(default_factory=Agenda)
    charged: tuple[Path, ...] = ()
    started: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True)
class Planned:
    """The trace of one endpoint: its study; or why there is none, and whether that may change with the run's rest."""

    endpoint: str
    folder: Path
    why: str
    harness: str | None = None
    study: Study | None = None
    open: bool = False


@dataclass(slots=True)
class Done:
    """What has become of a plan; `problem` is why it was not begun."""

    plan: Planned
    ended: Ended | None = None
    problem: str | None = None
    section: Mapping[str, Json] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """As of a run; 0 where there is nothing to trace in a run that is complete."""
        if self.ended is not None:
            return self.ended.exit_code
        return INCOMPLETE if self.problem or self.plan.open else 0

    @property
    def reported(self) -> bool:
        """Whether there is something to report of the trace alone."""
        return self.ended is not None and self.ended.judged > 0 and not self.ended.outcome.interrupted

    def as_json(self) -> dict[str, Json]:
        """What was traced and how it ended."""
        return {
            "endpoint": self.plan.endpoint,
            "harness": self.plan.harness,
            "why": self.plan.why,
            "folder": str(self.plan.folder) if self.plan.study else None,
            "ended": running.summary(self.ended) if self.ended else None,
            "problem": self.problem,
            "trace": self.section["trace"],
        }


@app.command()
def trace(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run's folder.")],
    harness: Annotated[str | None, typer.Option(help="This harness instead of the worst one.")] = None,
    endpoint: Annotated[str | None, typer.Option(help="At this endpoint only.")] = None,
    suite: Annotated[
        str | None, typer.Option(help="The folder of the run's tasks, where they are not bundled.")
    ] = None,
    allow_local: options.AllowLocal = None,
    concurrency: options.Concurrency = None,
    probe: options.Probe = None,
    max_cost: options.MaxCost = None,
    max_tokens: options.MaxTokens = None,
    yes: Annotated[bool, typer.Option("--yes", help="Agree to what the trace will cost.")] = False,
    retry_lost: Annotated[bool, typer.Option(help="When resuming, run lost trials again.")] = True,
    as_json: JsonFlag = False,
) -> None:
    """Say what each change between the canonical harness and a run's worst one costs.

    Each change is added alone to the canonical harness and reverted alone from the worst one: with k changes 2k + 2
    harnesses run on the run's tasks, into RUN/trace. The same command resumes; the run's own record is left alone.
    """
    given: dict[str, Json] = {"allow_local": allow_local, "concurrency": concurrency, "probe": probe}
    given = {key: value for key, value in given.items() if value is not None}
    given["budgets"] = {"tokens": max_tokens, "money": max_cost}
    data, study = report.build(folder), store.read_study(folder)
    names = _known("endpoint", endpoint, study.get("endpoints"))
    _known("harness", harness, study.get("harnesses"))
    bases = {name: tracing.config_of(folder, name, suite, **given) for name in names if endpoint in (None, name)}
    asked = Asked(folder, bases, harness, yes, Agenda(retry_lost=retry_lost, probe_again=probe is True))
    with running.resumable(folder):
        done, _ = trace_all(asked, data)
    if as_json:
        print_json({"run": str(folder), "traces": [each.as_json() for each in done]})
    raise typer.Exit(told(asked, done, as_json))


def _known(option: str, given: str | None, recorded: Sequence[Mapping[str, Json]] | None) -> list[str]:
    """The names that a run has of this kind, the one that is given among them.

    Raises:
        ConfigError: it is not.
    """
    names = [each["name"] for each in recorded or ()]
    if given is not None and given not in names:
        raise ConfigError(f"--{option}: no {option} {given!r} in this run; {nearest(given, names)}")
    return names


def trace_all(asked: Asked, data: dict[str, Json]) -> tuple[list[Done], dict[str, Json]]:
    """Trace the worst drop at each endpoint, and write the run's report again; `data` is its content before and after.

    Raises:
        ConfigError: a trace would cost money and nobody agreed, or cannot be run; nothing has run then.
    """
    sections = _by_endpoint(data)
    done = [Done(_plan(asked, sections[name])) for name in asked.bases]
    for each in done:
        if each.plan.study is not None:
            running.agree(each.plan.study, each.plan.folder, asked.yes)
    for each in done:
        _run(each, asked, [*asked.charged, *(other.plan.folder for other in done if other is not each)])
        if each.exit_code == INTERRUPTED:
            break
    if any(each.ended for each in done):
        data = report.write(asked.run)
    sections = _by_endpoint(data)
    for each in done:
        each.section = sections[each.plan.endpoint]
    return done, data


def _by_endpoint(data: Mapping[str, Json]) -> dict[str, Mapping[str, Json]]:
    return {each["endpoint"]["name"]: each for each in sections_of(data)}


def _plan(asked: Asked, section: Mapping[str, Json]) -> Planned:
    """What a trace at one endpoint would run: the one that was begun there, else the harness asked for or the worst."""
    name = section["endpoint"]["name"]
    folder = tracing.place(asked.run, [each["name"] for each in store.read_study(asked.run)["endpoints"]], name)
    begun = tracing.begun(folder)
    if begun is not None and asked.harness not in (None, begun):
        raise ConfigError(f"{folder}: holds the trace of {begun!r}; move it away to trace {asked.harness!r}")
    harness, why = (asked.harness, "asked for") if asked.harness else traced.target(section)
    if begun is not None:
        why = why if harness == begun else "begun before; now another one is the likeliest worst"
        harness = begun
    if harness is None:
        return Planned(name, folder, why, open=bool(section["incomplete"]))
    refused = {each["harness"]: each["reason"] for each in section["unsupported"]}
    if harness in refused:
        raise ConfigError(f"harness {harness!r} cannot run at {name}: {refused[harness]}")
    study = tracing.prepare(asked.run, name, harness, asked.bases[name])
    return Planned(name, folder, why, harness, study)


def _run(each: Done, asked: Asked, charged: Sequence[Path]) -> None:
    plan = each.plan
    if plan.study is None:
        return
    say(f"trace at {plan.endpoint}: {plan.harness} ({plan.why}), into {plan.folder}")
    budgets = left_of(plan.study.config.budgets, charged, time.monotonic() - asked.started)
    if budgets is None:
        each.problem = "the budget is used up, so the trace was not begun"
        return
    config = plan.study.config.model_copy(update={"budgets": budgets})
    each.ended = running.carry_out(replace(plan.study, config=config), plan.folder, asked.agenda, asked.run)
    if each.reported:
        report.write(plan.folder)


def left_of(budgets: Budgets, charged: Sequence[Path], seconds: float) -> Budgets | None:
    """What is left of the budgets after what these folders and so much time have taken; None if one is used up."""
    spent = [store.tally(folder) for folder in charged]
    taken = {"tokens": sum(one.tokens for one in spent), "money": sum(one.money for one in spent), "seconds": seconds}
    limits = budgets.model_dump()
    left = {name: most if most is None else most - taken[name] for name, most in limits.items()}
    return None if any(value is not None and value <= 0 for value in left.values()) else Budgets(**left)


def told(asked: Asked, done: Sequence[Done], as_json: bool) -> int:
    """Say what came out, without JSON as a table on stdout, and return the exit code."""
    for each in done:
        _tell(each, asked, as_json)
    codes = {each.exit_code for each in done}
    return next((code for code in (INTERRUPTED, INCOMPLETE) if code in codes), 0)


def _tell(each: Done, asked: Asked, as_json: bool) -> None:
    found = each.section["trace"]
    if each.plan.study is None:
        say(f"nothing to trace at {each.plan.endpoint}: {one_line(each.plan.why)}; --harness names one all the same")
    elif found and not as_json:
        title = [f"{one_line(each.plan.endpoint)}:"] if len(asked.bases) > 1 else []
        print("\n".join([*title, *traced_words.table_lines(found)]))
    if each.problem:
        say(f"incomplete: {each.problem}")
    if each.ended is not None and each.plan.study is not None:
        if each.reported:
            say(f"report: {asked.run / 'report.html'}; of the trace alone: {each.plan.folder / 'report.html'}")
        again = ["trace", str(asked.run), *(["--endpoint", each.plan.endpoint] if len(asked.bases) > 1 else [])]
        running.say_how_it_ended(each.plan.study, each.ended, again)
