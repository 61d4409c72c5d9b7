from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness_eval.axes import levels
from harness_eval.reference.player import Player
from harness_eval.reference.scripts import load_scripts
from harness_eval.types import Action

from .conversation import LOG, RESULTS, Conversation, is_work

Talk = Callable[..., Conversation]
PROTOCOLS = list(levels("protocol"))


def arguments(action: Action) -> dict[str, Any]:
    (call,) = action.calls
    return dict(call.arguments)


def work_of(actions: list[Action]) -> list[Action]:
    return [action for action in actions if is_work(action)]


@pytest.mark.parametrize("stopping", ["no-call", "submit-tool", "sentinel", "confirm-twice"])
def test_the_plan_is_played_to_its_end_and_ended_as_the_harness_wants(talk: Talk, stopping: str) -> None:
    conversation = talk(stopping=stopping)
    actions = conversation.play()
    assert len(work_of(actions)) == 5
    assert conversation.stopped
    assert len(actions) == 5 + (2 if stopping == "confirm-twice" else 1)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_plan_is_played_in_every_protocol(talk: Talk, protocol: str) -> None:
    conversation = talk(protocol=protocol)
    assert len(work_of(conversation.play())) == 5
    assert conversation.stopped


def test_each_step_uses_what_was_seen_before(talk: Talk) -> None:
    conversation = talk()
    conversation.turn(LOG.replace("8101", "7").replace("db7", "box"))
    conversation.turn("[app]\nport = 1")
    assert arguments(conversation.turn("edited"))["new_str"] == "port = 7\n"
    assert arguments(conversation.turn("wrote"))["file_text"] == "box\n"


def test_a_result_that_does_not_show_what_is_needed_is_asked_for_more_narrowly(talk: Talk) -> None:
    conversation = talk()
    conversation.turn("start\n[output truncated: 40 characters left out.]")
    assert arguments(conversation.turn("[nothing]"))["command"] == "grep port= app.log"
    narrowest = arguments(conversation.turn("port=8101\nhost=db7"))["command"]
    assert "grep port= app.log" in narrowest
    assert r"port=(\\d+)" in narrowest
    assert "I read the file." in conversation.turn("[app]").text


def test_what_was_learned_in_two_tries_is_put_together(talk: Talk) -> None:
    conversation = talk()
    conversation.turn("host=db7")
    conversation.turn("port=8101")
    assert conversation.turn("[app]").text.startswith('Step 2 of 5 (host="db7", port="8101")')


def test_what_can_never_be_learned_is_said_and_the_work_ended(talk: Talk) -> None:
    conversation = talk()
    actions = conversation.play(*["nothing here"] * 20)
    assert conversation.stopped
    assert "I could not find the port" in actions[-1].text
    assert len(actions) < 10


def test_a_refused_edit_is_done_in_another_way(talk: Talk) -> None:
    conversation = talk()
    conversation.turn(RESULTS[0])
    conversation.turn(RESULTS[1])
    assert (
        conversation.turn("Error: str_replace_editor is not available", failed=True).calls[0].name
        == "str_replace_editor"
    )
    second = conversation.turn("edited conf/app.ini")
    assert second.calls[0].name == "bash"
    assert "Step 3 of 5, again" in second.text
    assert "Step 4 of 5" in conversation.turn("wrote host.txt").text


def test_an_edit_that_fails_in_every_way_does_not_hold_up_the_rest(talk: Talk) -> None:
    conversation = talk()
    failing = "the text to replace does not occur in the file"
    actions = conversation.play(RESULTS[0], RESULTS[1], failing, failing, failing, RESULTS[3], RESULTS[4])
    assert [action.text[:12] for action in work_of(actions)][-3:] == ["Step 3 of 5,", "Step 4 of 5 ", "Step 5 of 5 "]
    assert conversation.stopped


def test_a_parameter_is_renamed_for_good_when_a_refusal_says_so(talk: Talk) -> None:
    conversation = talk(faults="incompatible-schema", context={"level": "window", "steps": 1})
    actions = work_of(conversation.play())
    names = [next(iter(arguments(action))) for action in actions]
    assert names == ["command", "command_line", "command", "command", "command", "command_line"]
    assert [call.name for call in conversation.carried_out] == ["bash", *["str_replace_editor"] * 3, "bash"]


@pytest.mark.parametrize("steps", [1, 2])
def test_one_visible_turn_is_enough_to_go_on(talk: Talk, steps: int) -> None:
    conversation = talk(context={"level": "window", "steps": steps})
    assert len(work_of(conversation.play())) == 5
    assert conversation.stopped


@pytest.mark.parametrize("keep", [0, 1, 2])
@pytest.mark.parametrize("inject", ["user", "acknowledged", "question", "handoff"])
@pytest.mark.parametrize("protocol", ["native", "xml-json"])
def test_its_own_summary_is_enough_to_go_on(talk: Talk, protocol: str, inject: str, keep: int) -> None:
    context = {"level": "summary", "window": 500, "inject": inject, "keep": keep}
    conversation = talk(protocol=protocol, context=context)
    for number, result in enumerate(RESULTS, 1):
        assert f"Step {number} of 5" in conversation.turn(result).text
        notes = conversation.compact()
        assert "8101" in notes
    assert conversation.ask().text.startswith("All 5 steps are done")


def test_a_summary_asked_for_after_a_poor_result_remembers_to_look_again(talk: Talk) -> None:
    conversation = talk(context={"level": "summary", "window": 500, "keep": 0})
    conversation.turn("nothing")
    conversation.compact()
    assert arguments(conversation.turn("port=1 host=a"))["command"] == "grep port= app.log"


def test_cleared_results_of_older_turns_do_no_harm(talk: Talk) -> None:
    conversation = talk(context={"level": "clear-results", "keep": 1})
    assert len(work_of(conversation.play())) == 5
    assert conversation.stopped


def test_a_plan_is_written_in_words_when_it_is_asked_for(talk: Talk) -> None:
    conversation = talk(planning="plan-first")
    actions = conversation.play()
    assert actions[0].calls == ()
    assert "I read the log." in actions[0].text
    assert len(work_of(actions)) == 5


@pytest.mark.parametrize("key", ["content", "title", "step"])
def test_a_todo_list_is_written_first_and_when_a_goal_is_reached(talk: Talk, key: str) -> None:
    conversation = talk(planning={"level": "todo", "tool": "update_plan", "parameter": "plan", "text_key": key})
    actions = conversation.play()
    lists = [arguments(a)["plan"] for a in actions if a.calls and a.calls[0].name == "update_plan"]
    goals = ["find", "change", "answer"]
    assert lists == [
        [{key: goal, "status": "completed" if n < done else "pending"} for n, goal in enumerate(goals)]
        for done in range(4)
    ]
    assert len(work_of(actions)) == 5


@pytest.mark.parametrize(
    "levels_used",
    [
        {"planning": {"level": "reflect", "every": 1}, "prompt": {"level": "reminders", "every": 1}},
        {"planning": {"level": "todo", "remind_after": 1}},
        {"thinking": "as-text", "protocol": "dsml"},
        {"errors": "list-tools", "distractors": "crowd", "results": "json-record"},
    ],
)
def test_reminders_text_thinking_and_crowds_do_not_distract_it(talk: Talk, levels_used: dict[str, Any]) -> None:
    conversation = talk(**levels_used)
    assert len(work_of(conversation.play())) == 5
    assert conversation.stopped


def test_no_harness_can_keep_it_going_for_ever(talk: Talk) -> None:
    conversation = talk(stopping="sentinel")
    actions = conversation.play(*["Error: the call was not run"] * 100)
    assert conversation.stopped
    assert len(actions) <= 20


def test_a_harness_without_a_useful_tool_is_told_so(talk: Talk) -> None:
    only = {"name": "ponder", "operation": "think", "description": "Think.", "parameters": {}}
    conversation = talk(toolset={"level": "custom", "tools": [only]})
    (action,) = conversation.play()
    assert action.calls == ()
    assert "I am offered no tool to run anything with" in action.text


def test_an_unknown_task_is_ended_in_one_sentence(talk: Talk) -> None:
    for stopping in ("no-call", "submit-tool"):
        conversation = talk(stopping=stopping)
        conversation.player = Player(load_scripts([]))
        (action,) = conversation.play()
        assert "no plan for this task" in action.text
        assert conversation.stopped


def test_the_same_body_gets_the_same_answer(talk: Talk) -> None:
    conversation = talk()
    conversation.turn(LOG)
    request = conversation.harness.encode(conversation.harness.view(conversation.record))
    assert conversation.sent(request) == conversation.sent(request)


def test_a_task_is_known_by_its_words_whatever_their_spacing_and_surroundings(suite: Path) -> None:
    scripts = load_scripts([suite])
    prompt = (suite / "set-port" / "instruction.md").read_text().replace("\n", "\n   ")
    found = scripts.find(f"<task>\n{prompt}\n</task>\nBegin.")
    assert found is not None
    assert found.task == "own/set-port"
    assert scripts.find("Set the port") is None
