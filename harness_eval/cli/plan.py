"""`harness-eval plan`: what a study would run, and what it would cost; nothing is called."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Annotated

import typer

from harness_eval import store, study
from harness_eval.balance import SAYS, balance
from harness_eval.cli import options
from harness_eval.cli.output import JsonFlag, print_json, print_table, say
from harness_eval.endpoints.config import EndpointConfig
from harness_eval.family import load_family
from harness_eval.study import Study
from harness_eval.types import Json, Usage

app = typer.Typer(add_completion=False)


@app.command()
def plan(
    file: options.StudyFile = None,
    seed: options.Seed = None,
    repeats: options.Repeats = None,
    tasks: options.Tasks = None,
    suite: options.Suite = None,
    limit: options.Limit = None,
    family: options.Family = None,
    design: options.DesignFlag = None,
    harness: options.Harnesses = None,
    sandbox: options.SandboxKind = None,
    allow_local: options.AllowLocal = None,
    concurrency: options.Concurrency = None,
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
    """Print the matrix of a study, its size, and its price and time where they are known; nothing is called.

    What a trial takes is known from a run of the same kind, named with --like.
    """
    del out
    flags = {name: value for name, value in locals().items() if name in options.PLACES}
    resolved = study.resolve(options.study_from(file, **flags))
    data = {**study.record(resolved), "estimate": _estimate(resolved, like), "balance": _balance(resolved)}
    if as_json:
        print_json(data)
        return
    _print(data)


def _estimate(resolved: Study, like: Path | None) -> dict[str, Json]:
    """Tokens, dollars and seconds of the study if its trials are like those of another run; null where unknown."""
    rows = [row for row in store.latest(like) if row["failure"] is None] if like else []
    if not rows:
        return {"tokens": None, "price": None, "seconds": None}
    config, trials = resolved.config, len(resolved.keys)
    each = trials / len(resolved.endpoints)
    mean = Usage(*(round(fmean(row["usage"][name] for row in rows)) for name in Usage.__slots__))
    prices = [endpoint.cost(mean) for endpoint in config.endpoints]
    price = None if None in prices else each * sum(price or 0.0 for price in prices)
    at_once = [config.concurrency or endpoint.concurrency for endpoint in config.endpoints]
    slowest = min(at_once, default=config.concurrency or EndpointConfig.model_fields["concurrency"].default)
    seconds = each * fmean(row["seconds"] for row in rows) / slowest
    return {"tokens": mean.total * trials, "price": price, "seconds": seconds}


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
    print(f"\npairs of levels: {covered} of {possible} possible ones stand together ({covered / possible:.0%})")
    print(f"this design can say: {data['can_say']}\nit cannot say: {data['cannot_say']}\n")


def _print(data: dict[str, Json]) -> None:
    varied = _varied(data["harnesses"])
    rows = [
        (harness["name"], harness["id"], *(harness["labels"][axis] for axis in varied)) for harness in data["harnesses"]
    ]
    print_table(("harness", "id", *varied), rows)
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
    print(f"trials: {data['planned']} ({len(data['tasks'])} tasks, {len(data['harnesses'])} harnesses)")
    estimate = data["estimate"]
    tokens, price, seconds = estimate["tokens"], estimate["price"], estimate["seconds"]
    print(f"tokens: {'unknown (--like RUN tells)' if tokens is None else f'about {tokens:,}'}")
    print(f"price: {'unknown' if price is None else f'about ${price:,.2f}'}")
    print(f"time: {'unknown' if seconds is None else f'about {seconds / 3600:.1f} h'}")


def _varied(harnesses: list[dict[str, Json]]) -> list[str]:
    """The axes on which the harnesses differ; the others would only widen the table."""
    return [axis for axis in harnesses[0]["labels"] if len({harness["labels"][axis] for harness in harnesses}) > 1]
