"""The loop: what stops it, what it records, what it shows. The model is a script; the sandbox is real."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest

from harness_eval.agent import run_agent
from harness_eval.dialogue import spoken
from harness_eval.endpoints.base import Endpoint
from harness_eval.errors import ContextOverflow, EndpointFailure
from harness_eval.harness import Harness, make_harness
from harness_eval.sandboxes import provider
from harness_eval.sandboxes.base import BoxSpec, Sandbox
from harness_eval.types import (
    Action,
    Compaction,
    Limits,
    Malformed,
    Note,
    RawCall,
    Reply,
    Request,
    StopReason,
    ToolCall,
    Trajectory,
    Usage,
)

pytestmark = pytest.mark.anyio

Line = Action | Reply | Exception | Callable[[Request], Reply]


class Script(Endpoint):
    """Says its lines one after the other, then goes on with a closing sentence."""

    name = model = "script"

    def __init__(self, harness: Harness, *lines: Line, usage: Usage | None = None) -> None:
        self.harness, self.lines, self.usage = harness, list(lines), usage or Usage(100, 10)
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        line = self.lines.pop(0) if self.lines else Action("That is all.")
        if isinstance(line, Exception):
            raise line
        if isinstance(line, Reply):
            return line
        if not isinstance(line, Action):
            return line(request)
        reply = spoken(self.harness, line)
        return Reply(reply.text, line.thinking, reply.calls, "stop", self.usage)

    async def close(self) -> None:
        return None


@pytest.fixture
async def box() -> AsyncIterator[Sandbox]:
    async with provider("local").open(BoxSpec("test")) as sandbox:
        yield sandbox


def shell(command: str, name: str = "bash") -> ToolCall:
    return ToolCall("call_0", name, {"command": command})


def run(command: str) -> Action:
    return Action(f"I run {command}", "thinking", (shell(command),))


def harness_with(**levels: Any) -> Harness:
    return make_harness({"name": "tested", **levels}, "tested")


async def play(box: Sandbox, script: Script, **limits: Any) -> Trajectory:
    return await run_agent(script.harness, "the task", box, script, limits=Limits(**limits), seed=7)


async def test_a_reply_without_a_call_ends_a_harness_that_stops_so(box: Sandbox) -> None:
    record = await play(box, Script(harness_with(), run("echo hi")))
    assert record.stop is StopReason.FINISHED
    assert [step.observations for step in record.steps[1:]] == [()]
    assert record.steps[0].observations[0].shown == "hi"


async def test_calls_of_one_turn_run_in_order(box: Sandbox) -> None:
    both = Action("", None, (shell("echo one >> f"), shell("echo two >> f; cat f")))
    record = await play(box, Script(harness_with(), both))
    assert record.steps[0].observations[1].shown == "one\ntwo"


async def test_the_seed_travels_in_every_request(box: Sandbox) -> None:
    script = Script(harness_with(), run("true"))
    await play(box, script)
    assert {request.seed for request in script.requests} == {7}


async def test_a_step_keeps_the_digest_of_its_request(box: Sandbox) -> None:
    script = Script(harness_with(), run("true"))
    record = await play(box, script)
    assert [step.digest for step in record.steps] == [request.digest for request in script.requests]


async def test_the_limit_of_steps_ends_it(box: Sandbox) -> None:
    record = await play(box, Script(harness_with(), *[run("true")] * 9), steps=3)
    assert (record.stop, len(record.steps)) == (StopReason.STEPS, 3)


async def test_the_limit_of_tokens_ends_it(box: Sandbox) -> None:
    record = await play(box, Script(harness_with(), *[run("true")] * 9), tokens=300)
    assert (record.stop, len(record.steps)) == (StopReason.TOKENS, 3)


async def test_the_limit_of_seconds_ends_it_and_keeps_the_record(box: Sandbox) -> None:
    script = Script(harness_with(), run("echo kept"), run("sleep 60"))
    record = await play(box, script, seconds=3)
    assert record.stop is StopReason.TIME
    assert record.steps[0].observations[0].shown == "kept"


async def test_a_prompt_that_does_not_fit_is_a_result(box: Sandbox) -> None:
    record = await play(box, Script(harness_with(), run("true"), ContextOverflow("too long")))
    assert (record.stop, len(record.steps)) == (StopReason.OVERFLOW, 1)


async def test_a_failing_endpoint_is_no_result(box: Sandbox) -> None:
    with pytest.raises(EndpointFailure):
        await play(box, Script(harness_with(), run("true"), EndpointFailure("gone")))


async def test_a_foreign_exception_of_the_endpoint_is_the_endpoints(box: Sandbox) -> None:
    with pytest.raises(EndpointFailure, match="ValueError: odd"):
        await play(box, Script(harness_with(), ValueError("odd")))


async def test_turns_of_bad_calls_in_a_row_end_it(box: Sandbox) -> None:
    bad = Action("", None, (shell("true", "no_such_tool"),))
    harness = harness_with(errors={"level": "explain", "patience": 2})
    record = await play(box, Script(harness, bad, run("true"), bad, bad, bad))
    assert (record.stop, len(record.steps)) == (StopReason.MALFORMED, 4)
    assert record.steps[0].labels == ("model.unknown_tool_invented",)


async def test_arguments_that_are_no_json_are_told_and_not_run(box: Sandbox) -> None:
    broken = Reply("", None, (RawCall("c", "bash", '{"command": "touch f'),))
    record = await play(box, Script(harness_with(), broken, run("ls")))
    assert record.steps[0].action.malformed == (
        Malformed("c", "bash", '{"command": "touch f', record.steps[0].action.malformed[0].reason),
    )
    assert record.steps[0].observations[0].failed
    assert record.steps[1].observations[0].shown == "[no output]"


async def test_a_wrong_argument_is_refused_before_anything_runs(box: Sandbox) -> None:
    wrong = Action("", None, (ToolCall("c", "bash", {"command": "touch f", "cwd": "/"}),))
    record = await play(box, Script(harness_with(), wrong, run("ls")))
    assert "unknown parameter 'cwd'" in record.steps[0].observations[0].shown
    assert record.steps[1].observations[0].shown == "[no output]"


async def test_silent_repair_runs_what_was_meant_and_records_what_was_said(box: Sandbox) -> None:
    said = Action("", None, (shell("echo hi", "Bash"),))
    record = await play(box, Script(harness_with(errors="silent-repair"), said))
    assert record.steps[0].observations[0].shown == "hi"
    assert record.steps[0].action.calls[0].name == "Bash"
    assert record.steps[0].labels == ("model.tool_name_case",)


async def test_a_long_result_is_cut_once_and_its_length_kept(box: Sandbox) -> None:
    harness = harness_with(truncation={"level": "head", "cap": 1000})
    record = await play(box, Script(harness, run("seq 1000")))
    (observation,) = record.steps[0].observations
    assert observation.full_length == 3892
    assert "truncated" in observation.shown
    assert "truncation" in harness.acted(record)


async def test_a_result_kept_in_a_file_can_be_read_from_there(box: Sandbox) -> None:
    harness = harness_with(truncation={"level": "preview-and-file", "cap": 1000, "preview": 100})

    def tail(request: Request) -> Reply:
        path = request.messages[-1]["content"].partition("kept in ")[2].partition(";")[0]
        return Reply("", None, (RawCall("c", "bash", f'{{"command": "tail -n 1 {path}"}}'),), "stop", Usage(1, 1))

    record = await play(box, Script(harness, run("seq 1000"), tail))
    assert record.steps[1].observations[0].shown == "1000"


async def test_a_full_window_is_compacted_by_an_event_and_the_record_stays_whole(box: Sandbox) -> None:
    harness = harness_with(context={"level": "summary", "window": 1000, "at": 0.5})
    summary = Reply("NOTES", None, (), "stop", Usage(5, 5))
    script = Script(harness, run("echo one"), run("echo two"), summary, usage=Usage(600, 10))
    record = await play(box, script)
    (compaction,) = [event for event in record.events if isinstance(event, Compaction)]
    assert (compaction.notes, compaction.covers) == ("NOTES", 1)
    assert len(record.steps) == 3
    last = "".join(str(message["content"]) for message in script.requests[-1].messages)
    assert "NOTES" in last
    assert "echo one" not in last
    assert "echo two" in last


async def test_a_model_that_forgets_to_hand_in_is_nudged_and_then_judged(box: Sandbox) -> None:
    record = await play(box, Script(harness_with(stopping="submit-tool"), run("true")))
    nudges = [event for event in record.events if isinstance(event, Note)]
    assert record.stop is StopReason.FINISHED
    assert [note.kind for note in nudges] == ["nudge"] * 3


async def test_handing_in_must_be_confirmed_where_the_harness_wants_it(box: Sandbox) -> None:
    harness = harness_with(stopping="confirm-twice")
    submit = Action("", None, (ToolCall("c", "submit", {"message": "done"}),))
    record = await play(box, Script(harness, run("true"), submit, submit))
    assert (record.stop, len(record.steps)) == (StopReason.FINISHED, 3)
    assert [event.kind for event in record.events if isinstance(event, Note)] == ["confirm"]


async def test_the_sentinel_ends_it_and_a_quotation_of_it_does_not(box: Sandbox) -> None:
    harness = harness_with(stopping="sentinel")
    script = Script(harness, run("echo not TASK_COMPLETE_7F3A"), run("echo TASK_COMPLETE_7F3A"))
    record = await play(box, script)
    assert (record.stop, len(record.steps)) == (StopReason.FINISHED, 2)


async def test_the_plan_is_asked_for_before_the_work_and_is_no_attempt_to_stop(box: Sandbox) -> None:
    script = Script(harness_with(planning="plan-first"), Action("First this, then that."), run("echo hi"))
    record = await play(box, script)
    assert [type(event).__name__ for event in record.events] == ["Note", "Step", "Note", "Step", "Step"]


async def test_a_failing_call_is_not_run(box: Sandbox) -> None:
    harness = harness_with(faults={"level": "failing-call", "every": 2})
    record = await play(box, Script(harness, run("true"), run("touch f"), run("ls")))
    assert "was not run" in record.steps[1].observations[0].shown
    assert record.steps[2].observations[0].shown == "[no output]"


async def test_a_schema_that_lies_is_told_and_its_true_name_accepted(box: Sandbox) -> None:
    right = Action("", None, (ToolCall("c", "bash", {"command_line": "echo hi"}),))
    record = await play(box, Script(harness_with(faults="incompatible-schema"), run("echo hi"), right))
    assert "command_line" in record.steps[0].observations[0].shown
    assert record.steps[1].observations[0].shown == "hi"


@pytest.mark.parametrize(
    ("level", "shown"),
    [("fresh", ["[no output]", ""]), ("cwd-kept", ["d", ""]), ("persistent", ["d", "1 f2"])],
)
async def test_a_shell_carries_over_what_its_level_says(box: Sandbox, level: str, shown: list[str]) -> None:
    lines = ["mkdir d && cd d && X=1 && f() { echo f2; }", "basename $(pwd | grep /d$) 2>/dev/null", "echo $X $(f)"]
    record = await play(box, Script(harness_with(shell=level), *map(run, lines)))
    last = record.steps[2].observations[0].shown.splitlines()[0]
    assert record.steps[1].observations[0].shown.splitlines()[0] == (shown[0] if level != "fresh" else "[exit code 1]")
    assert last == shown[1] or (not shown[1] and "f: command not found" in last)


async def test_a_stateful_shell_keeps_the_exit_code_and_survives_bad_syntax(box: Sandbox) -> None:
    record = await play(box, Script(harness_with(shell="persistent"), run("if"), run("exit 3"), run("echo on")))
    shown = [step.observations[0].shown for step in record.steps[:3]]
    assert "syntax error" in shown[0]
    assert shown[1:] == ["[exit code 3]", "on"]


async def test_unrelated_tools_answer_and_change_nothing(box: Sandbox) -> None:
    call = Action("", None, (ToolCall("c", "weather_search", {"query": "Oslo"}),))
    record = await play(box, Script(harness_with(distractors="few"), call))
    (observation,) = record.steps[0].observations
    assert not observation.failed
    assert "weather" in observation.shown


async def test_a_cancelled_trial_is_cancelled(box: Sandbox) -> None:
    script = Script(harness_with(), run("sleep 60"))
    with anyio.move_on_after(1) as scope:
        await play(box, script)
    assert scope.cancelled_caught


async def test_half_a_character_from_the_model_breaks_nothing(box: Sandbox) -> None:
    odd = Reply("\ud800", "\udfff", (RawCall("c", "bash", '{"command": "echo \\ud800x"}'),))
    record = await play(box, Script(harness_with(), odd))
    assert record.stop is StopReason.FINISHED
    assert record.steps[0].observations[0].shown == "?x"
    assert record.steps[0].action.text == "?"


async def test_arguments_nested_beyond_reading_are_a_mistake_of_the_model(box: Sandbox) -> None:
    deep = '{"a": ' * 700 + "1" + "}" * 700
    record = await play(box, Script(harness_with(), Reply("", None, (RawCall("c", "bash", f'{{"command": {deep}}}'),))))
    assert record.stop is StopReason.FINISHED
    assert "nested too deeply" in record.steps[0].observations[0].shown


async def test_a_time_limit_of_the_models_that_makes_no_sense_is_ignored(box: Sandbox) -> None:
    harness = harness_with(toolset="path-old-text")
    odd = [Action("", None, (ToolCall("c", "bash", {"command": "echo hi", "timeout": n}),)) for n in (-5, 10**400)]
    record = await play(box, Script(harness, *odd))
    assert [step.observations[0].shown for step in record.steps[:2]] == ["hi", "hi"]


async def test_a_lost_trial_keeps_what_had_happened(box: Sandbox) -> None:
    with pytest.raises(EndpointFailure) as caught:
        await play(box, Script(harness_with(), run("echo hi"), EndpointFailure("gone")))
    assert caught.value.record is not None
    assert caught.value.record.steps[0].observations[0].shown == "hi"


async def test_a_step_keeps_the_reply_as_it_came(box: Sandbox) -> None:
    raw = Reply("", None, (RawCall("c", "bash", '{"command":   "true"}'),))
    record = await play(box, Script(harness_with(), raw))
    assert record.steps[0].reply == raw


class Hanging(Script):
    """Says its lines, and then never answers again."""

    async def complete(self, request: Request) -> Reply:
        if not self.lines:
            await anyio.sleep_forever()
        return await super().complete(request)


@pytest.mark.parametrize("lines", [[], [Action("", None, (ToolCall("c", "bash", {"command": "true"}),))]])
async def test_a_hanging_endpoint_is_a_failure_of_the_endpoint_and_no_result(box: Sandbox, lines: list[Line]) -> None:
    with pytest.raises(EndpointFailure, match="no reply within"):
        await play(box, Hanging(harness_with(), *lines), seconds=2)


async def test_every_step_has_its_labels_the_plain_ones_too(box: Sandbox) -> None:
    record = await play(box, Script(harness_with(), run("echo hi"), Action("", None, (shell("true", "nothing"),))))
    assert [step.labels[0] for step in record.steps] == [
        "ok.tool_call",
        "model.unknown_tool_invented",
        "ok.final_answer",
    ]


async def test_a_parameter_that_the_harness_told_the_model_of_is_no_mistake(box: Sandbox) -> None:
    right = Action("", None, (ToolCall("c", "bash", {"command_line": "echo hi"}),))
    record = await play(box, Script(harness_with(faults="incompatible-schema"), run("echo hi"), right))
    assert [step.labels for step in record.steps[:2]] == [("ok.tool_call",), ("ok.tool_call",)]


async def test_further_calls_where_one_is_allowed_are_told_and_are_no_bad_calls(box: Sandbox) -> None:
    both = Action("", None, (shell("echo one"),))
    harness = harness_with(protocol="native-single", errors={"level": "explain", "patience": 1})
    calls = tuple(RawCall(f"c{n}", "bash", f'{{"command": "echo {n}"}}') for n in range(3))
    record = await play(box, Script(harness, Reply("", None, calls, "tool_calls"), both))
    assert record.stop is StopReason.FINISHED
    assert [o.refused for o in record.steps[0].observations] == [False, True, True]
    assert record.steps[0].labels == ("ok.tool_call", "serving.tool_choice_ignored")
    assert "errors" in harness.acted(record), "it worded the refusals"


async def test_a_refusal_by_a_fault_is_told_from_a_mistake(box: Sandbox) -> None:
    harness = harness_with(faults="missing-tool")
    edit = ToolCall("c", "str_replace_editor", {})
    tool = next(tool for tool in harness.tools if any(p.role == "old" for p in tool.parameters))
    values = {p.name: p.choices[0] if p.choices else "x" for p in tool.parameters if p.required}
    mistaken = await play(box, Script(harness, Action("", None, (shell("true", "nothing"),))))
    record = await play(box, Script(harness, Action("", None, (ToolCall(edit.id, tool.name, values),))))
    assert "faults" not in harness.acted(mistaken)
    assert "faults" in harness.acted(record)


async def test_a_retried_reply_says_in_the_record_what_had_failed(box: Sandbox) -> None:
    again = Reply("", None, (RawCall("c", "bash", '{"command": "true"}'),), "tool_calls", faults=("infra.overloaded",))
    record = await play(box, Script(harness_with(), again))
    assert record.steps[0].reply is not None
    assert record.steps[0].reply.faults == ("infra.overloaded",)


async def test_a_wait_that_outlasts_the_trial_is_a_deadline_of_the_endpoint(box: Sandbox) -> None:
    with pytest.raises(EndpointFailure) as caught:
        await play(box, Hanging(harness_with()), seconds=2)
    assert caught.value.label == "infra.deadline"
