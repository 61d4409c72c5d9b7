"""`harness-eval plan`: what a study would run, and what it would cost; nothing is called."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from harness_eval import allocating, predicting, study
from harness_eval.balance import SAYS, balance
from harness_eval.cli import options
from harness_eval.cli.output import JsonFlag, print_json, print_table, say
from harness_eval.estimate import Estimate, estimate, share_of
from harness_eval.family import load_family
from harness_eval.report.wording import count
from harness_eval.study import Study
from harness_eval.types import Json

app = typer.Typer(add_completion=False)


@app.command()
def plan(
    file: options.StudyFile = None,
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
    local_model: options.LocalModel = None,
    base_url: options.BaseUrl = None,
    model: options.Model = None,
    profile: options.ProfileName = None,
    api_key_env: options.ApiKeyEnv = None,
    max_steps: options.MaxSteps = None,
    coupling: options.Couplings = None,
    out: Annotated[Path | None, typer.Option(help="As for run; nothing is written.")] = None,
    like: Annotated[Path | None, typer.Option(help="A run whose trials tell what one takes.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Print the matrix of a study, its size, and about what it will take; nothing is called.

    What a trial takes is known from a run of the same kind, named with --like; without one it is assumed.
    """
    del out
    flags = options.given(locals())
    resolved = allocating.resolve(options.study_from(file, **flags))
    data = {**study.record(resolved), **_taken(resolved, estimate(resolved, like)), "balance": _balance(resolved)}
    if as_json:
        print_json(data)
    else:
        _print(data)


def _taken(resolved: Study, expected: Estimate) -> dict[str, Json]:
    """What the study takes, and the predicted worst configuration that follows a hunt; null where none can."""
    trials = predicting.most_trials(resolved)
    more = {"trials": trials, "estimate": share_of(expected, trials / resolved.planned)}
    return {"estimate": expected, "predicted": more if trials else None}


def _balance(resolved: Study) -> Json:
    """What the design can say; null where the harnesses are not drawn from a family."""
    if resolved.config.family is None:
        return None
    found = balance(load_family(resolved.config.family), resolved.harnesses)
    can, cannot = SAYS[resolved.config.design.kind]
    covered = {"covered": found.covered, "possible": found.possible}
    return {"levels": found.counts, "pairs": covered, "can_say": can, "cannot_say": cannot}


def _print_balance(data: Json) -> None:
    rows = [(axis, ", ".join(f"{name} {n}" for name, n in counts.items())) for axis, counts in data["levels"].items()]
    print_table(("axis", "harnesses with each level"), rows)
    covered, possible = data["pairs"]["covered"], data["pairs"]["possible"]
    share = f" ({covered / possible:.0%})" if possible else ""
    print(f"\npairs of levels: {covered} of {possible} possible ones stand together{share}")
    print(f"this design can say: {data['can_say']}\nit cannot say: {data['cannot_say']}\n")


def _print(data: dict[str, Json]) -> None:
    usual = data["harnesses"][0]["labels"]
    rows = [(each["name"], each["id"], _differs(each["labels"], usual)) for each in data["harnesses"]]
    print_table(("harness", "id", "differs from canonical in"), rows)
    print()
    print_table(
        ("task", "difficulty", "stresses"),
        [(t["name"], t["difficulty"], ", ".join(t["stresses"])) for t in data["tasks"]],
    )
    print()
    if data["balance"]:
        _print_balance(data["balance"])
    for entry in data["unsupported"]:
        say(f"left out: {entry['harness']}: {entry['reason']}")
    for note in data["notes"]:
        say(f"note: {note}")
    endpoints = ", ".join(f"{endpoint['name']} ({endpoint['base_url']})" for endpoint in data["endpoints"])
    print(f"endpoints: {endpoints}")
    print(f"sandbox: {data['sandbox']}; seed: {data['seed']}; repeats: {data['repeats']}")
    tasks, harnesses = count(len(data["tasks"]), "task"), count(len(data["harnesses"]), "harness")
    print(f"trials: {data['planned']} ({tasks}, {harnesses})")
    _print_estimate(data["estimate"])
    print(f"basis: {data['estimate'].basis}")
    if data["predicted"]:
        print(
            f"\nthe predicted worst untested configuration follows: {count(data['predicted']['trials'], 'trial')} more"
        )
        _print_estimate(data["predicted"]["estimate"])


def _differs(labels: Mapping[str, str], usual: Mapping[str, str]) -> str:
    """The levels that are not canonical. One column an axis would be too wide for any terminal."""
    return ", ".join(f"{axis}={label}" for axis, label in labels.items() if label != usual[axis]) or "-"


def _print_estimate(expected: Estimate) -> None:
    price, cached, seconds = expected.price, expected.cached_price, expected.seconds
    print(f"tokens: about {float(f'{expected.tokens:.3g}'):,.0f}")
    if price is None or cached is None:
        print("price: unknown")
    elif price == cached:
        print(f"price: about ${price:,.2f}")
    else:
        print(f"price: about ${cached:,.2f} (every prompt from the cache) to ${price:,.2f} (none)")
    print(f"time: {'unknown' if seconds is None else f'about {seconds / 3600:.1f} h'}")
