"""`harness-eval run`: prove, run, record, report."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import Annotated

import anyio
import typer

from harness_eval import report, study
from harness_eval.cli import options, paying
from harness_eval.cli.output import JsonFlag, print_json, say
from harness_eval.cli.progress import Progress
from harness_eval.probing import by_reason
from harness_eval.report.wording import count
from harness_eval.study import INTERRUPTED, Ended, Study

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
    as_json: JsonFlag = False,
) -> None:
    """Run a matrix of tasks and harnesses; without a study, the demo. Flags override the study's keys.

    Interrupted runs are resumed by naming their folder with --out.
    """
    resolved = study.resolve(options.study_from(file, **options.given(locals())))
    folder = out or Path("runs") / f"{resolved.config.name}-{time.strftime('%Y%m%d-%H%M%S')}"
    _agree(resolved, folder, yes)
    raise typer.Exit(_tell(resolved, _run(resolved, folder, retry_lost, probe is True), as_json))


def _agree(resolved: Study, folder: Path, yes: bool) -> None:
    stated = paying.price_of(resolved, folder)
    paying.check(resolved, stated, yes)
    if stated:
        say(f"paid for: {stated}")


def _tell(resolved: Study, ended: Ended, as_json: bool) -> int:
    """Write the report where there is something to report, say how the run ended, and return its exit code."""
    folder = ended.folder
    told = ended.judged or not ended.planned
    data = report.write(folder) if told and not ended.outcome.interrupted else None
    if as_json:
        print_json(_summary(ended, data))
    elif data is not None:
        print(report.summary_text(data))
    if data is not None:
        say(f"report: {folder / 'report.html'} (also report.md and report.json)")
    _say_how_it_ended(resolved, ended)
    return ended.exit_code


def _run(resolved: Study, folder: Path, retry_lost: bool, probe_again: bool) -> Ended:
    say(f"{count(len(resolved.keys), 'trial')}: {_count(resolved)}; sandbox: {resolved.provider.name}")
    for endpoint in resolved.config.endpoints:
        say(f"endpoint {endpoint.name}: {endpoint.model}, profile {endpoint.profile}")
    for note in resolved.notes:
        say(f"note: {note}")
    try:
        with Progress() as progress:
            ended = anyio.run(study.run, resolved, folder, progress, retry_lost, probe_again)
    except KeyboardInterrupt:
        say("interrupted before any trial had ended")
        raise typer.Exit(INTERRUPTED) from None
    if swept := resolved.provider.swept:
        say(f"sweep: {count(swept, 'leftover')} of dead runs removed")
    return ended


def _count(resolved: Study) -> str:
    parts = ((resolved.tasks, "task"), (resolved.harnesses, "harness"), (resolved.endpoints, "endpoint"))
    return " x ".join(count(len(each), name) for each, name in parts)


def _summary(ended: Ended, data: object) -> dict[str, object]:
    return {
        "folder": str(ended.folder),
        "trials": {"planned": ended.planned, "judged": ended.judged, "lost": sum(ended.lost.values())},
        "solved": ended.solved,
        "lost": ended.lost,
        "unsupported": [
            {"endpoint": name, "harness": each.harness, "reason": each.reason, "label": each.label}
            for name, harnesses in ended.unsupported.items()
            for each in harnesses
        ],
        "interrupted": ended.outcome.interrupted,
        "problems": ended.problems,
        "report": data,
    }


def _say_how_it_ended(resolved: Study, ended: Ended) -> None:
    if resolved.scripted:
        say("The endpoint is a scripted agent and no language model: these numbers show what the suite can find.")
    for name, harnesses in ended.unsupported.items():
        if harnesses:
            count = f"{len(harnesses)} of {len(resolved.harnesses)} harnesses"
            say(f"{count} cannot run on {name} (--probe tries them again):")
        for line in by_reason(harnesses):
            say(f"  {line}")
    for problem in ended.problems:
        say(f"incomplete: {problem}")
    if ended.exit_code and ended.planned:
        arguments = sys.argv[1:] if "--out" in " ".join(sys.argv) else [*sys.argv[1:], "--out", str(ended.folder)]
        word = "interrupted" if ended.outcome.interrupted else "incomplete"
        say(f"{word}: {ended.judged} of {ended.planned} trials are judged; resume with")
        say(f"  harness-eval {shlex.join(arguments)}")
