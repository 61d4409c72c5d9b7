"""Families and designs: the same seed gives the same matrix, and each design holds what it promises."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from pathlib import Path

import pytest
import yaml

from harness_eval.balance import SAYS, balance
from harness_eval.design import Design, pairs, plan_harnesses
from harness_eval.errors import ConfigError
from harness_eval.family import Family, load_family, named_families, whole_family
from harness_eval.harness import Harness, canonical

DEMO = load_family("demo")
PINNED = [("keep", "one-line"), ("drop", "one-line"), ("last", "short")]
MATRICES = {
    "canonical": "a20663cb",
    "one-at-a-time": "60ff57fe",
    "random": "96c2d366",
    "orthogonal": "1f6c1055",
    "smoke": "44fc5578",
    "standard": "1f6c1055",
    "family": "da11c638",
}  # of the family standard under seed 7; a covering design is another library's
KINDS = ["canonical", "one-at-a-time", "random", "covering", "orthogonal", "smoke", "standard", "family"]


def _levels(harnesses: tuple[Harness, ...], axis: str) -> Counter[str]:
    return Counter(harness.labels[axis] for harness in harnesses)


@pytest.mark.parametrize("kind", KINDS)
def test_one_seed_gives_one_matrix_with_the_canonical_harness_first(kind: str) -> None:
    design = Design.model_validate({"kind": kind})
    plan = plan_harnesses(DEMO, design, 7)
    assert plan == plan_harnesses(DEMO, design, 7)
    assert plan.harnesses[0] == canonical()
    assert len({harness.id for harness in plan.harnesses}) == len(plan.harnesses)
    assert len({harness.name for harness in plan.harnesses}) == len(plan.harnesses)


@pytest.mark.parametrize("kind", ["random", "covering", "orthogonal", "smoke", "standard", "family"])
def test_another_seed_gives_another_matrix(kind: str) -> None:
    design = Design.model_validate({"kind": kind})
    one, other = (plan_harnesses(DEMO, design, seed) for seed in (1, 2))
    assert {harness.id for harness in one.harnesses} != {harness.id for harness in other.harnesses}


def test_the_whole_matrix_of_a_seed_never_changes() -> None:
    told = {}
    for kind in MATRICES:
        plan = plan_harnesses(load_family("standard"), Design.model_validate({"kind": kind}), 7)
        told[kind] = hashlib.sha256(" ".join([h.id for h in plan.harnesses] + list(plan.sampled)).encode()).hexdigest()
    assert {kind: digest[:8] for kind, digest in told.items()} == MATRICES


def test_the_matrix_of_a_seed_never_changes() -> None:
    axes = {"thinking": ["keep", "drop", "last"], "prompt": ["short", "one-line", "handbook"]}
    family = Family.model_validate({"name": "fixed", "axes": axes})
    drawn = plan_harnesses(family, Design(kind="random", size=4), 0).harnesses[1:]
    assert [(h.labels["thinking"], h.labels["prompt"]) for h in drawn] == PINNED


def test_an_orthogonal_array_shows_each_pair_of_levels_equally_often() -> None:
    plan = plan_harnesses(DEMO, Design(kind="orthogonal", array="L18(6^1 3^6)"), 3)
    assert len(plan.harnesses) == 18
    for first, second in itertools.combinations(DEMO.axes, 2):
        seen = Counter((h.labels[first], h.labels[second]) for h in plan.harnesses)
        wide = max(len(_levels(plan.harnesses, axis)) for axis in (first, second))
        assert len(seen) == len(_levels(plan.harnesses, first)) * len(_levels(plan.harnesses, second))
        assert wide > 3 or set(seen.values()) == {2}


def test_standard_is_the_array_of_thirty_two_with_the_canonical_repeated() -> None:
    plan = plan_harnesses(DEMO, Design(kind="standard"), 0)
    assert (len(plan.harnesses), plan.canonical_repeats, plan.sampled) == (32, 3, ())


def test_only_the_random_part_of_a_family_design_counts_as_sampled() -> None:
    plan = plan_harnesses(DEMO, Design(kind="family"), 0)
    assert len(plan.sampled) == 32
    assert len(plan.harnesses) > 60


@pytest.mark.parametrize("family", [DEMO, whole_family()], ids=lambda family: family.name)
def test_a_covering_design_covers_every_possible_pair(family: Family) -> None:
    plan = plan_harnesses(family, Design(kind="covering"), 0)
    assert not plan.impossible
    covered = {
        ((first, harness.levels[first]), (second, harness.levels[second]))
        for harness in plan.harnesses
        for first, second in itertools.combinations(family.axes, 2)
    }
    assert set(pairs(family)) <= covered


def test_a_drawn_harness_that_the_array_holds_too_counts_as_sampled_once() -> None:
    axes = {"thinking": ["keep", "drop", "last"], "prompt": ["short", "one-line", "handbook"]}
    plan = plan_harnesses(Family.model_validate({"name": "small", "axes": axes}), Design(kind="family"), 0)
    assert len(plan.harnesses) == 9
    assert plan.sampled == tuple(harness.name for harness in plan.harnesses[1:])


def test_one_at_a_time_changes_one_axis_of_the_canonical_harness() -> None:
    reference = canonical().labels
    for harness in plan_harnesses(DEMO, Design(kind="one-at-a-time"), 0).harnesses[1:]:
        assert sum(label != reference[axis] for axis, label in harness.labels.items() if axis in DEMO.axes) == 1


def test_weights_rule_random_designs() -> None:
    family = Family.model_validate(
        {
            "name": "w",
            "axes": {
                "truncation": ["middle", "tail", "whole"],
                "thinking": ["keep", "drop"],
                "prompt": ["short", "one-line"],
            },
            "weights": {"truncation": [0, 1, 0]},
        }
    )
    plan = plan_harnesses(family, Design(kind="random", size=4), 0)
    assert {harness.labels["truncation"] for harness in plan.harnesses[1:]} == {"tail"}


def test_a_small_family_gives_no_more_than_it_has() -> None:
    family = Family.model_validate({"name": "tiny", "axes": {"thinking": ["keep", "drop"]}})
    assert len(plan_harnesses(family, Design(kind="random", size=16), 0).harnesses) == 2


def test_levels_without_a_place_in_the_array_are_named() -> None:
    family = Family.model_validate(
        {"name": "f", "axes": {"protocol": ["native", "fenced-bash"], "toolset": ["shell-and-editor", "shell-only"]}}
    )
    plan = plan_harnesses(family, Design(kind="orthogonal"), 0)
    assert any("fenced-bash" in note for note in plan.notes)


@pytest.mark.parametrize(
    ("axes", "exclude", "stays", "goes"),
    [
        (
            {"results": ["tool-message", "user-message"], "thinking": ["keep", "drop"], "protocol": ["native"]},
            [],
            ("results", "tool-message"),
            ("results", "user-message"),
        ),
        (
            {"thinking": ["keep", "drop", "last"], "planning": ["unplanned", "todo", "plan-first"]},
            [{"thinking": "keep", "planning": "todo"}],
            ("thinking", "keep"),
            ("planning", "todo"),
        ),
    ],
    ids=["general-rule", "own-rule"],
)
def test_an_array_keeps_the_canonical_level_and_leaves_out_what_clashes_with_it(
    axes: dict[str, list[str]], exclude: list[dict[str, str]], stays: tuple[str, str], goes: tuple[str, str]
) -> None:
    family = Family.model_validate({"name": "f", "axes": axes, "exclude": exclude})
    plan = plan_harnesses(family, Design(kind="orthogonal"), 0)
    counted = {axis: _levels(plan.harnesses, axis) for axis in axes}
    assert counted[stays[0]][stays[1]] > 1
    assert goes[1] not in counted[goes[0]]
    assert any(f"{goes[0]} {goes[1]} left out" in note for note in plan.notes)
    assert not plan.impossible
    assert len(plan.harnesses) > 1


def test_an_array_that_has_no_room_for_anything_is_refused_with_the_reason() -> None:
    axes = {"protocol": ["native", "json-text"], "results": ["tool-message", "user-message"]}
    family = Family.model_validate({"name": "tied", "axes": axes})
    with pytest.raises(ConfigError, match=r"tied: an array has no room .*tool role.*covering"):
        plan_harnesses(family, Design(kind="orthogonal"), 0)


@pytest.mark.parametrize("name", [*named_families(), "everything"])
def test_every_bundled_family_can_be_laid_out(name: str) -> None:
    assert len(plan_harnesses(load_family(name), Design(kind="smoke"), 0).harnesses) == 8


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("axes: {truncatio: [head]}", "did you mean 'truncation'"),
        ("axes: {truncation: head}", "a list of levels"),
        ("axes: {truncation: [hed]}", "did you mean 'head'"),
        ("axes: {}", "axes"),
        ("axes: {truncation: [head]}\nweights: {truncation: [1]}", "weights.truncation: 2 numbers"),
    ],
)
def test_a_wrong_family_file_is_refused_with_the_key(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "family.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_family(path)
    assert str(path) in str(caught.value)
    assert message in str(caught.value)


def test_balance_counts_levels_and_pairs() -> None:
    found = balance(DEMO, plan_harnesses(DEMO, Design(kind="covering"), 0).harnesses)
    assert found.covered == found.possible == len(list(pairs(DEMO)))
    assert set(found.counts) == set(DEMO.axes)
    alone = balance(DEMO, [canonical()])
    assert alone.covered == len(DEMO.axes) * (len(DEMO.axes) - 1) // 2
    assert alone.counts["thinking"] == {"keep": 1}


def test_every_kind_of_design_says_what_it_can_say() -> None:
    assert set(SAYS) == set(KINDS)


def test_a_family_can_leave_out_a_pair_of_its_own() -> None:
    pair = {"thinking": "drop", "planning": "todo", "reason": "we never ship that"}
    family = Family.model_validate({**DEMO.spec(), "exclude": [pair]})
    for kind in ("random", "covering"):
        for harness in plan_harnesses(family, Design.model_validate({"kind": kind}), 0).harnesses:
            assert (harness.thinking.level_name(), harness.planning.level_name()) != ("drop", "todo")
    assert any("we never ship that" in note for note in plan_harnesses(family, Design(), 0).notes)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ({"thinking": "drop"}, "two axes are wanted"),
        ({"thinking": "drop", "plannin": "todo"}, "did you mean 'planning'"),
        ({"thinking": "drop", "planning": "todoo"}, "did you mean 'todo'"),
        ({"thinking": "keep", "planning": "unplanned"}, "the canonical harness is always run"),
    ],
)
def test_a_pair_that_is_not_in_the_family_is_refused(tmp_path: Path, pair: dict[str, str], message: str) -> None:
    path = tmp_path / "family.yaml"
    path.write_text(yaml.safe_dump({**DEMO.spec(), "exclude": [pair]}))
    with pytest.raises(ConfigError, match=message):
        load_family(path)


def test_a_size_is_refused_where_it_would_be_ignored() -> None:
    with pytest.raises(ValueError, match="only a random design has one"):
        Design(kind="orthogonal", size=5)
