from __future__ import annotations

import dataclasses
from itertools import product
from typing import Any

import numpy as np
import pytest

from harness_eval.stats.estimate import UNKNOWN, Array, Estimate
from harness_eval.stats.summary import Summary, summarise
from tests.stats.tables import coin_flips, study


def levels_of(harnesses: int) -> list[dict[str, str]]:
    return [{"protocol": "json" if h % 2 else "native", "tools": str(h % 3)} for h in range(harnesses)]


def summary_of(table: Array, lost: Array | None = None, canonical: int = 0) -> Summary:
    valid = np.ones(table.shape, dtype=bool) if lost is None else lost == 0
    return summarise(table[:, :, None], valid[:, :, None], canonical, levels_of(table.shape[1]), seed=1)


def estimates_in(record: Any) -> list[Estimate]:
    if isinstance(record, Estimate):
        return [record]
    if dataclasses.is_dataclass(record):
        return [e for field in dataclasses.fields(record) for e in estimates_in(getattr(record, field.name))]
    if isinstance(record, tuple):
        return [e for entry in record for e in estimates_in(entry)]
    return [e for entry in record.values() for e in estimates_in(entry)] if isinstance(record, dict) else []


def numbers_in(record: Any) -> list[float]:
    if isinstance(record, float):
        return [record]
    if dataclasses.is_dataclass(record):
        return [n for field in dataclasses.fields(record) for n in numbers_in(getattr(record, field.name))]
    if isinstance(record, tuple):
        return [n for entry in record for n in numbers_in(entry)]
    return [n for entry in record.values() for n in numbers_in(entry)] if isinstance(record, dict) else []


@pytest.fixture(scope="module")
def broken() -> Summary:
    effects = np.full(9, 1.0)
    effects[4] = -3.0
    return summary_of(study(effects, 80, 3))


def test_the_broken_harness_is_named_worst_and_judged_broken(broken: Summary) -> None:
    assert broken.worst.candidates == (4,)
    assert broken.worst.p_worst[4] == pytest.approx(1.0, abs=0.01)
    assert [h.verdict for h in broken.harnesses].count("broken") == 1
    assert broken.harnesses[4].verdict == "broken"
    assert broken.harnesses[0].verdict is None


def test_summaries_are_ordered_as_they_must_be(broken: Summary) -> None:
    def point(estimate: Estimate) -> float:
        assert estimate.estimate is not None
        return estimate.estimate

    assert point(broken.floor) < point(broken.worst.score) < point(broken.ceiling)
    assert point(broken.worst.score) <= point(broken.cvar10)
    assert point(broken.worst.score) < point(broken.worst_at_8) < point(broken.mean)
    quantiles = broken.quantiles
    assert point(quantiles.q10) < point(quantiles.q50) < point(quantiles.q90)
    assert point(broken.gap) == pytest.approx(point(broken.canonical) - point(broken.worst.score), abs=1e-9)
    assert broken.spread.raw is not None
    assert broken.spread.raw > point(broken.spread.net)


def test_every_interval_holds_its_point(broken: Summary) -> None:
    for estimate in estimates_in(broken):
        if estimate.limits is not None:
            assert estimate.estimate is not None
            assert estimate.limits[0] <= estimate.estimate <= estimate.limits[1]


def test_canonical_is_the_same_in_both_places_and_near_what_was_measured(broken: Summary) -> None:
    assert broken.canonical.estimate == pytest.approx(broken.harnesses[0].raw, abs=0.05)
    assert broken.harnesses[0].score == broken.canonical


def test_the_same_seed_gives_the_same_summary() -> None:
    table = study(np.zeros(4), 30, 1)
    assert summary_of(table) == summary_of(table)


def test_canonical_may_have_more_repeats_than_the_others() -> None:
    scores = np.full((60, 5, 3), np.nan)
    scores[:, :, 0] = coin_flips(1, (60, 5))
    scores[:, 2, :] = coin_flips(2, (60, 3))
    found = summarise(scores, ~np.isnan(scores), 2, levels_of(5), seed=1)
    assert (found.lost.planned, found.lost.lost) == (60 * 7, 0)
    assert (found.harnesses[2].planned, found.harnesses[0].planned) == (180, 60)
    assert found.harnesses[2].raw == pytest.approx(scores[:, 2].mean())


def test_lost_trials_are_missing_and_bounded() -> None:
    table, lost = study(np.full(6, 0.5), 80, 4), np.zeros((80, 6))
    lost[:20, 5] = 1
    table[:20, 5] = 0
    found = summary_of(table, lost)
    assert found.harnesses[5].raw == pytest.approx(table[20:, 5].mean())
    assert (found.harnesses[5].lost, found.harnesses[5].verdict) == (20, "unsupported")
    assert found.lost.flagged
    assert found.lost.worst_if_failed is not None
    assert found.worst.score.estimate is not None
    assert found.lost.worst_if_failed < found.worst.score.estimate
    assert any("lost" in note for note in found.notes)


def test_a_harness_without_any_result_counts_nowhere() -> None:
    table, lost = study(np.full(5, 0.5), 60, 4), np.zeros((60, 5))
    lost[:, 3] = 1
    table[:, 3] = 0
    found = summary_of(table, lost)
    without = summary_of(np.delete(table, 3, axis=1))
    assert found.harnesses[3].score == UNKNOWN
    assert found.harnesses[3].verdict == "unsupported"
    assert found.worst.p_worst[3] is None
    assert found.floor == without.floor
    assert found.mean == without.mean
    assert found.spread == without.spread


def test_without_canonical_results_there_is_no_gap_but_still_a_worst() -> None:
    lost = np.zeros((60, 5))
    lost[:, 0] = 1
    found = summary_of(study(np.zeros(5), 60, 1), lost)
    assert found.gap == UNKNOWN
    assert found.canonical == UNKNOWN
    assert found.worst.score.estimate is not None
    assert {h.verdict for h in found.harnesses[1:]} == {"unclear"}


def test_below_fifty_tasks_precision_is_low_and_verdicts_stay_unclear() -> None:
    table = np.ones((30, 5))
    table[:, 2] = 0
    found = summary_of(table)
    assert found.low_precision
    assert [h.verdict for h in found.harnesses] == [None, "unclear", "unclear", "unclear", "unclear"]
    assert found.worst.score.limits is not None


def test_below_twenty_tasks_no_interval_is_printed() -> None:
    found = summary_of(coin_flips(0, (12, 5)))
    assert all(estimate.limits is None for estimate in estimates_in(found))
    assert found.floor.estimate is None
    assert found.spread.net.estimate is not None


def test_below_twenty_tasks_the_model_of_worst_is_not_used() -> None:
    table = coin_flips(0, (12, 5))
    found = summary_of(table)
    assert {e.estimate for e in (found.worst.score, found.gap, found.cvar10, found.worst_at_8)} == {None}
    assert [h.score.estimate for h in found.harnesses] == pytest.approx(table.mean(axis=0).tolist())
    assert found.canonical == found.harnesses[0].score


def test_below_eight_harnesses_the_expected_minimum_of_eight_is_unknown() -> None:
    assert summary_of(coin_flips(0, (30, 7))).worst_at_8 == UNKNOWN
    assert summary_of(coin_flips(0, (30, 8))).worst_at_8 != UNKNOWN


def test_everything_unknown_is_none_when_nothing_was_judged() -> None:
    found = summary_of(np.zeros((40, 3)), np.ones((40, 3)))
    assert found.tasks == 0
    assert {estimate.estimate for estimate in estimates_in(found)} == {None}
    assert found.lost.rate == 1
    assert [h.verdict for h in found.harnesses] == [None, "unsupported", "unsupported"]


@pytest.mark.parametrize("shape", [(0, 3, 1), (3, 3, 0)])
def test_an_empty_run_is_unknown_and_not_an_error(shape: tuple[int, int, int]) -> None:
    found = summarise(np.zeros(shape), np.zeros(shape, dtype=bool), 0, levels_of(3), seed=1)
    assert found.worst.score == UNKNOWN
    assert found.lost.planned == 0


@pytest.mark.parametrize(("tasks", "harnesses"), list(product((1, 2, 3, 20, 55), (1, 2, 3, 4, 9))))
def test_no_legal_table_raises_or_yields_a_number_that_is_not_one(tasks: int, harnesses: int) -> None:
    shape = (tasks, harnesses)
    flips, holes = coin_flips(tasks, shape), coin_flips(harnesses, shape, 0.4)
    dead, alike = np.ones(shape), np.repeat(flips[:, :1], harnesses, axis=1)
    dead[:, -1] = 0
    whole = np.zeros(shape)
    whole[:, -1] = 1
    cases = [(np.zeros(shape), None), (np.ones(shape), None), (dead, None), (alike, None), (flips * 0.5, None)]
    for table, lost in [*cases, (flips, holes), (flips, whole), (flips, 1 - whole)]:
        found = summary_of(table, lost)
        assert np.isfinite(numbers_in(found)).all()


@pytest.mark.parametrize(("canonical", "count"), [(3, 3), (-1, 3), (0, 2)])
def test_a_canonical_or_levels_that_do_not_fit_are_refused(canonical: int, count: int) -> None:
    with pytest.raises(ValueError, match="3 harnesses"):
        summarise(np.zeros((2, 3, 1)), np.ones((2, 3, 1), dtype=bool), canonical, levels_of(count), seed=1)


def test_the_interval_of_worst_covers_when_all_harnesses_are_equal() -> None:
    covered = 0
    for seed in range(40):
        limits = summary_of(study(np.zeros(8), 50, seed)).worst.score.limits
        assert limits is not None
        covered += limits[0] <= 0.5 <= limits[1]
    assert covered >= 34


def test_the_interval_of_worst_covers_when_one_harness_is_broken() -> None:
    effects, nodes = np.zeros(8), np.random.default_rng(0).normal(-2, np.hypot(2.5, 1), 200_000)
    effects[3] = -2
    truth = float((1 / (1 + np.exp(-nodes))).mean())
    covered = 0
    for seed in range(40):
        limits = summary_of(study(effects, 50, seed)).worst.score.limits
        assert limits is not None
        covered += limits[0] <= truth <= limits[1]
    assert covered >= 34


def test_tied_harnesses_share_the_probability_of_being_worst() -> None:
    score_TH = np.ones((30, 5))
    score_TH[:, 2] = score_TH[:, 4] = np.arange(30) % 2
    found = summarise(score_TH[:, :, None], np.ones((30, 5, 1), bool), 0, levels_of(5), seed=1)
    assert found.worst.p_worst[2] == pytest.approx(found.worst.p_worst[4], abs=0.05)
    assert found.worst.p_worst[2] == pytest.approx(0.5, abs=0.05)
