"""`harness-eval run`: prove, run, record, report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from harness_eval import allocating, report, tracing
from harness_eval.cli import options, running
from harness_eval.cli.hunting import predict_all
from harness_eval.cli.output import JsonFlag, print_json, say
from harness_eval.cli.trace import Asked, Done, told, trace_all
from harness_eval.report.wording import count
from harness_eval.study import Agenda, Ended, Study
from harness_eval.types import Json

app = typer.Typer(add_completion=False)


@app.command()
def run(
    file: options.StudyFile = None,
    out: Annotated[Path | None, typer.Option(help="The run's folder; an unfinished run there is resumed.")] = None,
    seed: options.Seed = None,
    repeats: options.Repeats = None,
    tasks: options.Tasks = None,
    exclude: options.Exclude = None,
    suite: options.Suite = None,
    limit: options.Limit = None,
    family: options.Family = None,
    design: options.DesignFlag = None,
    harness: options.Harnesses = None,
    sandbox: options.SandboxKind = None,
    base_image: options.BaseImage = None,
    allow_local: options.AllowLocal = None,
    concurrency: options.Concurrency = None,
    order: options.OrderFlag = None,
    allocate: options.AllocateFlag = None,
    executor: options.ExecutorKind = None,
    ray_address: options.RayAddress = None,
    max_steps: options.MaxSteps = None,
    coupling: options.Couplings = None,
    fault: options.Faults = None,
    probe: options.Probe = None,
    recovery: options.Recovery = None,
    max_cost: options.MaxCost = None,
    max_tokens: options.MaxTokens = None,
    yes: Annotated[bool, typer.Option("--yes", help="Agree to what the run will cost.")] = False,
    local_model: options.LocalModel = None,
    base_url: options.BaseUrl = None,
    model: options.Model = None,
    profile: options.ProfileName = None,
    api_key_env: options.ApiKeyEnv = None,
    retry_lost: Annotated[bool, typer.Option(help="When resuming, run lost trials again.")] = True,
    trace: options.Trace = None,
    as_json: JsonFlag = False,
) -> None:
    """Run a matrix of tasks and harnesses; without a study, the demo. Flags override its keys; --out FOLDER resumes."""
    resolved = allocating.resolve(options.study_from(file, **options.given(locals())))
    raise typer.Exit(_run(resolved, _asked(resolved, out, yes, Agenda(retry_lost=retry_lost)), probe is True, as_json))


def _asked(resolved: Study, out: Path | None, yes: bool, agenda: Agenda) -> Asked:
    folder = out or running.new_folder(resolved.config.name)
    bases = dict.fromkeys(resolved.endpoints, resolved.config)
    return Asked(folder, bases, None, yes, agenda, charged=(folder,))


def _run(resolved: Study, asked: Asked, probe_again: bool, as_json: bool) -> int:
    with running.resumable(asked.run):
        return _carry_out(resolved, asked, probe_again, as_json)


def _carry_out(resolved: Study, asked: Asked, probe_again: bool, as_json: bool) -> int:
    """Run what is owed, write and print its report, trace the worst drop where that is wanted; the exit code."""
    wanted, folder = resolved.config.trace, asked.run
    if wanted:
        _announce_trace(resolved)
    running.agree(resolved, folder, asked.yes)
    ended = running.carry_out(resolved, folder, replace(asked.agenda, probe_again=probe_again))
    data, code = _report(ended), 0
    if resolved.hunt and data is not None and not ended.exit_code:
        code, data = predict_all(resolved, asked, data)
    if data is not None and not as_json:
        print(report.summary_text(data, folder))
    if data is not None:
        say(f"report: {folder / 'report.html'} (also report.md and report.json)")
    running.say_how_it_ended(resolved, ended, running.again(folder))
    traces: list[Done] = []
    if wanted and data is not None and not ended.exit_code:
        traces, data = trace_all(asked, data)
    if as_json:
        entries = {"traces": [each.as_json() for each in traces]} if wanted else {}
        print_json({**running.summary(ended), "report": data, **entries})
    return told(asked, traces, as_json) or ended.exit_code or code


def _announce_trace(resolved: Study) -> None:
    harnesses = tracing.most_harnesses(resolved)
    trials = harnesses * len(resolved.tasks) * resolved.config.repeats * len(resolved.endpoints)
    say(f"a trace of the worst drop follows: {harnesses} harnesses at most, {count(trials, 'trial')} more")


def _report(ended: Ended) -> dict[str, Json] | None:
    """Write the report where there is something to report."""
    worth = ended.judged or not ended.planned
    return report.write(ended.folder) if worth and not ended.outcome.interrupted else None
