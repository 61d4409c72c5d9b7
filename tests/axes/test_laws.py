"""Laws that hold for every level, those of plugins included."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_eval.axes import KINDS, Level, axes
from harness_eval.harness import CANONICAL, Harness, canonical, make_harness
from harness_eval.types import Action, Observation, RawCall, Reply, Request, Step, Trajectory, View
from tests.axes.strategies import ALL_LEVELS, VIEWING, calls, harnesses, records

COMMON = settings(max_examples=60, deadline=None)


@pytest.mark.parametrize("level", ALL_LEVELS, ids=lambda level: f"{level.axis}.{level.level_name()}")
def test_every_level_documents_itself_in_its_own_words(level: Level) -> None:
    assert type(level).__doc__
    assert type(level).__doc__ != type(level).__mro__[1].__doc__
    assert level.documentation().endswith(".")


@pytest.mark.parametrize("level", ALL_LEVELS, ids=lambda level: f"{level.axis}.{level.level_name()}")
def test_a_level_survives_json(level: Level) -> None:
    from harness_eval.axes import make_level

    assert make_level(level.axis, json.loads(json.dumps(level.spec()))) == level


def test_every_axis_has_a_canonical_level_and_one_kind() -> None:
    assert tuple(CANONICAL) == axes()
    assert sorted(axis for kind in KINDS.values() for axis in kind) == sorted(axes())


@COMMON
@given(harness=harnesses())
def test_a_harness_survives_json(harness: Harness) -> None:
    again = Harness.model_validate(json.loads(json.dumps(harness.spec())))
    assert again == harness
    assert again.id == harness.id
    assert again.system == harness.system


@COMMON
@given(one=harnesses(), other=harnesses())
def test_equal_ids_mean_equal_levels(one: Harness, other: Harness) -> None:
    assert (one.id == other.id) == (one.levels == other.levels)


def test_a_parameter_changes_the_id() -> None:

    one = make_harness({"name": "a", "truncation": {"level": "head", "cap": 1000}}, "a")
    other = make_harness({"name": "a", "truncation": {"level": "head", "cap": 1001}}, "a")
    assert one.id != other.id


def test_name_and_version_do_not_change_the_id() -> None:
    assert canonical().model_copy(update={"name": "x", "version": "9"}).id == canonical().id


@COMMON
@given(data=st.data(), harness=harnesses())
def test_a_view_never_reorders_or_invents_steps(data: st.DataObject, harness: Harness) -> None:
    record = data.draw(records(harness))
    recorded = iter(step.digest for step in record.steps)
    assert all(step.digest in recorded for step in harness.view(record).steps)


@COMMON
@given(data=st.data(), harness=harnesses())
def test_a_view_shows_each_step_with_its_own_calls_and_observations(data: st.DataObject, harness: Harness) -> None:
    record = data.draw(records(harness))
    by_digest = {step.digest: step for step in record.steps}
    for step in harness.view(record).steps:
        assert step.action.calls == by_digest[step.digest].action.calls
        assert len(step.observations) == len(by_digest[step.digest].observations)


@COMMON
@given(data=st.data())
def test_levels_of_different_axes_commute_on_views(data: st.DataObject) -> None:
    one = data.draw(st.sampled_from(VIEWING))
    other = data.draw(st.sampled_from([level for level in VIEWING if level.axis != one.axis]))
    record = data.draw(records(canonical()))
    view = View(record.system, record.prompt, record.events)
    assert one.view(other.view(view)) == other.view(one.view(view))


def _texts(request: Request) -> str:
    return "\n".join(str(message["content"]) for message in request.messages) + request.prompt


@COMMON
@given(data=st.data(), harness=harnesses())
def test_every_observation_is_sent_exactly_once(data: st.DataObject, harness: Harness) -> None:
    record = data.draw(records(harness))
    sent = _texts(harness.encode(View(record.system, record.prompt, record.events)))
    for step in record.steps:
        for observation in step.observations:
            assert sent.count(observation.shown) == 1


def _as_reply(request: Request) -> Reply:
    said = [message for message in request.messages if message["role"] == "assistant"][-1]
    called = [
        RawCall(call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in said.get("tool_calls", ())
    ]
    return Reply(said["content"], said.get("reasoning_content"), tuple(called))


def _as_completion(request: Request) -> Reply:
    return Reply([line for line in request.prompt.splitlines() if line.startswith("$")][-2])


@settings(max_examples=150, deadline=None)
@given(data=st.data(), harness=harnesses())
def test_a_call_survives_being_written_and_read(data: st.DataObject, harness: Harness) -> None:
    call = data.draw(calls(harness.tools).filter(harness.protocol.carries))
    step = Step(Action("", None, (call,)), (Observation("done", 4),))
    request = harness.encode(View("s", "p", (step,)))
    action = harness.decode(_as_completion(request) if request.wire == "completions" else _as_reply(request))
    assert [(each.name, dict(each.arguments)) for each in action.calls] == [(call.name, dict(call.arguments))]
    assert not action.malformed


@COMMON
@given(data=st.data(), harness=harnesses())
def test_two_calls_of_one_turn_keep_distinct_ids(data: st.DataObject, harness: Harness) -> None:
    record = data.draw(records(harness))
    for message in harness.encode(View("s", "p", record.events)).messages:
        ids = [call["id"] for call in message.get("tool_calls", ())]
        assert len(set(ids)) == len(ids)
        assert all(ids)


@COMMON
@given(harness=harnesses())
def test_tool_schemas_are_plain_and_names_are_portable(harness: Harness) -> None:
    for tool in harness.tools:
        assert tool.name[0].isalpha()
        assert len(tool.name) <= 64
        _assert_typed(tool.schema())
    names = [tool.name for tool in harness.tools]
    assert len(set(names)) == len(names)


def _assert_typed(schema: dict[str, Any]) -> None:
    assert "type" in schema
    assert not {"$ref", "anyOf", "oneOf"} & schema.keys()
    for inner in [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]:
        _assert_typed(inner)


@COMMON
@given(data=st.data(), harness=harnesses())
def test_an_assistant_message_is_never_empty(data: st.DataObject, harness: Harness) -> None:
    record = data.draw(records(harness))
    for message in harness.encode(harness.view(record)).messages:
        assert message["content"] or message.get("tool_calls")


@COMMON
@given(data=st.data(), harness=harnesses())
def test_notes_depend_on_the_record_alone(data: st.DataObject, harness: Harness) -> None:
    record: Trajectory = data.draw(records(harness))
    assert harness.notes(record) == harness.notes(record)


DEGENERATE = [
    "<function=bash>",
    "<tool_call>",
    '<｜DSML｜invoke name="bash">',
    "```bash\n",
    "```python\n",
    "```typescript\n",
    '{"a":',
    '{"tool": "bash", "arguments": {"command": [',
    "<parameter=command>",
    "<function=",
]


@pytest.mark.parametrize("piece", DEGENERATE)
@pytest.mark.parametrize(
    "protocol", ["json-text", "xml-json", "xml-function", "dsml", "python-code", "typescript-code", "fenced-bash"]
)
def test_endless_repetition_is_read_in_linear_time_and_is_no_valid_call(protocol: str, piece: str) -> None:

    harness = make_harness({"name": "x", "protocol": protocol}, "x")
    for text in (
        piece * 30_000,
        f"<function=bash>{piece * 30_000}</function>",
        f"<tool_call>{piece * 30_000}</tool_call>",
    ):
        action = harness.decode(Reply(text))
        assert not any(call.arguments.get("command") for call in action.calls)
