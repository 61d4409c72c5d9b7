"""Laws of the watch, and its error rates on simulated gates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from harness_eval.stats.estimate import Array, Estimate, Mask
from harness_eval.stats.gate import (
    BETA,
    EARLY_LIMITS,
    LAST_LIMITS,
    Kind,
    Watched,
    needed,
    non_inferior,
    sprt,
    watch,
)
from harness_eval.stats.intervals import at_level

ORDER = {"pass": 0, "inconclusive": 1, "fail": 2}
KINDS = st.sampled_from(["sprt", "e-process"])


@st.composite
def runs(draw: st.DrawFn) -> tuple[Array, Array]:
    """Two sides, some trials without a verdict."""
    shape = draw(st.tuples(st.integers(1, 40), st.integers(1, 3)))
    chances = draw(st.tuples(*[st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0])] * 2))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    before, after = ((rng.random(shape) < chance).astype(float) for chance in chances)
    rates = draw(st.tuples(*[st.sampled_from([0.0, 0.2])] * 2))
    lost = [rng.random(shape) < rate for rate in rates]
    return np.where(lost[0], np.nan, before), np.where(lost[1], np.nan, after)


def everything(before_TR: Array) -> Mask:
    return np.ones(before_TR.shape, dtype=bool)


def watched(before_TR: Array, after_TR: Array, kind: Kind = "sprt") -> Watched:
    return watch(before_TR, after_TR, everything(before_TR), kind=kind)


def pairs(worse: int, better: int, same: int = 0) -> tuple[Array, Array]:
    """One repeat of so many tasks."""
    before = np.repeat([1.0, 0.0, 1.0], [worse, better, same])
    return before[:, None], np.repeat([0.0, 1.0, 1.0], [worse, better, same])[:, None]


@settings(deadline=None)
@given(runs(), KINDS, st.integers(1, 30))
def test_a_run_fed_trial_by_trial_ends_as_the_finished_one_does(
    run: tuple[Array, Array], kind: Kind, at_once: int
) -> None:
    before_TR, after_TR = run
    finished = watched(before_TR, after_TR, kind)
    ended_TR = np.zeros(before_TR.shape, dtype=bool)
    places = [(task, repeat) for repeat in range(before_TR.shape[1]) for task in range(len(before_TR))]
    for start in range(0, len(places), at_once):
        for place in places[start : start + at_once]:
            ended_TR[place] = True
        seen = watch(before_TR, np.where(ended_TR, after_TR, np.nan), ended_TR, kind=kind)
        assert seen.looks == finished.looks[: len(seen.looks)]
        if not seen.waiting:
            break
        assert seen.decision == "inconclusive"
    assert seen == finished
    assert seen.used <= (ended_TR | np.isnan(before_TR)).sum()


@settings(deadline=None)
@given(runs(), KINDS, st.data())
def test_more_worse_pairs_never_turn_a_fail_into_a_pass(
    run: tuple[Array, Array], kind: Kind, data: st.DataObject
) -> None:
    before_TR, after_TR = run
    chosen_TR = data.draw(arrays(bool, before_TR.shape))
    broken_TR = np.where(chosen_TR & ~np.isnan(after_TR), 0.0, after_TR)
    found, broken = watched(before_TR, after_TR, kind).decision, watched(before_TR, broken_TR, kind).decision
    if found == "fail":
        assert broken == "fail"
    if broken == "pass":
        assert found != "fail"


@settings(deadline=None)
@given(runs(), KINDS)
def test_pairs_without_a_verdict_on_one_side_change_nothing(run: tuple[Array, Array], kind: Kind) -> None:
    before_TR, after_TR = run
    lost_TR = np.isnan(before_TR) | np.isnan(after_TR)
    one_side = watched(np.where(lost_TR, 1.0, before_TR), np.where(lost_TR, np.nan, after_TR), kind)
    both_sides = watched(np.where(lost_TR, np.nan, before_TR), np.where(lost_TR, np.nan, after_TR), kind)
    assert one_side == both_sides == watched(before_TR, after_TR, kind)


@settings(deadline=None)
@given(runs())
def test_only_an_undecided_watch_of_all_trials_is_inconclusive_without_waiting(run: tuple[Array, Array]) -> None:
    seen = watched(*run)
    assert not seen.waiting
    assert (seen.by == "none") == (seen.decision == "inconclusive")
    assert seen.decision != "inconclusive" or seen.used == run[0].size


def test_the_watch_waits_for_the_trials_of_the_next_look() -> None:
    before_TR, after_TR = np.ones((40, 2)), np.ones((40, 2))
    ended_TR = np.zeros((40, 2), dtype=bool)
    ended_TR[:25, 0] = True
    seen = watch(before_TR, after_TR, ended_TR)
    assert (seen.used, seen.waiting, seen.decision) == (20, True, "inconclusive")
    assert [look.repeats for look in seen.looks] == [0.25, 0.5]


def test_no_trial_is_waited_for_where_the_baseline_has_no_verdict() -> None:
    before_TR = np.ones((40, 1))
    before_TR[7] = np.nan
    ended_TR = ~np.isnan(before_TR)
    assert watch(before_TR, np.where(ended_TR, 1.0, np.nan), ended_TR).decision == "pass"


def test_nothing_to_look_at_decides_nothing() -> None:
    for shape in ((0, 3), (30, 0)):
        seen = watched(np.ones(shape), np.ones(shape))
        assert (seen.decision, seen.waiting, seen.looks, seen.worse, seen.better) == ("inconclusive", False, (), 0, 0)
        assert needed(np.ones(shape), np.ones(shape)).repeats is None


@pytest.mark.parametrize("tasks", [33, 64, 100])
def test_identical_runs_pass_by_their_limits_after_one_repeat(tasks: int) -> None:
    seen = watched(np.ones((tasks, 3)), np.ones((tasks, 3)))
    assert (seen.decision, seen.by, seen.used) == ("pass", "limits", tasks)


def test_identical_runs_of_few_tasks_pass_at_the_cap_or_not_at_all() -> None:
    assert [watched(np.ones((tasks, 3)), np.ones((tasks, 3))).decision for tasks in (26, 27, 32)] == [
        "inconclusive",
        "pass",
        "pass",
    ]
    assert watched(np.ones((32, 3)), np.ones((32, 3))).used == 96


def test_limits_are_asked_more_strictly_before_the_cap() -> None:
    before_TR, after_TR = pairs(worse=2, better=0, same=58)
    drop_T = (before_TR - after_TR)[:, 0]
    assert non_inferior(drop_T, alpha=BETA * LAST_LIMITS).decision == "pass"
    assert non_inferior(drop_T, alpha=BETA * EARLY_LIMITS).decision == "inconclusive"
    undecided = np.full_like(before_TR, np.nan)
    early = watch(np.hstack([before_TR, before_TR]), np.hstack([after_TR, undecided]), np.array([[True, False]] * 60))
    assert watched(before_TR, after_TR).decision == "pass"
    assert (early.decision, early.waiting) == ("inconclusive", True)


def test_a_smaller_margin_asks_for_a_smaller_share_of_worse_pairs() -> None:
    before_TR, after_TR = pairs(worse=20, better=10, same=70)
    for margin, share in ((0.10, 0.7), (0.05, 0.6)):
        seen = watch(before_TR, after_TR, everything(before_TR), margin=margin)
        assert seen.statistic == pytest.approx(sprt(seen.worse, seen.better, share=share).statistic)


def test_what_would_have_decided_is_where_the_test_ends_at_the_same_rates() -> None:
    found = needed(*pairs(worse=14, better=7, same=79))
    assert found.decision == "fail"
    assert found.repeats is not None
    grown = 1 + found.repeats
    assert sprt(14 * grown, 7 * grown).decision == "fail"
    assert sprt(14 * (grown - 0.25), 7 * (grown - 0.25)).decision == "inconclusive"


def test_the_tasks_that_would_have_passed_are_the_fewest_at_which_the_limits_do() -> None:
    def decision(each: int) -> str:
        before_TR, after_TR = pairs(worse=each, better=each, same=11 * each)
        return non_inferior((before_TR - after_TR)[:, 0], alpha=BETA * LAST_LIMITS).decision

    tasks = needed(*pairs(worse=2, better=2, same=22)).tasks
    assert tasks is not None
    assert decision(tasks // 13) == "inconclusive"
    assert decision(tasks // 13 + 1) == "pass"
    assert needed(np.ones((20, 3)), np.ones((20, 3))).tasks == 27


def test_no_number_of_tasks_passes_a_drop_of_the_margin() -> None:
    assert needed(*pairs(worse=20, better=10, same=70)).tasks is None


def test_an_estimate_keeps_its_limits_at_their_own_level_and_widens_them_at_a_stricter_one() -> None:
    found = Estimate(0.1, 0.02, 0.2)
    assert at_level(found, 0.025).limits == pytest.approx((0.02, 0.2))
    assert at_level(found, 0.0125).limits == pytest.approx((0.1 - 0.08 * 1.143603, 0.1 + 0.1 * 1.143603), abs=1e-6)
    assert at_level(Estimate(0.1)) == Estimate(0.1)


def simulated(drop_logits: float) -> tuple[dict[str, float], float]:
    """2,000 gates at 100 tasks about a score of .65, before and after a drop of the logits of all tasks."""
    rng = np.random.default_rng(7)
    logit_NT = 1.2365 + rng.normal(0, 2.6926, (2_000, 100))
    chances = (1 / (1 + np.exp(-logit_NT)), 1 / (1 + np.exp(drop_logits - logit_NT)))
    before_NTR, after_NTR = ((rng.random((2_000, 100, 3)) < chance[..., None]).astype(float) for chance in chances)
    found = [watched(before_TR, after_TR) for before_TR, after_TR in zip(before_NTR, after_NTR, strict=True)]
    shares = {name: sum(one.decision == name for one in found) / 2_000 for name in ORDER}
    return shares, sum(one.used for one in found) / 200_000


def test_2000_simulated_gates_raise_few_false_alarms() -> None:
    shares, repeats = simulated(0.0)
    assert shares["fail"] <= 0.04
    assert shares["pass"] >= 0.9
    assert repeats <= 1.4


def test_2000_simulated_gates_find_a_drop_of_ten_points() -> None:
    shares, repeats = simulated(0.8334)
    assert shares["fail"] >= 0.84
    assert shares["pass"] <= 0.08
    assert repeats <= 1.6


def test_2000_simulated_gates_hardly_ever_pass_a_drop_of_twenty_points() -> None:
    assert simulated(1.6395)[0]["pass"] <= 0.005
