"""What shows over many turns: each finding on its case or on turns that meet it, and beside it what stays silent."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness_eval.diagnosis import speech
from harness_eval.diagnosis.behaviour import LOOP, behaviours
from harness_eval.diagnosis.labels import LABELS, Finding, found
from harness_eval.diagnosis.turn import Turn
from harness_eval.types import ToolCall

Json = Any


def case(shared: Path, name: str) -> dict[str, Json]:
    read: dict[str, Json] = yaml.safe_load((shared / "cases" / f"{name}.yaml").read_text())
    return read


def turns_of(shared: Path, name: str, results: Sequence[str | None] = ()) -> list[Turn]:
    """The turns of a case, a repeated response that many times; `results` are what the harness showed."""
    turns = []
    for response in case(shared, name)["responses"]:
        message = json.loads(response["body"])["choices"][0]["message"]
        calls = tuple(
            ToolCall(call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
            for call in message.get("tool_calls", ())
        )
        label = "ok.tool_call" if calls else "ok.final_answer"
        thinking = message.get("reasoning_content")
        one = Turn(message.get("content") or "", thinking, calls, (None,) * len(calls), found(label))
        turns += [one] * response.get("repeat", 1)
    shown = list(results)
    return [dataclasses.replace(t, results=(shown.pop(0),)) if t.calls and shown else t for t in turns]


def is_expected(finding: Finding, shared: Path, name: str, which: int | None = None) -> bool:
    expected = case(shared, name)["expected_classification"]
    if which is not None:
        return bool(finding.label == expected["per_response"][which])
    wanted = (expected["label"], expected["owner"], expected["score_effect"])
    return (finding.label, finding.owner, finding.effect) == wanted


def called(name: str, result: str | None = "x", text: str = "", **arguments: Json) -> Turn:
    return Turn(text, None, (ToolCall("c", name, arguments),), (result,), found("ok.tool_call"))


def said(text: str, label: str = "ok.final_answer") -> Turn:
    return Turn(text, None, (), (), found(label))


def labels(turns: Sequence[Turn], solved: bool | None = False, **more: Json) -> list[str]:
    return [finding.label for finding in behaviours(turns, solved=solved, **more)]


# Loops


def test_beh_01_says_edit_and_emits_read_again_and_again(shared: Path) -> None:
    (finding,) = behaviours(turns_of(shared, "BEH-01"), solved=None)
    assert is_expected(finding, shared, "BEH-01")
    assert finding.evidence.startswith('8 times Read({"line_offset": 40')


def test_a_loop_that_speaks_of_another_offered_tool_says_so_and_where_it_began(shared: Path) -> None:
    offered = frozenset({"Read", "Edit", "EditAll"})
    turns = [dataclasses.replace(t, offered=offered, prompt_tokens=200_000) for t in turns_of(shared, "BEH-01")]
    (finding,) = behaviours(turns, solved=False)
    assert finding.also == ("model.intent_emission_mismatch",)
    assert "at 200000 prompt tokens; it speaks of calling Edit" in finding.evidence


def test_four_identical_calls_are_no_loop() -> None:
    assert labels([called("read", path="a")] * (LOOP - 1)) == []
    assert labels([called("read", path="a")] * LOOP) == ["model.loop_identical_calls"]


def test_a_result_that_changes_is_progress() -> None:
    assert labels([called("run", f"{n} %", cmd="status") for n in range(9)]) == []


@pytest.mark.parametrize(
    "turn",
    [
        called("run", "RUNNING", cmd="sleep 60; squeue -j 5"),
        called("run", "RUNNING", cmd="job status"),
        called("wait", "waited", seconds=60),
        called("get_job_status", None, job=5),
    ],
)
def test_waiting_is_no_loop(turn: Turn) -> None:
    assert labels([turn] * 8) == []
    assert labels([*[turn] * 8, dataclasses.replace(turn, results=("DONE",)), said("It is done.")], None) == []


def test_looking_at_the_state_of_a_repository_is_no_waiting() -> None:
    assert labels([called("run", cmd="git status")] * 8) == ["model.loop_identical_calls"]


def test_a_loop_that_the_model_left_by_itself_is_none() -> None:
    loop = [called("read", path="a")] * 8
    assert labels([*loop, said("The answer is 42.")], None) == []
    assert labels([*loop, called("read", path="b")], None) == []
    assert labels([*loop, said("")], None) == ["model.loop_identical_calls"]
    assert labels([*loop, *loop, said("The answer is 42.")], None) == ["model.loop_identical_calls"]


def test_another_call_in_between_is_no_loop() -> None:
    assert labels([called("run", "1 failed", cmd="test"), called("edit", "ok", old="a", new="b")] * 6) == []


def test_the_order_and_the_spelling_of_arguments_do_not_matter() -> None:
    one, other = {"path": "a", "n": 1}, {"n": 1, "path": "a"}
    assert labels([called("read", "x", **(one if n % 2 else other)) for n in range(5)]) == [
        "model.loop_identical_calls"
    ]


def test_a_solved_trial_was_not_failed_by_its_loop() -> None:
    assert labels([called("read", path="a")] * 9, solved=True) == []


def test_calls_that_a_broken_wire_had_a_part_in_are_no_loop_of_the_model() -> None:
    broken = dataclasses.replace(called("read", path="a"), finding=found("serving.markup_in_arguments"))
    assert labels([broken] * 9) == []


def test_beh_03_a_dedup_notice_is_taken_for_a_failed_read_and_the_end_is_an_intention(shared: Path) -> None:
    results = ["the text", *["The file is unchanged since the last read; see the earlier result."] * 5]
    loop, end = behaviours(turns_of(shared, "BEH-03", results), solved=False)
    assert is_expected(loop, shared, "BEH-03")
    assert is_expected(loop, shared, "BEH-03", 0)
    assert is_expected(end, shared, "BEH-03", 1)


def test_one_notice_that_is_heeded_is_no_loop() -> None:
    notice = "File unchanged since last read."
    assert (
        labels([called("read", "x", path="a"), called("read", notice, path="a"), called("read", "y", path="b")]) == []
    )


def test_a_long_text_that_speaks_of_unchanged_files_is_no_notice() -> None:
    text = "nothing to commit, unchanged since yesterday\n" * 40
    assert labels([called("read", text, path="a")] * LOOP) == ["model.loop_identical_calls"]


def test_reading_a_cut_result_again_and_again_is_a_loop_of_its_own() -> None:
    cut = dataclasses.replace(called("read", "first lines", path="a"), cut=(True,))
    assert labels([cut] * LOOP) == ["model.loop_after_truncation"]
    assert labels([called("read", "x\n[output truncated: 9 characters left out.]", path="a")] * LOOP) == [
        "model.loop_after_truncation"
    ]


# What the model could see


def test_beh_09_reading_again_what_was_blanked_is_the_harness_s_doing(shared: Path) -> None:
    one, _, _ = turns_of(shared, "BEH-09", ["part one"] * 3)
    (call,) = one.calls
    other = dataclasses.replace(one, calls=(ToolCall("c2", call.name, {"path": "a", "part": 2}),))
    again = dataclasses.replace(one, hidden=frozenset({0}))
    (finding,) = behaviours([one, other, again], solved=False)
    assert is_expected(finding, shared, "BEH-09")


def test_reading_again_what_is_no_longer_visible_is_no_loop() -> None:
    turns = [dataclasses.replace(called("read", path="a"), hidden=frozenset(range(n))) for n in range(9)]
    assert "model.loop_identical_calls" not in labels(turns)


def test_a_blanked_result_that_nobody_asks_for_again_is_silent() -> None:
    turns = [called("read", path="a"), called("read", path="b")]
    assert labels([*turns, dataclasses.replace(called("read", path="c"), hidden=frozenset({0}))]) == []


def test_looking_again_after_a_change_is_silent() -> None:
    turns = [called("read", path="a"), called("edit", old="a", new="b")]
    assert labels([*turns, dataclasses.replace(called("read", path="a"), hidden=frozenset({0}))]) == []


def test_handing_in_again_or_repeating_what_failed_is_no_looking() -> None:
    for name, result in (("submit", "noted"), ("read", "Error: the host did not respond")):
        turns = [called(name, result, path="a"), called("run", cmd="true")]
        assert labels([*turns, dataclasses.replace(called(name, path="a"), hidden=frozenset({0}))]) == []


def test_a_result_that_was_never_shown_is_the_harness_s_doing() -> None:
    assert labels([called("read", path="a"), dataclasses.replace(said("Hm."), hidden=frozenset({0}))]) == [
        "harness.result_dropped"
    ]


def test_a_result_that_a_summary_stands_for_was_not_dropped() -> None:
    after = dataclasses.replace(said("All is done."), hidden=frozenset({0}), compacted=True, told=("Notes.",))
    assert labels([called("read", path="a"), after]) == []


# Compaction


def test_beh_10_finished_work_begins_again_after_a_compaction(shared: Path) -> None:
    (clone,) = turns_of(shared, "BEH-10", ["Cloning into r..."])
    build = called("run", "built", cmd="make")
    again = dataclasses.replace(clone, compacted=True, told=("The plan: clone, build, test, tag, push.",))
    (finding,) = behaviours([clone, build, again], solved=False)
    assert is_expected(finding, shared, "BEH-10")
    assert "The plan: clone" in finding.evidence


def test_looking_again_after_a_compaction_is_silent() -> None:
    look = called("run", "text", cmd="cat a.txt 2>&1 | head")
    assert labels([look, dataclasses.replace(look, compacted=True, told=("Notes.",))]) == []


def test_making_again_what_had_failed_before_the_compaction_is_silent() -> None:
    failed = called("run", "fatal: no host\n[exit code 128]", cmd="git clone http://h/r")
    again = called("run", "Cloning", cmd="git clone http://h/r")
    assert labels([failed, dataclasses.replace(again, compacted=True, told=("Notes.",))]) == []


def test_the_same_change_twice_without_a_compaction_is_silent() -> None:
    assert labels([called("run", cmd="touch a"), called("read", path="a"), called("run", cmd="touch a")]) == []


TASK = 'Sum the numbers and write the sum to `totals-2026.csv`, with the header "grand total".'


def test_beh_11_a_compaction_loses_an_exact_name(shared: Path) -> None:
    before = called("run", "1\n2", cmd="cat numbers")
    wrong, question = turns_of(shared, "BEH-11")
    lost = dataclasses.replace(wrong, compacted=True, told=("Summed the numbers; save the result.",))
    (finding,) = behaviours([before, lost], solved=False, task=TASK)
    assert is_expected(finding, shared, "BEH-11", 0)
    assert is_expected(finding, shared, "BEH-11")
    assert "totals-2026.csv" in finding.evidence
    assert (
        labels([before, question])
        == ["model.asked_user"]
        == [case(shared, "BEH-11")["expected_classification"]["per_response"][1]]
    )


def test_a_name_that_the_summary_keeps_is_not_lost() -> None:
    end = said("All is done.")
    kept = dataclasses.replace(end, compacted=True, told=('totals-2026.csv is to get the header "grand total".',))
    assert labels([called("run", cmd="cat numbers"), kept], task=TASK) == []


def test_a_name_that_was_used_before_is_not_lost() -> None:
    written = called("run", cmd="(echo 'grand total'; echo 3) > totals-2026.csv")
    end = dataclasses.replace(said("All is done."), compacted=True, told=("It is written.",))
    assert labels([written, end], task=TASK) == []


def test_without_a_compaction_nothing_is_lost_in_one() -> None:
    assert labels([called("run", cmd="cat numbers"), said("All is done.")], task=TASK) == []


# Plans


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 1, 3)], ids=["as recorded", "alternating"])
def test_beh_12_a_plan_goes_back_and_forth_between_two_spellings(shared: Path, order: tuple[int, ...]) -> None:
    turns = turns_of(shared, "BEH-12", ["Warning: 1 item was removed."] * 4)
    (finding,) = behaviours([turns[place] for place in order], solved=False)
    assert is_expected(finding, shared, "BEH-12")
    assert finding.evidence.endswith("4 plan calls, 0 work calls")


def test_a_plan_that_makes_progress_is_no_churn() -> None:
    plan = [
        called("todo_write", "noted", todos=[{"step": "a", "status": "done" if n > 1 else "open"}, n]) for n in range(4)
    ]
    assert labels(plan) == []
    assert labels([each for one in plan for each in (one, called("run", "ok", cmd="make"))]) == []


# How it ended


def test_beh_05_announces_the_next_step_and_stops(shared: Path) -> None:
    (finding,) = behaviours(turns_of(shared, "BEH-05"), solved=False)
    assert is_expected(finding, shared, "BEH-05")
    assert behaviours(turns_of(shared, "BEH-05"), solved=None) == ()


@pytest.mark.parametrize(
    "text",
    [
        "The test fails. Let me fix the parser.",
        "Next, I'll run the tests",
        "Okay. Now I am going to write the file.",
        "I found it: the port is wrong. I will change it now:",
        "**Now let's check the log.**",
        "接下来我将修改配置文件。",
    ],
)
def test_an_intention_at_the_end_is_a_premature_stop(text: str) -> None:
    assert labels([called("run", cmd="ls"), said(text)]) == ["model.premature_stop"]


@pytest.mark.parametrize(
    "text",
    [
        "The word is written to answer.txt.",
        "Let me know if you want anything else.",
        "I will leave the other files as they are.",
        "I would fix the parser, but it is generated.",
        "I'll be happy to explain it.",
        "Running the tests shows that all of them pass.",
        "I will fix it, I thought at first; but nothing was wrong.\nThe file is right as it is.",
        "让我知道是否还需要修改。",
        "",
    ],
)
def test_a_closing_sentence_is_no_intention(text: str) -> None:
    assert labels([called("run", cmd="ls"), said(text)]) == []


def test_an_end_that_others_had_a_part_in_is_not_held_against_the_model() -> None:
    for label in ("serving.tool_call_dropped", "undetermined.empty_turn", "limit.output_tokens_reasoning"):
        assert labels([said("Now I will fix it:", label)]) == []


def test_a_solved_trial_did_not_stop_too_early() -> None:
    assert labels([said("Now I will fix it:")], solved=True) == []


def test_beh_06_claims_a_tool_was_used(shared: Path) -> None:
    (finding,) = behaviours(turns_of(shared, "BEH-06"), solved=False)
    assert is_expected(finding, shared, "BEH-06")
    assert behaviours(turns_of(shared, "BEH-06"), solved=None) == ()


def test_a_claim_after_calls_is_silent() -> None:
    assert labels([called("run", cmd="pytest"), said("I ran the tests and all pass.")]) == []


def test_speaking_of_what_could_be_done_claims_nothing() -> None:
    assert labels([said("You can search the web for it; the release notes were read by many.")]) == []


@pytest.mark.parametrize(
    "text",
    [
        "There are two config files. Which one would you like me to change?",
        "Should I overwrite the file?",
        "Could you please provide the password?",
        "Please confirm that the database may be dropped.",
        "请问您希望我修改哪个文件？",
    ],
)
def test_a_question_to_nobody_is_a_failure(text: str) -> None:
    assert labels([called("run", cmd="ls"), said(text)]) == ["model.asked_user"]


@pytest.mark.parametrize(
    "text",
    [
        "It is fixed. Would you like me to also add a test?",
        "Done. Should I clean up?",
        "Is there anything else?",
        "Why was the port wrong? Because the default had changed.",
    ],
)
def test_an_offer_or_a_figure_of_speech_is_no_question(text: str) -> None:
    assert labels([called("run", cmd="ls"), said(text)]) == []


NOTICE = "ERROR 17 at db-3\n[output truncated: 90000 characters left out. Narrow the command.]"


def test_a_fragment_taken_for_the_whole_is_a_failure() -> None:
    turns = [called("run", NOTICE, cmd="cat log"), said("The only failing host is db-3.")]
    assert labels(turns) == ["model.ignored_truncation"]


@pytest.mark.parametrize(
    "turns",
    [
        [called("run", NOTICE, cmd="cat log"), said("The output was cut, so db-3 may not be the only one.")],
        [called("run", NOTICE, cmd="cat log"), called("run", "db-3", cmd="grep ERROR log"), said("It is db-3.")],
        [called("run", NOTICE, cmd="cat log"), said("The work is finished.")],
        [called("run", "ERROR 17 at db-3", cmd="cat log"), said("It is db-3.")],
    ],
    ids=["it says so", "it narrowed the command", "the answer owes nothing to it", "nothing was cut"],
)
def test_a_cut_result_that_was_heeded_is_silent(turns: list[Turn]) -> None:
    assert labels(turns) == []


def test_beh_13_does_not_stop_when_told_that_the_budget_is_over(shared: Path) -> None:
    (turn,) = turns_of(shared, "BEH-13")
    told = dataclasses.replace(turn, offered=frozenset(), told=("The step limit is reached. Summarise what you have.",))
    (finding,) = behaviours([told], solved=False)
    assert is_expected(finding, shared, "BEH-13")


def test_a_call_with_tools_on_offer_ignores_no_stop() -> None:
    told = ("Half of the step limit is reached.",)
    assert labels([dataclasses.replace(called("run"), offered=frozenset({"run"}), told=told)]) == []
    assert labels([dataclasses.replace(called("run"), offered=frozenset(), told=("Go on.",))]) == []


# Reasoning


def test_rsn_06_a_placeholder_for_the_reasoning_that_is_played_back(shared: Path) -> None:
    turns = turns_of(shared, "RSN-06") * 2
    real = dataclasses.replace(turns[0], thinking="I build it first.")
    (finding,) = behaviours([real, *turns], solved=False)
    assert is_expected(finding, shared, "RSN-06")
    assert finding.evidence == "'[reasoning unavailable]' 2 times; 2 distinct reasonings in 3 turns"


def test_short_reasoning_that_repeats_itself_is_silent() -> None:
    turns = [dataclasses.replace(called("run", cmd=str(n)), thinking="Let me look.") for n in range(4)]
    assert labels(turns) == []


# Laws

words = st.sampled_from(["a", "b", "Now I will go on:", "Should I?", NOTICE, "unchanged since", "", "[thinking]"])
calls = st.builds(ToolCall, st.just("c"), st.sampled_from(["run", "plan", "write"]), st.dictionaries(words, words))
turns = st.builds(
    lambda text, thinking, made, results, label, told, compacted: Turn(
        text, thinking, tuple(made), tuple(results[: len(made)]), found(label), None, tuple(told), compacted
    ),
    words,
    st.none() | words,
    st.lists(calls, max_size=2),
    st.lists(st.none() | words, min_size=2, max_size=2),
    st.sampled_from(sorted(LABELS)),
    st.lists(words, max_size=2),
    st.booleans(),
)


@given(st.lists(turns, max_size=12), st.sampled_from([True, False, None]))
def test_findings_are_of_the_vocabulary_and_a_solved_trial_has_no_failure_of_the_model(
    made: list[Turn], solved: bool | None
) -> None:
    findings = behaviours(made, solved=solved, task=TASK)
    assert all(each.label in LABELS and set(each.also) <= set(LABELS) for each in findings)
    assert not solved or all(each.effect != "model_failure" for each in findings)


@pytest.mark.parametrize(
    ("thinking", "stands_in"),
    [
        ("[reasoning unavailable]", True),
        ("Thinking is redacted", True),
        ("(no reasoning content)", True),
        ("...", True),
        ("thinking", False),
        ("I was thinking.", False),
        ("", False),
    ],
)
def test_a_placeholder_is_nothing_but_a_word_for_what_is_missing(thinking: str, stands_in: bool) -> None:
    assert speech.is_placeholder(thinking) is stands_in


def test_a_dialogue_of_many_turns_of_which_nothing_stays_visible_is_read() -> None:
    # A time that grows with the cube of the turns would keep this from ever ending.
    turns = [
        dataclasses.replace(called("read", f"r{number}", path=str(number)), hidden=frozenset(range(number)))
        for number in range(1500)
    ]
    assert labels(turns, None) == ["harness.result_dropped"]
