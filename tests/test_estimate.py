"""What a study will take, from stated assumptions."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_eval.estimate import Estimate, estimate
from harness_eval.planning import resolve
from harness_eval.study_file import StudyConfig
from tests.doubles import make_task

PRICE = {"prompt": 1.0, "cached": 0.1, "completion": 10.0}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    make_task(tmp_path / "suite")
    return tmp_path / "suite"


def _of(suite: Path, **keys: object) -> Estimate:
    endpoint = {"name": "e", "base_url": "http://127.0.0.1:9/v1", "model": "m", "scripted": keys.pop("scripted", False)}
    price = keys.pop("price", PRICE)
    given = {"name": "s", "tasks": {"suite": str(suite)}, "sandbox": "local", "allow_local": True, **keys}
    given["endpoints"] = [{**endpoint, "price": price, "concurrency": 1}, *given.pop("more", [])]
    return estimate(resolve(StudyConfig.model_validate(given)))


def test_it_grows_with_the_square_of_the_turns(suite: Path) -> None:
    one, two, four = (_of(suite, limits={"steps": steps}).tokens for steps in (1, 2, 4))
    added = two - 2 * one
    assert added > 0
    assert four - 4 * one == 6 * added  # 0 + 1 + 2 + 3 turns are sent again, against one


def test_it_counts_every_trial(suite: Path) -> None:
    assert _of(suite, repeats=3).tokens == 3 * _of(suite).tokens
    assert _of(suite, canonical_repeats=4).tokens == 4 * _of(suite).tokens
    second = {"name": "f", "base_url": "http://127.0.0.1:9/v1", "model": "m", "price": PRICE}
    both = _of(suite, more=[second])
    assert both.tokens == 2 * _of(suite).tokens
    assert both.price == pytest.approx(2 * (_of(suite).price or 0))


def test_a_harness_that_says_more_takes_more(suite: Path) -> None:
    assert _of(suite, harnesses=["claude-code-like"]).tokens > 2 * _of(suite).tokens


def test_it_stays_within_the_limit_of_tokens(suite: Path) -> None:
    assert _of(suite, limits={"tokens": 5_000}).tokens == pytest.approx(5_000, abs=1)


def test_the_price_runs_from_all_to_nothing_from_the_cache(suite: Path) -> None:
    found = _of(suite)
    completion = 15 * 400
    prompt = found.tokens - completion
    assert found.price == pytest.approx((prompt + 10 * completion) / 1e6)
    assert found.cached_price == pytest.approx((prompt / 10 + 10 * completion) / 1e6)


def test_a_price_is_unknown_where_one_endpoint_has_none(suite: Path) -> None:
    assert (_of(suite, price=None).price, _of(suite, price=None).cached_price) == (None, None)
    assert _of(suite, price=None, scripted=True).price == 0.0


def test_time_is_told_for_language_models_only(suite: Path) -> None:
    assert _of(suite).seconds == 150
    assert _of(suite, concurrency=5).seconds == 30
    assert _of(suite, scripted=True).seconds is None


def test_the_basis_says_what_was_assumed(suite: Path) -> None:
    assert "assuming 7 turns a trial" in _of(suite, limits={"steps": 7}).basis
