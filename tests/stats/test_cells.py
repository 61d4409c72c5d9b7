from __future__ import annotations

import numpy as np
import pytest

from harness_eval.stats.cells import additive_fit, cell_means, judged_columns
from tests.stats.tables import REFERENCE


def test_a_lost_trial_is_missing_and_never_a_zero() -> None:
    score = np.array([[[1.0, 0.0]]])
    cells = cell_means(score, np.array([[[True, False]]]))
    assert cells.mean_TH[0, 0] == 1
    assert (cells.planned_TH[0, 0], cells.judged_TH[0, 0]) == (2, 1)
    assert cells.any_lost


def test_padding_is_neither_planned_nor_lost() -> None:
    cells = cell_means(np.array([[[1.0, np.nan]]]), np.array([[[True, False]]]))
    assert cells.planned_TH[0, 0] == 1
    assert not cells.any_lost


def test_a_cell_without_a_judged_trial_has_no_mean() -> None:
    cells = cell_means(np.zeros((1, 2, 1)), np.array([[[True], [False]]]))
    assert np.isnan(cells.mean_TH[0, 1])
    assert judged_columns(cells.mean_TH).tolist() == [0]


def test_lost_trials_can_be_given_any_score() -> None:
    cells = cell_means(np.array([[[1.0, 0.0], [0.0, np.nan]]]), np.array([[[True, False], [False, False]]]))
    assert cells.filled(np.array([0.0, 1.0])).tolist() == [[0.5, 1.0]]


@pytest.mark.parametrize("score", [1.5, -0.1, np.nan])
def test_a_judged_score_outside_the_scale_is_refused(score: float) -> None:
    with pytest.raises(ValueError, match="judged score"):
        cell_means(np.full((1, 1, 1), score), np.ones((1, 1, 1), dtype=bool))


def test_arrays_of_different_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="task x harness x repeat"):
        cell_means(np.zeros((2, 2, 1)), np.ones((2, 1, 1), dtype=bool))


def test_without_missing_cells_the_additive_fit_gives_plain_means() -> None:
    fit = additive_fit(REFERENCE)
    np.testing.assert_allclose(fit.harness_H, REFERENCE.mean(axis=0))
    np.testing.assert_allclose(fit.task_T, REFERENCE.mean(axis=1) - REFERENCE.mean())
    np.testing.assert_allclose(fit.effective_H, 12)


def test_an_additive_table_is_recovered_from_half_of_its_cells() -> None:
    rng = np.random.default_rng(3)
    task_T, harness_H = rng.normal(0, 0.1, 40), np.linspace(0.3, 0.7, 6)
    table = task_T[:, None] + harness_H
    holes = np.where(rng.random(table.shape) < 0.5, np.nan, table)
    fit = additive_fit(holes)
    np.testing.assert_allclose(np.diff(fit.harness_H), np.diff(harness_H), atol=1e-6)
    assert fit.residual_variance == pytest.approx(0, abs=1e-10)


def test_easy_tasks_lost_by_one_harness_do_not_make_it_look_worse() -> None:
    table = np.repeat([[1.0], [0.0]], 20, axis=0) * np.ones((1, 4))
    table[:20:2, 0] = np.nan
    table[1, 1] = 0.0
    assert np.nanmean(table[:, 0]) < 0.4
    assert additive_fit(table).harness_H[0] == pytest.approx(0.5, abs=0.01)


def test_a_harness_without_any_cell_cannot_be_fitted() -> None:
    with pytest.raises(ValueError, match="no judged cell"):
        additive_fit(np.array([[1.0, np.nan], [0.0, np.nan]]))
