"""What a study will take, before anything is paid for: measured on a run like it, or from stated assumptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from harness_eval import recording, store
from harness_eval.endpoints.config import EndpointConfig
from harness_eval.errors import ConfigError
from harness_eval.harness import Harness
from harness_eval.planning import Study
from harness_eval.types import Usage, View, estimate_tokens

_TURNS = 15  # of one trial
_REPLY, _RESULT = 400, 500  # tokens that each turn adds: what the model writes and thinks, and what its calls bring
_EXTERNAL = 15_000  # tokens of the first request of an external harness, which nobody has seen before it is run
_TURN_SECONDS = 10.0  # of a language model; a scripted endpoint answers at once


@dataclass(frozen=True, slots=True)
class Estimate:
    """Tokens (prompt and completion), dollars and seconds of a whole study; None where unknown.

    `price` is what it costs if no prompt token is served from the server's cache, `cached_price` if every one is; they
    are equal where the share is known. `basis` says in words what the numbers rest on.
    """

    tokens: int
    price: float | None
    cached_price: float | None
    seconds: float | None
    basis: str


def estimate(study: Study, like: Path | None = None) -> Estimate:
    """What all trials of the study will take, as those of the run `like` did, else as assumed.

    Without a run each trial is taken to have so many turns, each of which sends the harness's first request (its system
    prompt, its tools, the mean task) and all that was said and seen since, within the study's limits.

    Raises:
        ConfigError: `like` is no run, or none of its trials was judged.
    """
    return _measured(study, like) if like is not None else _assumed(study)


def share_of(expected: Estimate, share: float) -> Estimate:
    """So much of it, one trial as the other."""
    price, cached, seconds = (
        None if each is None else each * share for each in (expected.price, expected.cached_price, expected.seconds)
    )
    return Estimate(round(expected.tokens * share), price, cached, seconds, expected.basis)


def _measured(study: Study, like: Path) -> Estimate:
    store.read_study(like)
    rows = [row for row in store.latest(like) if row["failure"] is None]
    if not rows:
        raise ConfigError(f"{like}: no trial of this run was judged, so it tells nothing of what one takes")
    each = study.planned // len(study.endpoints)
    usage = Usage(*(round(each * fmean(row["usage"][name] for row in rows)) for name in Usage.__slots__))
    price = _price(study, lambda endpoint: endpoint.cost(usage))
    seconds = each * fmean(row["seconds"] for row in rows) / _width(study)
    basis = f"what the {len(rows)} judged trials of {like} took in the mean"
    return Estimate(usage.total * len(study.endpoints), price, price, seconds, basis)


def _assumed(study: Study) -> Estimate:
    turns = min(_TURNS, study.config.limits.steps)
    task = "x" * round(fmean(len(each.instruction) for each in study.tasks))
    first = {harness.name: _first_request(harness, task) for harness in study.harnesses}
    first |= {external.name: _EXTERNAL for external in study.externals}
    counted = Counter(key.harness for key in study.keys if key.endpoint == study.endpoints[0])
    usage = Usage()
    for name, trials in counted.items():
        one = _trial(first[name], turns, study.config.limits.tokens)
        usage += Usage(one.prompt * trials, one.completion * trials)
    share = study.planned / len(study.keys)
    usage = Usage(round(usage.prompt * share), round(usage.completion * share))
    cached = Usage(usage.prompt, usage.completion, cached=usage.prompt)
    seconds = None if study.scripted else share * sum(counted.values()) * turns * _TURN_SECONDS / _width(study)
    mean = round(sum(first[name] * trials for name, trials in counted.items()) / sum(counted.values()), -1)
    basis = (
        f"assuming {turns} turns a trial, a first request of {mean:,.0f} tokens (the mean of the harnesses), "
        f"{_REPLY} tokens of reply and {_RESULT} of results a turn, all of it sent again with every turn"
    )
    return Estimate(
        usage.total * len(study.endpoints),
        _price(study, lambda endpoint: endpoint.cost(usage)),
        _price(study, lambda endpoint: endpoint.cost(cached)),
        seconds,
        basis,
    )


def _first_request(harness: Harness, task: str) -> int:
    """Tokens of the request that a trial begins with."""
    request = harness.encode(View(harness.system, task))
    return estimate_tokens(recording.dump([request.messages, request.tools]).decode() + request.prompt)


def _trial(first: int, turns: int, most: int) -> Usage:
    """Tokens of one trial whose history grows evenly, cut at the limit."""
    prompt = turns * first + (_REPLY + _RESULT) * turns * (turns - 1) // 2
    completion = turns * _REPLY
    within = min(1.0, most / (prompt + completion))
    return Usage(round(prompt * within), round(completion * within))


def _price(study: Study, cost: Callable[[EndpointConfig], float | None]) -> float | None:
    """Dollars at all endpoints; a scripted one without a price is free, any other makes the sum unknown."""
    prices = [0.0 if each.scripted and cost(each) is None else cost(each) for each in study.config.endpoints]
    known = [price for price in prices if price is not None]
    return sum(known) if len(known) == len(prices) else None


def _width(study: Study) -> int:
    """Trials at once at the narrowest endpoint, which takes the longest."""
    usual: int = EndpointConfig.model_fields["concurrency"].default
    return study.config.concurrency or min((each.concurrency for each in study.config.endpoints), default=usual)
