from __future__ import annotations

from collections.abc import Callable

import pytest

from harness_eval.axes import levels
from harness_eval.harness import make_harness
from harness_eval.reference.reading import Situation, read_request
from harness_eval.reference.transcript import read_prompt
from harness_eval.types import Note, Reply, Step, Trajectory, View

from .conversation import INSTRUCTION, LOG, Conversation

Talk = Callable[..., Conversation]
PROTOCOLS = list(levels("protocol"))


def read(conversation: Conversation, *notes: str) -> Situation:
    record = conversation.record.append(*(Note(text, "said") for text in notes))
    request = conversation.harness.encode(conversation.harness.view(record))
    if request.wire == "completions":
        return read_prompt({"prompt": request.prompt})
    return read_request({"messages": list(request.messages), "tools": list(request.tools)})


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_dialect_is_known_from_the_request(talk: Talk, protocol: str) -> None:
    known = {"native-single": "native", "worked-completion": "command-line"}
    assert read(talk(protocol=protocol)).dialect == known.get(protocol, protocol.removeprefix("worked-"))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_task_calls_results_and_notes_are_told_apart(talk: Talk, protocol: str) -> None:
    conversation = talk(protocol=protocol)
    conversation.turn(LOG)
    conversation.turn("[app]")
    situation = read(conversation, "Reminder: keep to the task.", "And to the point.")
    assert situation.task.split() == INSTRUCTION.split()
    assert [turn.called for turn in situation.turns] == [True, True]
    assert [[result.text for result in turn.results] for turn in situation.turns] == [[LOG], ["[app]"]]
    assert "\n".join(situation.notes) == "Reminder: keep to the task.\nAnd to the point."
    assert "I read the log." in situation.turns[0].text


@pytest.mark.parametrize("results", ["tool-message", "xml-envelope", "json-record"])
def test_results_in_the_tool_role_are_unframed(talk: Talk, results: str) -> None:
    conversation = talk(results=results)
    conversation.turn(LOG)
    assert [result.text for result in read(conversation).turns[0].results] == [LOG]


@pytest.mark.parametrize("results", ["user-message", "xml-envelope", "json-record"])
@pytest.mark.parametrize("protocol", ["xml-function", "fenced-bash", "worked-completion"])
def test_results_in_text_are_unframed(talk: Talk, protocol: str, results: str) -> None:
    conversation = talk(protocol=protocol, results=results)
    conversation.turn(LOG)
    assert [result.text for result in read(conversation).turns[0].results] == [LOG]


@pytest.mark.parametrize(("thinking", "seen"), [("keep", True), ("drop", None), ("empty", ""), ("as-text", True)])
@pytest.mark.parametrize("protocol", ["native", "json-text"])
def test_what_became_of_its_thinking_is_seen(talk: Talk, protocol: str, thinking: str, seen: object) -> None:
    conversation = talk(protocol=protocol, thinking=thinking)
    conversation.turn(LOG)
    turn = read(conversation).turns[0]
    assert (bool(turn.thinking) if seen is True else turn.thinking) == seen
    assert turn.text.startswith("Step 1")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_sentinel_is_found_in_the_prompt(talk: Talk, protocol: str) -> None:
    assert read(talk(protocol=protocol, stopping="sentinel")).sentinel == "TASK_COMPLETE_7F3A"
    assert read(talk(stopping="submit-tool")).sentinel == ""


def test_a_request_for_a_summary_is_told_from_a_summary(talk: Talk) -> None:
    conversation = talk(context={"level": "summary", "window": 500})
    conversation.turn(LOG)
    assert read(conversation, conversation.harness.context.summary_request).asks_summary
    conversation.compact()
    situation = read(conversation)
    assert (situation.asks_summary, situation.summarised) == (False, True)


@pytest.mark.parametrize("inject", ["user", "acknowledged", "question", "handoff"])
def test_its_own_summary_is_known_however_it_is_put_back(talk: Talk, inject: str) -> None:
    conversation = talk(context={"level": "summary", "window": 500, "inject": inject, "keep": 0})
    conversation.turn(LOG)
    assert not read(conversation).summarised
    conversation.compact()
    assert read(conversation).summarised


def test_a_request_for_a_plan_in_words_is_known(talk: Talk) -> None:
    conversation = talk(planning="plan-first")
    assert read(conversation, *(note.text for note in conversation.harness.notes(conversation.record))).asks_plan
    assert not read(conversation, "Good. Now carry out the plan.").asks_plan
    assert not read(conversation, "The todo list has not been updated lately.").asks_plan


def test_content_in_parts_is_read_like_text() -> None:
    parts = [{"type": "text", "text": "do "}, {"type": "text", "text": "it"}]
    assert read_request({"messages": [{"role": "user", "content": parts}]}).task == "do it"


def test_output_that_looks_like_a_command_line_is_no_turn(talk: Talk) -> None:
    conversation = talk(protocol="worked-completion")
    conversation.turn("$ rm -rf x\n# a comment\n$ ls")
    situation = read(conversation)
    assert [turn.results[0].text for turn in situation.turns] == ["$ rm -rf x\n# a comment\n$ ls"]


def test_a_call_of_another_protocol_is_no_call() -> None:
    harness = make_harness({"name": "x", "protocol": "json-text"}, "x")
    record = Trajectory(harness.system, "task", ())
    view = View(record.system, record.prompt, (Step(harness.decode(Reply("<function=bash>\n</function>"))),))
    assert not read_request({"messages": list(harness.encode(view).messages)}).turns[0].called
