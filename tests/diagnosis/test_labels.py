"""The vocabulary of failures, against the page that it follows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness_eval.diagnosis.labels import LABELS, boundary_of, found

_ROW = re.compile(r"^\| `([a-z]+\.[a-z_0-9]+)` \| (\w+) \| (\w+) \|", re.MULTILINE)
_OURS = {"infra.access_refused", "infra.address_unknown"}  # the page has no name for these


def test_every_label_of_the_page_has_its_owner_and_effect(shared: Path) -> None:
    rows = {name: (owner, effect) for name, owner, effect in _ROW.findall((shared / "facts/labels.md").read_text())}
    assert {name: (label.owner, label.effect) for name, label in LABELS.items() if name not in _OURS} == rows


@pytest.mark.parametrize("name", LABELS)
def test_every_label_means_something(name: str) -> None:
    assert LABELS[name].meaning


def test_an_owner_named_by_the_evidence_overrides_the_usual_one() -> None:
    assert (
        found("limit.output_tokens_in_call").owner,
        found("limit.output_tokens_in_call", owner="serving").owner,
    ) == (
        "harness",
        "serving",
    )


def test_model_and_undetermined_are_no_boundary_that_loses_a_trial() -> None:
    assert [boundary_of(owner) for owner in ("model", "undetermined", "none", "provider")] == [None] * 3 + ["endpoint"]
