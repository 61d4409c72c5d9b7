from __future__ import annotations

import numpy as np
import pytest

from harness_eval.stats.cells import Cells, cell_means
from harness_eval.stats.estimate import UNKNOWN, Array, Estimate
from harness_eval.stats.verdicts import Margins, compare_to_canonical, judge, stand_out
from tests.stats.tables import coin_flips


def cells_of(table: Array, lost: Array | None = None) -> Cells:
    valid = np.ones(table.shape, dtype=bool) if lost is None else ~lost.astype(bool)
    return cell_means(table[:, :, None], valid[:, :, None])


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (-0.09, 0.05, "compatible"),
        (-0.09, -0.01, "compatible"),
        (-0.30, -0.11, "broken"),
        (-0.30, -0.01, "degraded"),
        (-0.30, 0.05, "unclear"),
        (-0.10, 0.05, "unclear"),
    ],
)
def test_a_verdict_follows_from_the_interval_and_the_margin(low: float, high: float, verdict: str) -> None:
    assert judge(Estimate((low + high) / 2, low, high), 100).verdict == verdict


def test_an_unclear_verdict_says_how_many_more_tasks_would_decide() -> None:
    found = judge(Estimate(0.0, -0.2, 0.2), 100)
    assert (found.verdict, found.extra_tasks) == ("unclear", 300)


def test_more_tasks_are_never_promised_beyond_ten_times_as_many() -> None:
    assert judge(Estimate(-0.1, -0.3, 0.1), 100).extra_tasks == 900


def test_below_fifty_tasks_a_verdict_stays_unclear_however_large_the_drop() -> None:
    found = judge(Estimate(-0.9, -1.0, -0.6), 40)
    assert (found.verdict, found.extra_tasks) == ("unclear", 10)
    assert found.reason == "fewer than 50 common tasks"


def test_without_a_common_task_the_verdict_is_unclear() -> None:
    assert judge(UNKNOWN, 0).verdict == "unclear"


def test_canonical_is_not_compared_with_itself() -> None:
    found = compare_to_canonical(cells_of(coin_flips(0, (60, 3))), 1, 0)
    assert found[1].judgement is None
    assert found[1].difference == UNKNOWN
    assert found[0].judgement is not None


def test_a_harness_that_lost_over_a_tenth_of_its_cells_is_unsupported() -> None:
    lost = np.zeros((100, 2))
    lost[:11, 1] = 1
    judgement = compare_to_canonical(cells_of(np.ones((100, 2)), lost), 0, 0)[1].judgement
    assert judgement is not None
    assert judgement.verdict == "unsupported"
    assert judgement.reason == "a verdict exists in only 89 of 100 tasks"


def test_when_canonical_is_lost_the_others_are_unclear_rather_than_unsupported() -> None:
    lost = np.zeros((100, 2))
    lost[:, 0] = 1
    judgement = compare_to_canonical(cells_of(np.ones((100, 2)), lost), 0, 0)[1].judgement
    assert judgement is not None
    assert judgement.verdict == "unclear"


def test_a_verdict_that_lost_trials_could_change_is_withheld() -> None:
    table, lost = np.ones((100, 2)), np.zeros((100, 2))
    lost[:8, 1] = 1
    judgement = compare_to_canonical(cells_of(table, lost), 0, 0)[1].judgement
    assert judgement is not None
    assert (judgement.verdict, judgement.reason) == ("unclear", "lost trials could change the verdict")


def test_a_verdict_that_lost_trials_cannot_change_stands() -> None:
    table, lost = np.ones((100, 3)), np.zeros((100, 3))
    table[:, 2] = 0
    lost[:2, 1:] = 1
    found = [comparison.judgement for comparison in compare_to_canonical(cells_of(table, lost), 0, 0)[1:]]
    assert [judgement and judgement.verdict for judgement in found] == ["compatible", "broken"]


def test_trials_that_were_never_planned_are_not_lost() -> None:
    scores = np.ones((100, 2, 1))
    scores[30:, 1] = np.nan
    cells = cell_means(scores, ~np.isnan(scores))
    judgement = compare_to_canonical(cells, 0, 0)[1].judgement
    assert judgement is not None
    assert judgement.reason == "fewer than 50 common tasks"


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (-0.04, 0.02, "compatible"),
        (-0.09, 0.02, "unclear"),
        (-0.15, -0.06, "degraded"),
        (-0.30, -0.21, "broken"),
    ],
)
def test_between_two_margins_a_sure_drop_is_degraded(low: float, high: float, verdict: str) -> None:
    assert judge(Estimate((low + high) / 2, low, high), 100, Margins(0.05, 0.2)).verdict == verdict


def test_margins_by_which_one_drop_were_compatible_and_broken_are_refused() -> None:
    with pytest.raises(ValueError, match="compatible <= broken"):
        Margins(0.2, 0.1)


def test_what_stands_out_of_many_follows_the_published_rule_and_leaves_out_what_is_unknown() -> None:
    assert stand_out([0.5, None, 0.001, 0.06, 0.04]) == [False, False, True, True, True]
    assert stand_out([None]) == [False]
