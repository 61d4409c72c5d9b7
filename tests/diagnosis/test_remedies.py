"""Remedies: whoever meets a label that costs something is told what to do about it."""

from __future__ import annotations

import pytest

from harness_eval.diagnosis.labels import LABELS
from harness_eval.diagnosis.remedies import REMEDIES, remedy

COSTLY = [name for name, label in LABELS.items() if label.effect in ("config_abort", "reported_separately", "excluded")]


@pytest.mark.parametrize("name", [*COSTLY, *(name for name in LABELS if name.startswith(("infra.", "limit.")))])
def test_every_label_that_is_not_simply_the_models_has_a_remedy(name: str) -> None:
    assert remedy(name)


def test_every_remedy_belongs_to_a_label_and_is_part_of_one_line() -> None:
    assert set(REMEDIES) <= set(LABELS)
    assert all("\n" not in told and not told.endswith(".") and len(told) < 140 for told in REMEDIES.values())


def test_what_is_tolerated_or_unknown_has_no_remedy() -> None:
    assert [remedy(name) for name in ("serving.index_missing", "of.another_version")] == ["", ""]
