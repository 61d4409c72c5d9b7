"""`harness-eval check`: did something become worse since a baseline? Pass, fail or inconclusive."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_args

import typer

from harness_eval import report
from harness_eval.cli import options
from harness_eval.cli.check_record import check_record
from harness_eval.cli.check_study import check_study
from harness_eval.cli.output import JsonFlag, print_json, say
from harness_eval.errors import ConfigError, nearest
from harness_eval.gate import snapshot
from harness_eval.gate.asked import Asked, Gate
from harness_eval.gate.checking import check as checked
from harness_eval.gate.document import Check, Kind
from harness_eval.gate.kept import Snapshot

app = typer.Typer(add_completion=False)

_ASKED = {"margin": "margin", "alpha": "alpha", "repeats": "cap", "matrix": "matrix"}  # flags as `Asked` has them
_GATES = "sprt, which stops early; fixed, which looks once: at all repeats of RUN, of a study at one unless --repeats "
_GATES += "says more; or e-process."
_Given: TypeAlias = Mapping[str, Any]
_Target = Annotated[
    str | None,
    typer.Argument(
        metavar="[RUN[:ENDPOINT] | STUDY.yaml]",
        help="A run's folder, or a study whose trials are run; without it, the baseline's tasks at --base-url.",
    ),
]
_Baseline = Annotated[
    str | None, typer.Option(metavar="FILE|RUN[:ENDPOINT]", help="What it is held against: a baseline's file or a run.")
]
_Replayed = Annotated[
    Path | None, typer.Option("--replay", metavar="RUN", help="Derive a recorded run again instead; nothing is asked.")
]
_Harness = Annotated[
    list[str] | None,
    typer.Option(
        "--harness", help="The gated harness, instead of the canonical one. With --replay: a file to try; several."
    ),
]
_Rerun = Annotated[
    bool | None, typer.Option("--rerun", help="With --replay: judge the recorded replies again in a sandbox.")
]
_Gate = Annotated[str | None, typer.Option("--gate", help=_GATES)]
_Release = Annotated[bool | None, typer.Option("--release", help="Pass only what is surely not worse by the margin.")]
_Margin = Annotated[float | None, typer.Option(help="The drop that matters, 0..1; 0.10 unless said otherwise.")]
_Alpha = Annotated[float | None, typer.Option(help="The chance of a false alarm that is accepted, 0..0.5.")]
_Repeats = Annotated[
    int | None, typer.Option(min=1, help="At most so many trials of each task; else 3, or as --gate fixed says.")
]
_Changed = Annotated[
    list[str] | None, typer.Option(help="Accept that these differ: suite, harness, endpoint or limits.")
]
_Matrix = Annotated[
    bool | None,
    typer.Option("--matrix/--no-matrix", help="Run the study's other harnesses, too; or do not ask of them."),
]
_Out = Annotated[Path | None, typer.Option(metavar="DIR", help="The folder of the new run; the same one resumes it.")]
_Write = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Write check.json, check.md, junit.xml and badge.json there.")
]
_Github = Annotated[
    bool | None, typer.Option("--github", help="Write the job's summary and outputs, print annotations.")
]
_Yes = Annotated[bool | None, typer.Option("--yes", help="Agree to what the trials will cost.")]
_RetryLost = Annotated[bool | None, typer.Option(help="When resuming, run lost trials again.")]


@app.command()
def check(
    target: _Target = None,
    baseline: _Baseline = None,
    replay: _Replayed = None,
    harness: _Harness = None,
    rerun: _Rerun = None,
    gate: _Gate = None,
    release: _Release = None,
    margin: _Margin = None,
    alpha: _Alpha = None,
    repeats: _Repeats = None,
    changed: _Changed = None,
    matrix: _Matrix = None,
    out: _Out = None,
    write: _Write = None,
    github: _Github = None,
    suite: options.Suite = None,
    coupling: options.Couplings = None,
    fault: options.Faults = None,
    sandbox: options.SandboxKind = None,
    base_image: options.BaseImage = None,
    allow_local: options.AllowLocal = None,
    concurrency: options.Concurrency = None,
    probe: options.Probe = None,
    max_cost: options.MaxCost = None,
    max_tokens: options.MaxTokens = None,
    yes: _Yes = None,
    base_url: options.BaseUrl = None,
    model: options.Model = None,
    profile: options.ProfileName = None,
    api_key_env: options.ApiKeyEnv = None,
    retry_lost: _RetryLost = None,
    as_json: JsonFlag = False,
) -> None:
    """Say whether a run is worse than a baseline: pass (exit 0), fail (1), inconclusive (0; --release: 1)."""
    given = {name: value for name, value in locals().items() if value is not None and value != []}
    found = _announced(given)
    _tell(given, found)
    raise typer.Exit(found.exit_code)


_OF_TRIALS = {
    *("out", "suite", "coupling", "fault", "sandbox", "base_image", "allow_local", "concurrency", "probe"),
    *("max_cost", "max_tokens", "yes", "base_url", "model", "profile", "api_key_env", "retry_lost"),
}
_OF_RERUN = {"out", "suite", "sandbox", "allow_local", "concurrency"}
_OF_BASELINE = {"target", "baseline", "gate", "margin", "alpha", "repeats", "changed", "matrix"}


def _announced(given: _Given) -> Check:
    """The check that is meant; that none can be made is an annotation, too."""
    try:
        return _carried_out(given)
    except ConfigError as error:
        if "github" in given:
            _annotate(given, report.github_refused(str(error)))
        raise


def _carried_out(given: _Given) -> Check:
    """The check that is meant."""
    if "replay" in given:
        _refuse(given, _OF_BASELINE, "belongs to a baseline, and --replay has none")
        _refuse(given, _OF_TRIALS - _OF_RERUN, "belongs to an endpoint, and --replay asks none")
        if "rerun" not in given:
            _refuse(given, _OF_RERUN, "belongs to trials that are run, and without --rerun none is")
        return check_record(given)
    _refuse(given, {"rerun"}, "belongs to --replay")
    if "baseline" not in given:
        raise ConfigError("--baseline: is wanted: a run's folder, or a file that `harness-eval baseline` has written")
    before = snapshot.read(Path(given["baseline"]))
    asked = _asked(given, before)
    target = given.get("target")
    if target is None and "base_url" not in given and "model" not in given:
        raise ConfigError("nothing to check: name a run's folder, a study, or a server with --base-url")
    if target is None or (target.endswith((".yaml", ".yml")) and not Path(target).is_dir()):
        return check_study(before, asked, given)
    _refuse(given, _OF_TRIALS, f"belongs to trials that are run, and those of {target} have been")
    if "release" in given:
        _refuse(given, {"repeats"}, f"does not go with --release, which looks at all repeats of {target}")
    after = snapshot.read(Path(target))
    gated = after.harness(asked.harness or before.canonical or "")
    if asked.gate == "fixed" and "repeats" not in given and gated is not None:
        asked = replace(asked, cap=max(1, len(gated.solved)))  # all that are there
    return checked(before, after, asked)


def _refuse(given: _Given, names: Iterable[str], why: str) -> None:
    for name in given:
        if name in names:
            told = f"{name}: " if name == "target" else f"--{name.replace('_', '-')}: "
            raise ConfigError(f"{told}{why}")


def _asked(given: _Given, before: Snapshot) -> Asked:
    """What the gate is asked for.

    Raises:
        ConfigError: flags that do not go together, or a value that none can be.
    """
    gate, release, harnesses = given.get("gate", "sprt"), "release" in given, given.get("harness", [])
    if gate not in get_args(Gate):
        raise ConfigError(f"--gate: {gate!r} is not known; {nearest(gate, get_args(Gate))}")
    if release and given.get("gate", "fixed") != "fixed":
        raise ConfigError(f"--release: looks once, at all repeats, so it does not go with --gate {gate}")
    if len(harnesses) > 1:
        raise ConfigError("--harness: one harness is gated against a baseline; only --replay takes several files")
    for kind in given.get("changed", ()):
        if kind not in get_args(Kind):
            raise ConfigError(f"--changed: {kind!r} is not known; {nearest(kind, get_args(Kind))}")
    for name, limit in (("margin", 1.0), ("alpha", 0.5)):
        if name in given:
            options.refuse_beyond(f"--{name}", given[name], limit)
    gated = before.harness(harnesses[0] if harnesses else before.canonical or "")
    if gated is not None and given.get("repeats", 1) > (most := len(gated.solved)):
        raise ConfigError(
            f"--repeats: the baseline has {most} of {gated.name!r}, and each trial is held against its own"
        )
    chosen = {name: given[flag] for flag, name in _ASKED.items() if flag in given}
    return Asked(
        gate=gate,
        release=release,
        harness=harnesses[0] if harnesses else None,
        changed=frozenset(given.get("changed", ())),
        **chosen,
    )


def _tell(given: _Given, found: Check) -> None:
    """Show the check in every form that is wanted."""
    data = found.model_dump(mode="json", by_alias=True)
    if given["as_json"]:
        print_json(data)
    else:
        print(report.check_text(data))
    if "github" in given:
        _annotate(given, report.github_check(data, os.environ))
    if "write" in given:
        report.write_check(data, given["write"])
        say(f"check: {given['write'] / 'check.md'} (also check.json, junit.xml and badge.json)")


def _annotate(given: _Given, annotations: str) -> None:
    print(annotations, file=sys.stderr if given["as_json"] else sys.stdout, flush=True)  # its runner reads both
