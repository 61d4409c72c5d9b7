"""What a trial as a whole is labelled with, and two laws over the real loop."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness_eval.agent import run_agent
from harness_eval.axes import levels
from harness_eval.diagnosis.labels import LABELS, found
from harness_eval.diagnosis.trial import label_of, labels_of, trial_findings, turns_of
from harness_eval.endpoints.base import Endpoint
from harness_eval.errors import EndpointFailure, HarnessFailure, SandboxFailure, TaskFailure, boundary
from harness_eval.harness import Harness, load_harness, make_harness, named_harnesses
from harness_eval.sandboxes.base import Executed, Sandbox
from harness_eval.trial import hidden
from harness_eval.types import (
    Action,
    Compaction,
    Limits,
    Note,
    Observation,
    RawCall,
    Reply,
    Request,
    Step,
    StopReason,
    ToolCall,
    Trajectory,
    Usage,
)
from tests.axes.strategies import records

LOOK = Action("I look.", None, (ToolCall("c", "bash", {"command": "ls"}),))


def step(action: Action = LOOK, *labels: str, shown: str = "a.txt", full: int | None = None, digest: str = "") -> Step:
    seen = tuple(Observation(shown, len(shown) if full is None else full) for _ in action.calls)
    own = labels or (("ok.tool_call",) if action.calls else ("ok.final_answer",))
    return Step(action, seen, labels=own, digest=digest)


def record(*events: Step | Note | Compaction, stop: StopReason = StopReason.FINISHED) -> Trajectory:
    return Trajectory("system", "the task", events, stop)


def findings(trajectory: Trajectory, solved: bool = False) -> list[str]:
    return [finding.label for finding in trial_findings(turns_of(trajectory), trajectory, solved)]


def test_a_turn_has_what_was_said_called_shown_and_told() -> None:
    cut = step(shown="a", full=900)
    events = (step(), Note("Go on.", "nudge"), cut, Compaction(1, "So far: nothing."), step(Action("Done.")))
    first, second, third = turns_of(record(*events), frozenset({"bash"}), [frozenset(), frozenset(), frozenset({0})])
    assert (first.text, first.calls, first.results, first.cut) == ("I look.", LOOK.calls, ("a.txt",), (False,))
    assert (second.told, second.cut, second.compacted) == (("Go on.",), (True,), False)
    assert (third.told, third.compacted, third.hidden, third.calls) == (("So far: nothing.",), True, frozenset({0}), ())
    assert first.offered == frozenset({"bash"})
    assert first.finding == found("ok.tool_call")


def test_a_good_end_with_a_bad_verdict_is_a_wrong_answer() -> None:
    assert findings(record(step(), step(Action("It is done.")))) == ["model.wrong_answer"]
    assert findings(record(step(), step(Action("It is done."))), solved=True) == []


@pytest.mark.parametrize(
    "label",
    [
        "serving.tool_call_dropped",
        "undetermined.markup_leak",
        "undetermined.empty_turn",
        "undetermined.thought_only",
        "limit.output_tokens_reasoning",
        "harness.taught_text_dialect",
    ],
)
def test_an_end_that_somebody_else_has_a_part_in_is_no_wrong_answer(label: str) -> None:
    trajectory = record(step(), step(Action("It is"), label))
    assert findings(trajectory) == []
    assert labels_of(trajectory, trial_findings(turns_of(trajectory), trajectory, False)) == (label,)


def test_what_was_put_right_at_the_end_or_told_to_the_model_before_it_excuses_nothing() -> None:
    assert findings(
        record(step(LOOK, "model.bad_args_json"), step(Action("It is done."), "serving.think_tag_leak"))
    ) == ["model.wrong_answer"]


@pytest.mark.parametrize(
    "label", ["serving.markup_in_arguments", "undetermined.bad_args_json", "gateway.reasoning_placeholder"]
)
def test_where_the_wire_spoilt_an_earlier_turn_nobody_can_tell_whose_the_end_is(label: str) -> None:
    assert findings(record(step(LOOK, label), step(Action("It is done.")))) == []


def test_an_end_that_has_a_name_of_its_own_is_no_wrong_answer() -> None:
    assert findings(record(step(), step(Action("Now I will change it:")))) == ["model.premature_stop"]


@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        (StopReason.STEPS, ["limit.steps"]),
        (StopReason.TOKENS, ["limit.total_tokens"]),
        (StopReason.OVERFLOW, ["limit.context_overflow"]),
        (StopReason.TIME, []),
        (StopReason.MALFORMED, []),
    ],
)
def test_a_limit_that_ended_a_trial_is_its_label_and_its_last_words_are_no_end(
    stop: StopReason, expected: list[str]
) -> None:
    assert findings(record(step(), step(Action("Now I will change it:")), stop=stop)) == expected


def test_the_labels_of_a_trial_are_distinct_and_leave_out_what_is_plain() -> None:
    loop = record(*[step(LOOK, "ok.tool_call", "serving.index_missing")] * 5, stop=StopReason.STEPS)
    labels = labels_of(loop, trial_findings(turns_of(loop), loop, False))
    assert labels == ("serving.index_missing", "model.loop_identical_calls", "limit.steps")


def test_a_command_that_outlasted_its_limit_does_not_exclude_a_trial() -> None:
    trajectory = record(step(LOOK, "ok.tool_call", "sandbox.exec_hang"), step(Action("It is done.")))
    labels = labels_of(trajectory, trial_findings(turns_of(trajectory), trajectory, False))
    assert labels == ("model.wrong_answer",)


def failed(error: Exception) -> SandboxFailure:
    with pytest.raises(SandboxFailure) as caught, boundary("sandbox"):
        raise error
    return caught.value


def test_a_failure_has_the_label_it_was_given_or_that_of_its_kind() -> None:
    busy = EndpointFailure("busy")
    busy.label = "infra.overloaded"
    assert label_of(busy) == "infra.overloaded"
    assert label_of(TaskFailure("no reward")) == "evaluator.infra_scored_zero"
    assert label_of(failed(OSError(28, "No space left on device"))) == "sandbox.disk_full"
    assert label_of(failed(OSError(13, "Permission denied"))) == ""
    assert label_of(HarnessFailure("ours")) == ""


# What a harness showed


def hides(harness: Harness, steps: int) -> tuple[frozenset[int], ...]:
    made = tuple(step(digest=str(number)) for number in range(steps))
    return hidden(harness, Trajectory("system", "task", made))


def test_a_harness_that_shows_everything_hides_nothing() -> None:
    assert hides(make_harness({"name": "x"}, "x"), 4) == (frozenset(),) * 4


def test_dropped_reasoning_hides_no_result() -> None:
    assert hides(make_harness({"name": "x", "thinking": "drop"}, "x"), 4) == (frozenset(),) * 4


@pytest.mark.parametrize("context", [{"level": "window", "steps": 2}, {"level": "clear-results", "keep": 2}])
def test_what_a_window_leaves_out_or_blanks_is_hidden(context: dict[str, object]) -> None:
    harness = make_harness({"name": "x", "context": context}, "x")
    assert hides(harness, 5) == (frozenset(), frozenset(), frozenset(), frozenset({0}), frozenset({0, 1}))


CONTEXTS = (
    {"level": "full"},
    {"level": "window", "steps": 2},
    {"level": "clear-results", "keep": 2},
    {"level": "summary", "keep": 0},
    {"level": "summary", "keep": 2, "inject": "acknowledged"},
)
LESS = [
    make_harness({"name": "x", "context": context, "thinking": thinking}, "x")
    for context in CONTEXTS
    for thinking in levels("thinking")
]


@settings(max_examples=80, deadline=None)
@given(data=st.data(), harness=st.sampled_from(LESS))
def test_what_is_hidden_is_what_the_view_of_each_request_left_out_or_changed(
    data: st.DataObject, harness: Harness
) -> None:
    trajectory = data.draw(records(harness))
    expected, before = [], list[Step]()
    for place, event in enumerate(trajectory.events):
        if isinstance(event, Step):
            view = harness.view(dataclasses.replace(trajectory, events=trajectory.events[:place]))
            shown = {each.digest: each.observations for each in view.steps}
            left_out = [n for n, each in enumerate(before) if shown.get(each.digest) != each.observations]
            expected.append(frozenset(left_out))
            before.append(event)
    assert hidden(harness, trajectory) == tuple(expected)


def test_reading_again_what_the_harness_blanked_is_no_loop_of_the_model() -> None:
    harness = make_harness({"name": "x", "context": {"level": "clear-results", "keep": 1}}, "x")
    reads = [Action("", None, (ToolCall("c", "bash", {"command": f"cat {name}"}),)) for name in ("a", "b", "a")]
    made = tuple(step(action, digest=str(number)) for number, action in enumerate(reads))
    trajectory = Trajectory("system", "task", (*made, step(Action("It is done."), digest="3")), StopReason.FINISHED)
    found_ones = trial_findings(turns_of(trajectory, None, hidden(harness, trajectory)), trajectory, False)
    assert [finding.label for finding in found_ones] == ["harness.context_elided"]


# Laws


class Still(Sandbox):
    """Commands do nothing, at once."""

    workdir = "/app"

    async def run(
        self, command: str, *, timeout: float = 60.0, cwd: str | None = None, env: Mapping[str, str] | None = None
    ) -> Executed:
        del timeout, cwd, env
        return Executed(command[:20], 0, full_length=2_000_000 if "flood" in command else len(command[:20]))

    async def read(self, path: str) -> bytes:
        return path.encode()

    async def write(self, path: str, data: bytes) -> None:
        del path, data

    async def upload(self, source: Path, target: str) -> None:
        del source, target

    async def end_processes(self) -> None:
        return


class Says(Endpoint):
    """Says what it was given, then that it is done."""

    name = model = "says"

    def __init__(self, replies: list[Reply]) -> None:
        self.replies = list(replies)

    async def complete(self, request: Request) -> Reply:
        del request
        return self.replies.pop(0) if self.replies else Reply("Done.", finish_reason="stop")

    async def close(self) -> None:
        return


pieces = [
    "",
    "Done.",
    "Now I will do it:",
    '<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n</tool_call>',
    "<tool_call>",
    "<function=bash>\n<parameter=command>\nls\n</parameter>\n</function>",
    "```bash\nflood\n```",
    "```python\nbash(command='ls')\n```",
    '{"tool": "bash", "arguments": {"command": "ls',
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.bash:0",
    "<think>",
    "\ud800",
]
texts = st.lists(st.sampled_from(pieces), max_size=3).map("\n".join) | st.text(max_size=30)
raw_calls = st.builds(
    RawCall,
    st.sampled_from(["c1", "", "functions.bash:0"]),
    st.sampled_from(["bash", "Bash", "invented", "", "<|open|>"]) | st.text(max_size=8),
    st.sampled_from(
        ['{"command": "ls"}', '{"command": "flood"}', "{}", "[]", "", '{"command": "l', "null", '"{}"', "{" * 3000]
    )
    | st.text(max_size=20),
)
replies = st.builds(
    Reply,
    texts,
    st.none() | texts,
    st.lists(raw_calls, max_size=3).map(tuple),
    st.sampled_from(["stop", "tool_calls", "length", "", "stop_163586"]),
    st.just(Usage(10, 5)),
)


@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.sampled_from(sorted(named_harnesses())), st.lists(replies, max_size=6))
def test_every_step_of_every_trial_has_a_label_of_the_vocabulary(name: str, said: list[Reply]) -> None:
    harness = load_harness(name)

    async def play() -> Trajectory:
        return await run_agent(harness, "the task", Still(), Says(said), limits=Limits(steps=9), seed=0)

    trajectory = anyio.run(play)
    for each in trajectory.steps:
        assert each.labels
        assert set(each.labels) <= set(LABELS)
    for solved in (True, False):
        turns = turns_of(trajectory, frozenset(tool.name for tool in harness.tools), hidden(harness, trajectory))
        labels = labels_of(trajectory, trial_findings(turns, trajectory, solved))
        assert set(labels) <= set(LABELS)
        assert not solved or "model.wrong_answer" not in labels
