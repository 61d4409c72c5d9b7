"""Checks: what is refused, what is asked, and the verdict that follows."""

from __future__ import annotations

import itertools
import random
import re
from typing import Any

import pytest

from harness_eval.diagnosis.labels import LABELS
from harness_eval.errors import ConfigError
from harness_eval.gate.asked import Asked, look_order
from harness_eval.gate.checking import check
from harness_eval.gate.document import Check
from harness_eval.gate.kept import Snapshot
from tests.gate.sides import data, side, trials

GOOD, BAD = trials(0.8, 100, 5), trials(0.5, 100, 3, 1)


def found(before: Snapshot, after: Snapshot, **asked: Any) -> Check:
    return check(before, after, Asked(**asked))


def tasks(number: int, **changes: Any) -> list[dict[str, Any]]:
    return [{**task, **changes} for task in data(["1" * number])["tasks"]]


# what is refused


def endpoint(**changes: Any) -> dict[str, Any]:
    return {"endpoint": data(["1"])["endpoint"] | changes}


def settings(**changes: Any) -> dict[str, Any]:
    return endpoint(settings=data(["1"])["endpoint"]["settings"] | changes)


def harness(**changes: Any) -> dict[str, Any]:
    known = {"name": "canonical", "id": "id-canonical", "version": "1", "wire": "wire-canonical", "solved": GOOD}
    return {"harnesses": [known | changes]}


DIFFERENT = {
    "a task's content": ("suite", {"tasks": tasks(100, digest="f" * 64)}, "task-000 was 000000000000, is ffffffffffff"),
    "a task's name": ("suite", {"tasks": [{"name": "new"}, *tasks(100)[1:]]}, "task-000"),
    "an id": ("harness", harness(id="other"), "still version 1; id id-canonical -> other"),
    "a version": ("harness", harness(version="2"), "version 1 -> 2"),
    "a wire": ("harness", harness(wire="w"), "still version 1; wire wire-canonical -> w"),
    "a model": ("endpoint", endpoint(model="n"), "model m -> n"),
    "a setting": ("endpoint", settings(max_tokens=200), "max_tokens 100 -> 200"),
    "an inner setting": (
        "endpoint",
        settings(extra_body={"top_p": 1}),
        "extra_body.top_p unset -> 1",
    ),
    "a limit": ("limits", {"limits": {"steps": 30}}, "steps 60 -> 30"),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_differs_is_refused_with_both_values_and_accepted_by_a_flag(name: str) -> None:
    kind, changes, said = DIFFERENT[name]
    before, after = side(GOOD), side(GOOD, **changes)
    with pytest.raises(ConfigError) as caught:
        check(before, after)
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"differs from the baseline: {kind} (")
    assert str(caught.value).endswith(f"--changed {kind}")
    if name != "a task's content":  # all of them differ, so that nothing is left
        changed = found(before, after, changed=frozenset({kind})).changed
        assert [(each.kind, said in each.detail) for each in changed][:1] == [(kind, True)]


def test_a_harness_that_changed_is_told_by_its_version_first_and_its_hashes_in_short() -> None:
    before, after = (side(GOOD, **harness(version=name, id=name * 12, wire=name * 64)) for name in "12")
    with pytest.raises(ConfigError) as caught:
        check(before, after)
    told = f"version 1 -> 2; id {'1' * 12} -> {'2' * 12}; wire {'1' * 12} -> {'2' * 12}"
    assert str(caught.value).startswith(f"differs from the baseline: harness (canonical: {told})")


def test_another_serving_that_the_server_itself_names_is_refused() -> None:
    before, after = (side(GOOD, **endpoint(served_as=["model m", f"fingerprint {name}"])) for name in ("a", "b"))
    with pytest.raises(ConfigError, match="fingerprint a -> b"):
        check(before, after)


@pytest.mark.parametrize("served", [[], ["model m"], ["fingerprint a", "fingerprint b"]])
def test_a_serving_that_is_unknown_or_was_met_before_is_no_difference(served: list[str]) -> None:
    before, after = side(GOOD, **endpoint(served_as=["fingerprint a"])), side(GOOD, **endpoint(served_as=served))
    assert check(before, after).verdict == "pass"


def test_an_address_and_a_name_of_an_endpoint_are_no_difference() -> None:
    assert check(side(GOOD), side(GOOD, **endpoint(name="elsewhere"))).verdict == "pass"


def test_results_from_elsewhere_differ_in_nothing_that_they_do_not_know() -> None:
    unknown = {"name": "canonical", "solved": GOOD}
    names = [{"name": task["name"]} for task in tasks(100)]
    imported = side(
        GOOD, tasks=names, harnesses=[unknown], endpoint={"name": "m", "model": "m"}, limits={}, versions={}
    )
    assert check(side(GOOD), imported).verdict == "pass"
    assert any("knows no content of its tasks" in note for note in check(imported, side(GOOD)).notes)


def test_tasks_that_differ_are_left_out_of_an_accepted_check() -> None:
    after = side(GOOD, tasks=[*tasks(40, digest="f" * 64), *tasks(100)[40:]])
    accepted = found(side(GOOD), after, changed=frozenset({"suite"}))
    assert len(accepted.tasks) == 60
    assert accepted.decision is not None
    assert accepted.decision.pairs <= 60 * 3


def test_a_gated_harness_must_have_verdicts_in_the_baseline() -> None:
    with pytest.raises(ConfigError, match="no verdict of the harness 'canonical'"):
        check(side(["x" * 30]), side(["1" * 30]))
    with pytest.raises(ConfigError, match="the new run has no harness 'canonical'; choices: other"):
        check(side(GOOD), side({"other": GOOD}, canonical="other"))
    with pytest.raises(ConfigError, match="did you mean 'canonical'"):
        found(side(GOOD), side(GOOD), harness="canonica")
    with pytest.raises(ConfigError, match="name the gated one with --harness"):
        check(side({"a": GOOD, "b": GOOD}, canonical=None), side({"a": GOOD, "b": GOOD}, canonical=None))


# verdicts


def test_a_drop_fails_and_says_so_in_plain_words() -> None:
    told = check(side(GOOD), side(BAD))
    decision = told.decision
    assert (told.verdict, told.exit_code) == ("fail", 1)
    assert decision is not None
    assert (decision.gate, decision.by) == ("sprt", "discordant pairs")
    assert decision.repeats < 3
    assert told.said == (
        f"canonical: 79.6 % -> 42.3 % solved, {decision.worse} worse and {decision.better} better in {decision.pairs} "
        "pairs of the same task and repeat: it became worse"
    )
    assert told.flipped[0].chance > 0.9
    assert {"before_solved": 5, "before_trials": 5, "after_solved": 0}.items() <= told.flipped[0].model_dump().items()


def test_no_change_passes_and_needs_nothing_more() -> None:
    told = check(side(GOOD), side(trials(0.8, 100, 3, 2)))
    assert (told.verdict, told.exit_code) == ("pass", 0)
    assert told.decision is not None
    assert told.decision.needed == ""


def test_what_stays_unclear_warns_and_fails_a_release() -> None:
    before, after = side(GOOD), side(trials(0.76, 100, 1, 3))
    warned = check(before, after)
    assert (warned.verdict, warned.exit_code) == ("inconclusive", 0)
    assert warned.decision is not None
    assert "would have failed it" in warned.decision.needed
    released = found(before, after, release=True, margin=0.05)
    assert (released.verdict, released.exit_code) == ("inconclusive", 1)
    assert any("a release that changed nothing passes in" in note for note in released.notes)


def test_what_was_nearly_enough_is_never_called_enough() -> None:
    lines = ["1" * 22]
    told = found(side(lines), side(lines), gate="fixed", margin=0.1)
    assert told.verdict == "inconclusive"
    assert told.decision is not None
    assert "about 1.1 times as many trials would have passed it" in told.decision.needed


def test_missing_trials_leave_a_check_incomplete_and_decided_ones_do_not_need_them() -> None:
    order = look_order([f"task-{at:03d}" for at in range(100)], 0)
    first = {int(name.removeprefix("task-")) for name in order[:50]}
    half = ["".join("1" if at in first else "." for at in range(100)), "." * 100, "." * 100]
    stopped = check(side(["1" * 100] * 3), side(half))
    assert (stopped.verdict, stopped.exit_code) == ("incomplete", 3)
    assert "250 trials of 300 are missing" in stopped.said
    decided = check(side(["1" * 100] * 3), side([line.replace("1", "0") for line in half]))
    assert decided.verdict == "fail"


def test_more_lost_trials_than_accepted_leave_no_verdict() -> None:
    after = side(["x" * 15 + line[15:] for line in GOOD[:3]])
    lost = check(side(GOOD), after)
    assert (lost.verdict, lost.exit_code) == ("incomplete", 3)
    assert "15%, more than 10%" in lost.said
    assert lost.decision is not None
    assert lost.decision.needed == "", "the lost trials are needed, and no further pairs"
    assert len(lost.quarantined) == 15
    assert "lost trials could decide it" in check(side(GOOD), after, Asked(lost_limit=0.2)).said


def test_lost_trials_that_could_decide_it_leave_it_incomplete() -> None:
    before = ["1" * 15 + "0" * 15]
    after = ["0" * 6 + "x" * 3 + "1" * 6 + "0" * 15]
    told = check(side(before), side(after))
    assert (told.verdict, "3 lost trials could decide it" in told.said) == ("incomplete", True)
    assert check(side(before), side([after[0].replace("xxx", "1x1")])).verdict == "inconclusive"


def test_a_baseline_that_solved_nothing_is_told_to_gate_nothing() -> None:
    told = check(side(["0" * 100] * 5), side(["0" * 100]))
    assert "the baseline solved no trial of the harness canonical: nothing can become worse" in told.notes
    assert not any("nothing can become worse" in note for note in check(side(GOOD), side(GOOD)).notes)


def test_lost_trials_that_could_turn_a_pass_into_a_fail_leave_it_incomplete() -> None:
    before, after = side(["1" * 100] * 5), side(["x" * 9 + "1" * 91])
    for asked in (Asked(), Asked(gate="fixed", alpha=0.2), Asked(gate="e-process")):
        told = check(before, after, asked)
        assert (told.verdict, "9 lost trials could decide it" in told.said) == ("incomplete", True)
    assert found(before, after, release=True).verdict == "incomplete"
    assert found(before, side(["x" * 2 + "1" * 98])).verdict == "pass"
    assert found(side(["0" * 9 + "1" * 91] * 5), after).verdict == "pass", "they could only have become better"


def test_trials_lost_after_the_look_that_decided_take_nothing_back() -> None:
    order = look_order([task["name"] for task in tasks(100)], 0)
    worse = {int(name[-3:]) for name in order[:9]}
    line = "".join("0" if at in worse else "1" for at in range(100))
    stopped = "".join(line[at] if f"task-{at:03d}" in order[:25] else "." for at in range(100))
    late = "".join("x" if kept == "." else kept for kept in stopped)
    before = side(["1" * 100] * 3)
    for lines in ([stopped], [late], [stopped, "x" * 100], [late, late, "x" * 100], [line] * 3):
        told = check(before, side(lines))
        assert told.decision is not None
        assert (told.verdict, told.decision.worse, told.decision.pairs) == ("fail", 9, 25), told.said


@pytest.mark.parametrize("asked", [Asked(), Asked(gate="e-process")])
def test_a_check_that_stopped_early_ends_as_the_finished_run_does_whatever_was_lost(asked: Asked) -> None:
    for seed in range(5):
        dice = random.Random(seed)
        rate = dice.choice([0.02, 0.08])
        whole = ["".join("x" if dice.random() < rate else each for each in line) for line in trials(0.6, 40, 3, seed)]
        before, after = side(trials(0.75, 40, 5, seed + 100)), side(whole)
        order, done = look_order([task.name for task in after.tasks], 0), [["."] * 40 for _ in range(3)]
        for number, (repeat, name) in enumerate(itertools.product(range(3), order), 1):
            done[repeat][int(name[-3:])] = whole[repeat][int(name[-3:])]
            if number % 10:
                continue
            part = check(before, side(["".join(line) for line in done]), asked)
            if part.verdict in ("pass", "fail"):
                break
        finished = check(before, after, asked)
        assert (part.verdict, part.decision) == (finished.verdict, finished.decision)


@pytest.mark.parametrize("asked", [{"margin": 1e-9}, {"alpha": 5e-324}, {"alpha": 1e-17}])
def test_what_no_number_of_pairs_decides_is_said_in_words(asked: dict[str, float]) -> None:
    before, after = side(trials(0.6, 60, 3)), side(trials(0.6, 60, 3, 2))
    for gate in ("sprt", "e-process", "fixed"):
        told = found(before, after, gate=gate, **asked)
        assert told.decision is not None
        assert "inf" not in told.decision.needed
        assert told.verdict != "inconclusive" or told.decision.needed


def test_a_task_that_is_often_lost_is_quarantined_and_takes_no_part() -> None:
    before = side(["x" + line[1:] for line in GOOD])
    told = check(before, side(GOOD[:3]))
    assert [(each.task, each.lost, each.trials) for each in told.quarantined] == [("task-000", 5, 8)]
    assert told.decision is not None
    assert told.decision.pairs <= 99 * 3
    assert told.trials.most == 300


def test_a_check_in_which_every_task_is_quarantined_is_incomplete() -> None:
    before = side([*GOOD[:4], "x" * 100])
    assert "no pair of the same task" in check(before, side(GOOD[:3])).said


def test_a_gated_harness_that_cannot_run_any_more_fails_with_the_reason() -> None:
    after = side(GOOD, harnesses=[{"name": "canonical", "solved": [], "refused": "the server answered 400"}])
    told = check(side(GOOD), after)
    assert (told.verdict, told.decision) == ("fail", None)
    assert "cannot run at the endpoint any more: the server answered 400" in told.said


@pytest.mark.parametrize("gate", ["fixed", "e-process"])
def test_the_other_gates_see_a_drop_too(gate: Any) -> None:
    told = found(side(GOOD), side(BAD), gate=gate)
    assert told.verdict == "fail"
    assert told.decision is not None
    assert told.decision.gate == gate
    assert found(side(GOOD), side(GOOD[:3]), gate=gate).verdict == "pass"


def test_a_fixed_gate_waits_for_all_of_its_trials() -> None:
    assert found(side(GOOD), side([BAD[0][:-1] + "."]), gate="fixed").verdict == "incomplete"


def test_a_release_uses_all_repeats_and_a_narrow_margin_on_many_tasks() -> None:
    many = side(trials(0.9, 200, 5))
    told = found(many, side(trials(0.9, 200, 4, 5)), release=True)
    assert told.decision is not None
    assert (told.decision.gate, told.decision.margin, told.trials.most) == ("release", 0.05, 800)
    assert Asked(release=True).margin_of(199) == 0.10


def test_the_cap_is_lowered_to_the_baselines_repeats() -> None:
    told = check(side(GOOD[:2]), side(trials(0.76, 100, 3, 3)))
    assert told.decision is not None
    assert told.decision.cap == 2
    assert "at most 2 repeats and not 3, since the baseline has no more" in told.notes


def test_labels_that_grew_are_named_with_their_owner() -> None:
    def labelled(lines: list[str], share: int) -> Snapshot:
        has = "".join("1" if at < share else "." for at in range(100))
        labels = {"limit.context_overflow": [has] * len(lines), "odd": ["." * 100] * len(lines)}
        return side(lines, **harness(solved=lines, labels=labels))

    (label,) = check(labelled(GOOD, 2), labelled(BAD, 20)).grown
    assert (label.label, label.before, label.after, label.before_trials) == ("limit.context_overflow", 10, 60, 500)
    assert label.p < 1e-6
    assert label.owner == LABELS["limit.context_overflow"].owner
    assert check(labelled(GOOD, 20), labelled(BAD, 20)).grown == ()


def test_names_from_elsewhere_cannot_steer_whoever_reads_a_check() -> None:
    name = "can\n::error::\x1b[31m" + "a" * 100
    lines = {name: GOOD, "b": GOOD[:1]}
    told = check(side(lines, canonical=name), side({**lines, "c\r": GOOD[:1]}, canonical=name))
    for text in (told.said, *told.notes):
        assert text.isprintable()
        assert len(text) < 300
    with pytest.raises(ConfigError) as caught:
        check(side(lines, canonical=name), side(lines, canonical=name, name="\x1b", limits={"steps": 1}))
    assert str(caught.value).isprintable()


# worst and spread


def test_a_harness_that_broke_fails_worst_and_spread_though_the_gated_one_is_as_before() -> None:
    whole = {"canonical": GOOD, **{f"h{number}": trials(0.8, 100, 1, number) for number in range(6)}}
    broken = {**whole, "h3": trials(0.2, 100, 1, 9)}
    told = check(side(whole), side(broken))
    assert {each.asked: each.verdict for each in told.questions} == {
        "canonical": "pass",
        "worst": "fail",
        "spread": "fail",
    }
    assert (told.verdict, told.exit_code) == ("fail", 1)
    assert told.said.startswith("the worst harness: ")
    assert re.search(r"it became worse, most under h3 \([\d.]+ % to [\d.]+ %\);", told.said)
    assert found(side(whole), side(broken), matrix=False).verdict == "pass"
    assert "fail" not in {each.verdict for each in check(side(whole), side(whole)).questions}


def test_harnesses_of_one_side_are_left_out_of_worst_and_spread() -> None:
    one, other = {"canonical": GOOD, "a": GOOD[:1], "b": GOOD[:1]}, {"canonical": GOOD, "b": GOOD[:1], "c": GOOD[:1]}
    notes = check(side(one), side(other)).notes
    assert "1 harness was run in the baseline only, so left out of worst and spread: a" in notes
    assert "1 harness was run in the new run only, so left out of worst and spread: c" in notes


# notes


def test_what_a_reader_must_know_is_noted() -> None:
    before = side(GOOD[:3], created="2026-11-01T12:00:00+00:00")
    after = side(GOOD[:3], seed=1, sandbox="docker", recovery="off", versions={"harness-eval": "0.2.0"})
    told = "; ".join(check(before, after).notes)
    for said in (
        "fewer than 5",
        "different seeds (0",
        "sandbox: bubblewrap",
        "recovery of leaked calls: content",
        "29 days",
    ):
        assert said in told
    assert "0.1.0 in the baseline, 0.2.0 now" in told
    assert "both are the same run" in check(before, before).notes
    assert "the baseline was made after the new run" in "; ".join(check(after, before).notes)


def test_different_orders_of_trials_are_noted() -> None:
    before, after = side(GOOD[:3], order="interleaved"), side(GOOD[:3], order="prefix in blocks of 4 tasks")
    assert any("order of trials: interleaved in the baseline, prefix" in note for note in check(before, after).notes)
    assert not any("order of trials" in note for note in check(side(GOOD[:3]), after).notes)


@pytest.mark.parametrize("adaptive", ["before", "after"])
def test_of_a_hunt_the_canonical_harness_alone_is_compared(adaptive: str) -> None:
    plain = {"canonical": GOOD[:3], "other": GOOD[:3]}
    before, after = (side(plain, adaptive=adaptive == which) for which in ("before", "after"))
    found = check(before, after)
    assert [each.asked for each in found.questions] == ["canonical"]
    title = {"before": "baseline", "after": "new run"}[adaptive]
    assert any(note.startswith(f"the {title} is a hunt") for note in found.notes)
    with pytest.raises(ConfigError, match=f"the {title} is a hunt.*Gate the canonical harness"):
        check(before, after, Asked(harness="other"))


def test_tasks_made_from_one_template_are_noted() -> None:
    grouped = [{**task, "group": f"template-{at // 20}"} for at, task in enumerate(tasks(100))]
    told = "; ".join(check(side(GOOD, tasks=grouped), side(GOOD, tasks=grouped)).notes)
    assert "100 of 100 tasks come in 5 groups" in told
