from __future__ import annotations

import numpy as np
import pytest

from harness_eval.stats.estimate import UNKNOWN
from harness_eval.stats.intervals import clopper_pearson, mean_over_tasks, normal_quantile, score_interval, wilson

Z = normal_quantile(0.975)


@pytest.mark.parametrize(
    ("successes", "trials", "limits"),
    [
        (0, 10, (0, 0.277532799863)),
        (7, 10, (0.396778147461, 0.892208732594)),
        (65, 100, (0.552544432969, 0.736357517569)),
        (10, 10, (0.722467200137, 1)),
        (1, 50, (0.00353925927165, 0.104954435896)),
    ],
)
def test_wilson_limits_agree_with_r(successes: int, trials: int, limits: tuple[float, float]) -> None:
    assert wilson(successes / trials, trials, Z) == pytest.approx(limits, abs=1e-11)


@pytest.mark.parametrize(
    ("successes", "trials", "limits"),
    [
        (0, 10, (0, 0.308497107819)),
        (7, 10, (0.347547149940, 0.933260488822)),
        (65, 100, (0.548150638176, 0.742706221469)),
        (10, 10, (0.691502892181, 1)),
    ],
)
def test_exact_limits_agree_with_r(successes: int, trials: int, limits: tuple[float, float]) -> None:
    assert clopper_pearson(successes, trials) == pytest.approx(limits, abs=1e-11)


def test_a_mean_at_the_ceiling_keeps_a_width() -> None:
    found = mean_over_tasks(np.ones(40))
    assert found.estimate == 1
    assert found.high == 1
    assert found.low is not None
    assert 0.85 < found.low < 0.95


def test_fewer_than_twenty_tasks_give_a_point_without_limits() -> None:
    assert score_interval(0.5, 0.1, 19).limits is None
    assert score_interval(0.5, 0.1, 20).limits is not None


def test_limits_in_the_middle_are_nearly_those_of_the_t_interval() -> None:
    found = score_interval(0.5, 0.05, 100)
    assert found.limits == pytest.approx((0.5 - 1.984 * 0.05, 0.5 + 1.984 * 0.05), abs=0.003)


def test_missing_tasks_do_not_count_and_no_task_is_unknown() -> None:
    assert mean_over_tasks(np.array([1.0, np.nan, 0.0])).estimate == 0.5
    assert mean_over_tasks(np.array([np.nan])) == UNKNOWN
