from __future__ import annotations

from math import ceil

import numpy as np
import pytest
from scipy import stats
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests

from harness_eval.stats.betabinomial import fit_likelihood, fit_moments, log_likelihood
from harness_eval.stats.contingency import (
    cochran_mantel_haenszel,
    cochran_mantel_haenszel_exact,
    cochran_q,
    mcnemar,
    mcnemar_mid_p,
)
from harness_eval.stats.effects import holm
from harness_eval.stats.groups import Groups, clustered_error
from harness_eval.stats.intervals import clustered_mean
from harness_eval.stats.power import Noise, detectable_drop, tasks_needed, typical_noise

DIFFERENCES = np.array([1, 0, -1, 1, 0, 0, 1, -1, 0, 1, 1, 1, 0, 1, 0], dtype=float)
NAMES = [1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 4, 4, 5]
GROUPS = Groups.of(NAMES)
assert GROUPS is not None


@pytest.mark.parametrize(
    ("worse", "better", "p"),
    [(10, 2, 0.03857421875), (15, 5, 0.041389465332), (0, 5, 0.0625), (8, 8, 1.0), (25, 10, 0.0166738478001)],
)
def test_exact_mcnemar(worse: int, better: int, p: float) -> None:
    assert mcnemar(worse, better).p == pytest.approx(p)


@pytest.mark.parametrize(("worse", "better", "p"), [(10, 2, 0.0224609375), (15, 5, 0.0266036987305), (4, 4, 1.0)])
def test_mid_p_mcnemar(worse: int, better: int, p: float) -> None:
    assert mcnemar_mid_p(worse, better) == pytest.approx(p)


def test_mcnemars_chi_square_agrees_with_r() -> None:
    table_22 = [[0, 10], [2, 0]]
    plain, corrected = (statsmodels_mcnemar(table_22, exact=False, correction=c).pvalue for c in (False, True))
    assert (plain, corrected) == pytest.approx((0.0209213353378, 0.0433081428108))


def test_cochrans_q() -> None:
    table = np.array(
        [[int(digit) for digit in row] for row in ("1101", "1001", "1111", "0001", "1100", "1110")], dtype=float
    )
    found = cochran_q(table)
    assert found is not None
    assert (found.statistic, found.p) == pytest.approx((3.35294117647, 0.34034192801))


def test_cochrans_q_is_unknown_when_no_task_tells_harnesses_apart() -> None:
    assert cochran_q(np.repeat([[1.0], [0.0]], 3, axis=1)) is None


def test_cochran_mantel_haenszel() -> None:
    by_column = np.array([3, 1, 2, 4, 5, 0, 3, 2, 2, 2, 1, 4, 4, 1, 4, 1], dtype=float).reshape(4, 2, 2)
    found = cochran_mantel_haenszel(by_column.transpose(2, 1, 0))
    assert (found.statistic, found.p) == pytest.approx((3.36842105263, 0.0664574200169))
    assert cochran_mantel_haenszel_exact(by_column.transpose(2, 1, 0)) == pytest.approx(0.0875815346715)


def test_the_exact_test_of_one_table_is_fishers() -> None:
    table_22 = np.array([[8.0, 2.0], [1.0, 5.0]])
    assert cochran_mantel_haenszel_exact(table_22[:, :, None]) == pytest.approx(stats.fisher_exact(table_22).pvalue)


def test_holm_keeps_unknown_values_in_their_place() -> None:
    adjusted = holm([0.001, None, 0.008, 0.012, 0.04, 0.3, 0.7])
    assert adjusted[1] is None
    assert [p for p in adjusted if p is not None] == pytest.approx([0.006, 0.04, 0.048, 0.12, 0.6, 0.7])
    assert holm([None]) == [None]


def test_holm_and_benjamini_hochberg_of_the_library_agree_with_r() -> None:
    p_values = [0.001, 0.008, 0.012, 0.04, 0.3, 0.7]
    assert multipletests(p_values, method="holm")[1] == pytest.approx(holm(p_values))
    assert multipletests(p_values, method="fdr_bh")[1] == pytest.approx([0.006, 0.024, 0.024, 0.06, 0.36, 0.7])


def test_cluster_robust_errors_of_a_mean() -> None:
    found = clustered_error(DIFFERENCES, GROUPS)
    assert found.cr1 == pytest.approx(0.216595429885)
    assert found.cr2 == pytest.approx(0.227472661531)
    assert found.cr3 == pytest.approx(0.269009602825)
    assert found.freedom == pytest.approx(3.133020344)
    assert found.cr1 * (4 / 5) ** 0.5 == pytest.approx(0.193728841935)


def test_the_third_cluster_robust_error_is_the_librarys_but_for_its_small_sample_factor() -> None:
    fitted = OLS(DIFFERENCES, np.ones(15)).fit(cov_type="cluster-crv3", cov_kwds={"groups": np.array(NAMES)})
    assert fitted.bse[0] == pytest.approx(0.240609503)
    assert clustered_error(DIFFERENCES, GROUPS).cr3 * (4 / 5) ** 0.5 == pytest.approx(0.240609503)


def test_cluster_robust_interval_of_a_mean() -> None:
    assert clustered_mean(DIFFERENCES, GROUPS).limits == pytest.approx((-0.3735051169, 1.040171784))


def test_fewer_than_five_groups_give_no_interval() -> None:
    assert clustered_mean(DIFFERENCES, Groups(np.minimum(GROUPS.member_T, 3))).limits is None


def test_beta_binomial_moments() -> None:
    found = fit_moments(np.array([3, 7, 5, 9, 2, 6, 8, 4], dtype=float), 10)
    assert found is not None
    assert (found.mean, found.correlation) == pytest.approx((0.55, 0.158249158))
    assert found.shape == pytest.approx((2.925531915, 2.393617021))
    assert found.shrink(2, 10) == pytest.approx(0.321527778)


def test_beta_binomial_likelihood() -> None:
    passed = np.array([3, 7, 5, 9, 2, 6, 8, 4], dtype=float)
    found = fit_likelihood(passed, 10)
    assert found is not None
    assert (found.mean, found.correlation) == pytest.approx((0.55074, 0.11915), abs=5e-6)
    assert log_likelihood(found, passed, 10) == pytest.approx(-17.6053, abs=5e-5)
    assert fit_likelihood(np.array([10.0, 10.0]), 10) is None


def test_units_that_vary_less_than_chance_are_shrunken_to_their_mean() -> None:
    found = fit_moments(np.array([5.0, 5.0, 5.0]), 10)
    assert found is not None
    assert found.shape is None
    assert found.shrink(5, 10) == 0.5
    assert fit_moments(np.array([10.0, 10.0]), 10) is None


def test_sample_size_of_miller() -> None:
    assert tasks_needed(0.03, Noise(1 / 9)) == pytest.approx(968.997, abs=5e-4)
    assert ceil(tasks_needed(0.03, Noise(1 / 9))) == 969


def test_the_detectable_drop_inverts_the_sample_size() -> None:
    noise = typical_noise(3)
    assert detectable_drop(1, noise) > detectable_drop(100, noise)
    assert tasks_needed(detectable_drop(137, noise), noise) == pytest.approx(137)


def test_typical_noise_needs_841_tasks_for_five_points() -> None:
    assert tasks_needed(0.05, typical_noise(1)) == pytest.approx(841, rel=0.01)
