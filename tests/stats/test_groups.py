"""Tasks in groups: every interval takes the group as the unit of sampling."""

from __future__ import annotations

import numpy as np
import pytest

from harness_eval.stats.effects import axis_effects
from harness_eval.stats.estimate import Array
from harness_eval.stats.floor import ceiling, lower_limits
from harness_eval.stats.groups import Groups, freedom, squared_errors
from harness_eval.stats.intervals import mean_and_error, mean_over_tasks
from harness_eval.stats.paired import contrasts, simultaneous, worst_set
from harness_eval.stats.spread import jackknife_interval, mean_of_family, mean_of_tested, spread
from harness_eval.stats.summary import Origin, Summary, summarise
from harness_eval.stats.worst import logit_summary
from tests.stats.tables import coin_flips, study

ONE_EACH = Groups(np.arange(60))  # groups in name only: every formula must give what it gives without any
COPIES = 4


def copied(table: Array) -> tuple[Array, Groups]:
    """Each task several times over: as much data, no more knowledge."""
    return np.repeat(table, COPIES, axis=0), Groups(np.repeat(np.arange(len(table)), COPIES))


def width(limits: tuple[float, float] | None) -> float:
    assert limits is not None
    return limits[1] - limits[0]


def levels_of(harnesses: int) -> list[dict[str, str]]:
    return [{"protocol": "json" if h % 2 else "native"} for h in range(harnesses)]


def summary_of(table: Array, origin: Origin) -> Summary:
    valid = np.ones((*table.shape, 1), dtype=bool)
    return origin.summarise(table[:, :, None], valid, 0, levels_of(table.shape[1]), seed=1)


def test_groups_are_numbered_by_name_and_none_stands_for_no_two_alike() -> None:
    found = Groups.of(["b", "a", "b"])
    assert found is not None
    assert found.member_T.tolist() == [0, 1, 0]
    assert Groups.of(["a", "b"]) is None
    assert Groups.of(None) is None
    assert found.rows(np.array([False, True, True])).member_T.tolist() == [1, 0]


def test_a_group_of_its_own_for_each_task_changes_nothing() -> None:
    table = study(np.linspace(-1, 1, 8), 60, 3)
    rng = np.random.default_rng
    assert mean_over_tasks(table[:, 0], ONE_EACH).limits == pytest.approx(mean_over_tasks(table[:, 0]).limits)
    assert lower_limits(table)[0] == pytest.approx(lower_limits(table, ONE_EACH)[0], abs=0.005)  # t instead of normal
    assert mean_of_tested(table, ONE_EACH).limits == pytest.approx(mean_of_tested(table).limits)
    assert mean_of_family(table, ONE_EACH).limits == pytest.approx(mean_of_family(table).limits)
    assert spread(table, ONE_EACH).net.limits == pytest.approx(spread(table).net.limits)
    assert worst_set(table, rng(0), ONE_EACH) == worst_set(table, rng(0))
    assert ceiling(table, [0, 1], rng(0)) == pytest.approx(ceiling(table, [0, 1], rng(0), ONE_EACH), abs=0.005)
    plain, grouped = logit_summary(table), logit_summary(table, ONE_EACH)
    assert plain is not None
    assert grouped is not None
    np.testing.assert_allclose(grouped.variance_H, plain.variance_H)
    assert grouped.common == pytest.approx(plain.common)


def test_copies_of_tasks_add_no_certainty() -> None:
    table = study(np.linspace(-0.5, 0.5, 6), 60, 1)
    many, groups = copied(table)
    once, again = mean_over_tasks(table[:, 0]), mean_over_tasks(many[:, 0], groups)
    assert width(again.limits) == pytest.approx(width(once.limits), rel=0.01)
    assert width(mean_over_tasks(many[:, 0]).limits) == pytest.approx(width(once.limits) / 2, rel=0.05)
    assert width(mean_of_tested(many, groups).limits) == pytest.approx(width(mean_of_tested(table).limits), rel=0.01)
    one, other = logit_summary(table), logit_summary(many, groups)
    assert one is not None
    assert other is not None
    np.testing.assert_allclose(other.variance_H, one.variance_H, rtol=0.15)
    assert other.common == pytest.approx(one.common, rel=0.1)


def test_copies_of_tasks_add_no_certainty_to_differences_either() -> None:
    table = study(np.linspace(-0.5, 0.5, 6), 60, 1)
    many, groups = copied(table)
    plain = simultaneous(table[:, 1:] - table[:, :1], np.random.default_rng(0)).difference_K
    grouped = simultaneous(many[:, 1:] - many[:, :1], np.random.default_rng(0), groups).difference_K
    for one, other in zip(plain, grouped, strict=True):
        assert width(other.limits) == pytest.approx(width(one.limits), rel=0.08)
    levels = levels_of(6)
    one, other = (axis_effects(t, levels, levels[0], g).levels[0].effect for t, g in ((table, None), (many, groups)))
    assert width(other.limits) == pytest.approx(width(one.limits), rel=0.08)


def test_the_spread_of_copied_tasks_is_that_of_the_tasks() -> None:
    table = study(np.linspace(-1, 1, 10), 80, 2)
    many, groups = copied(table)
    once, again = spread(table), spread(many, groups)
    assert once.net.estimate is not None
    assert again.net.estimate == pytest.approx(once.net.estimate, rel=0.01)
    assert again.net.limits == pytest.approx(once.net.limits, rel=0.01)
    assert again.p_harness == pytest.approx(once.p_harness, rel=0.2)
    naive = spread(many).net.estimate
    assert naive is not None
    assert naive > once.net.estimate


def test_the_jackknife_over_groups_of_one_is_that_over_tasks() -> None:
    table = study(np.linspace(-1, 1, 6), 60, 3)
    assert jackknife_interval(0.01, table, ONE_EACH).limits == pytest.approx(jackknife_interval(0.01, table).limits)


def test_fewer_than_five_groups_have_no_interval_anywhere() -> None:
    found = summary_of(study(np.zeros(6), 80, 1), Origin(groups=[task % 4 for task in range(80)]))
    assert (found.tasks, found.groups) == (80, 4)
    assert found.worst.score.estimate is not None
    estimates = [found.worst.score, found.mean, found.mean_family, found.spread.net, found.gap, found.canonical]
    assert all(estimate.limits is None for estimate in estimates)
    assert found.floor.estimate is None
    assert found.ceiling.estimate is None
    assert all(h.difference.limits is None for h in found.harnesses)
    assert {h.verdict for h in found.harnesses[1:]} == {"unclear"}
    assert all(effect.effect.limits is None for effect in found.effects.levels)
    assert any("fewer than 5 groups" in note for note in found.notes)


def test_groups_are_counted_and_said() -> None:
    found = summary_of(study(np.zeros(6), 80, 1), Origin(groups=[task // 4 for task in range(80)]))
    assert found.groups == 20
    assert "tasks come in 20 groups, which are the units of sampling" in found.notes
    assert found.worst.score.limits is not None


def test_without_an_origin_every_task_stands_alone() -> None:
    table = study(np.zeros(6), 40, 1)
    named = summary_of(table, Origin(groups=list(range(40))))
    assert named == summarise(table[:, :, None], np.ones((40, 6, 1), dtype=bool), 0, levels_of(6), seed=1)
    assert named.groups == 40


def test_a_group_for_each_task_is_needed() -> None:
    with pytest.raises(ValueError, match="40 tasks, 3 of them with a group"):
        summary_of(coin_flips(0, (40, 4)), Origin(groups=["a", "b", "b"]))


def test_missing_cells_count_in_the_size_of_their_group() -> None:
    table = coin_flips(0, (40, 1))
    table[::3] = np.nan
    groups = Groups(np.arange(40) // 4)
    present_T = ~np.isnan(table[:, 0])
    assert freedom(present_T, groups) == freedom(np.ones(present_T.sum(), dtype=bool), groups.rows(present_T))
    mean, error = mean_and_error(table[:, 0], groups)
    rest_TK = (table[present_T] - mean, np.ones((present_T.sum(), 1), dtype=bool))
    assert error**2 == pytest.approx(squared_errors(*rest_TK, groups.rows(present_T))[0])


def test_a_contrast_within_few_groups_has_no_limits() -> None:
    table = coin_flips(1, (60, 2)) - coin_flips(2, (60, 1))
    table[24:, 1] = np.nan
    found = contrasts(table, Groups(np.arange(60) // 6))
    assert found.enough_K.tolist() == [True, False]


def test_only_harnesses_drawn_at_random_speak_for_the_family() -> None:
    table = study(np.concatenate([np.full(6, 2.0), np.linspace(-1, 1, 10)]), 100, 1)
    drawn = list(range(6, 16))
    found, alone = summary_of(table, Origin(sampled=drawn)), summary_of(table[:, 6:], Origin())
    assert (found.sampled, alone.sampled) == (10, None)
    assert found.mean_family == alone.mean_family
    assert found.spread.family == alone.spread.family
    assert found.spread.net != alone.spread.net
    assert found.worst_at_8.estimate == pytest.approx(alone.worst_at_8.estimate, abs=0.02)
    few = summary_of(table, Origin(sampled=[]))
    assert few.mean_family.estimate is None
    assert few.spread.family.estimate is None
    assert few.worst_at_8.estimate is not None


def test_a_difference_comes_with_the_smallest_one_that_would_be_found() -> None:
    found = summary_of(study(np.zeros(6), 80, 1), Origin()).harnesses
    assert found[0].detectable is None
    for harness in found[1:]:
        assert harness.detectable is not None
        assert harness.difference.high is not None
        assert harness.difference.estimate is not None
        assert harness.detectable > harness.difference.high - harness.difference.estimate
    assert summary_of(coin_flips(0, (15, 4)), Origin()).harnesses[1].detectable is None
