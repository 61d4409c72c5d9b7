"""A record under today's code: equal where nothing has changed, and named by turn and part where something has."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from harness_eval import recording, store
from harness_eval.agent import run_agent
from harness_eval.design import Design, plan_harnesses
from harness_eval.dialogue import _FULL, _Canned, _Script
from harness_eval.errors import ConfigError
from harness_eval.family import whole_family
from harness_eval.harness import Harness, load_harness, make_harness, named_harnesses
from harness_eval.replaying import Compared, Difference, changes, check, compare, differing, rebuilt
from harness_eval.types import (
    Compaction,
    Event,
    Limits,
    Lost,
    Note,
    RawCall,
    Reply,
    Result,
    Step,
    StopReason,
    Trajectory,
    TrialKey,
    Usage,
    Verdict,
)
from tests.doubles import Scripted

KEY = TrialKey("t", "h", "e")
ALL = {harness.name: harness for harness in plan_harnesses(whole_family(), Design(kind="one-at-a-time"), 0).harnesses}
ALL |= {name: load_harness(name) for name in named_harnesses()}
SUMMARY = make_harness(
    {"name": "summary", "context": {"level": "summary", "window": 600}, "stopping": "submit-tool"}, "here"
)


def recorded(harness: Harness) -> Trajectory:
    """What is read back of a dialogue that met everything the harness words."""
    limits = Limits(steps=30, tokens=10 * _FULL)

    async def play() -> Trajectory:
        return await run_agent(harness, "Do it.", _Canned(), _Script(harness), limits=limits, seed=0)

    return recording.unpack(recording.pack(KEY, anyio.run(play), {}))


@pytest.mark.parametrize("name", ALL)
def test_a_record_of_every_level_of_every_axis_is_derived_again_without_a_difference(name: str) -> None:
    record = recorded(ALL[name])
    found = compare(ALL[name], record)
    assert not found.differences
    asked = sum(not isinstance(event, Note) for event in record.events)
    assert (found.requests, found.replies, found.unkept) == (asked, asked, 0)


@pytest.fixture(scope="module")
def record() -> Trajectory:
    made = recorded(SUMMARY)
    kinds = {type(event) for event in made.events}
    assert kinds == {Step, Note, Compaction}, "this record must hold all that can differ"
    return made


def edited(record: Trajectory, kind: type[Event], number: int, change: Callable[[Event], Event]) -> Trajectory:
    """The record with the nth event of a kind changed."""
    place = [index for index, event in enumerate(record.events) if isinstance(event, kind)][number]
    events = (*record.events[:place], change(record.events[place]), *record.events[place + 1 :])
    return dataclasses.replace(record, events=events)


def put(**values: object) -> Callable[[Event], Event]:
    return lambda event: dataclasses.replace(event, **values)


def told(found: Compared) -> list[tuple[str, int]]:
    return [(each.part, each.turn) for each in found.differences]


def test_a_request_with_another_hash_is_named_by_turn(record: Trajectory) -> None:
    found = compare(SUMMARY, edited(record, Step, 2, put(digest="0" * 64)))
    assert told(found) == [("request", 3)]
    assert "000000000000, now" in found.differences[0].detail
    assert "how the turns before it are shown" in found.differences[0].detail
    assert "tools" in compare(SUMMARY, edited(record, Step, 0, put(digest="0"))).differences[0].detail


def test_a_summary_request_with_another_hash_is_named(record: Trajectory) -> None:
    found = compare(SUMMARY, edited(record, Compaction, 0, put(digest="0")))
    assert [part for part, _ in told(found)] == ["request"]
    assert "how a summary is asked for" in found.differences[0].detail


def test_a_reply_that_is_taken_for_something_else_is_named_by_turn(record: Trajectory) -> None:
    other = Reply("", None, (RawCall("call_0", "bash", '{"command": "rm"}'),))
    found = compare(SUMMARY, edited(record, Step, 1, put(reply=other)))
    assert told(found) == [("action", 2)]
    assert "I run cat big.log." in found.differences[0].detail


def test_a_summary_that_is_read_otherwise_or_covers_other_events_is_named(record: Trajectory) -> None:
    read = compare(SUMMARY, edited(record, Compaction, 0, put(reply=Reply(""))))
    assert [part for part, _ in told(read)] == ["summary"]
    assert "(no summary was given)" in read.differences[0].detail
    covers = compare(SUMMARY, edited(record, Compaction, 0, put(covers=0)))
    assert ("summary", "covers 0 events, now") in [(d.part, d.detail[:20]) for d in covers.differences]


def test_another_system_prompt_is_said_once_and_brings_no_other_difference(record: Trajectory) -> None:
    other = SUMMARY.model_copy(update={"prompt": load_harness("canonical").prompt.model_copy(), "name": "other"})
    assert not compare(other, record).differences
    handbook = make_harness({**SUMMARY.spec(), "prompt": "handbook"}, "here")
    assert told(compare(handbook, record)) == [("system", 0)]


def test_what_the_harness_says_between_turns_is_compared(record: Trajectory) -> None:
    found = compare(SUMMARY, edited(record, Note, 0, put(text="Go on.")))
    assert "notes" in dict(told(found))
    without = dataclasses.replace(record, events=tuple(e for e in record.events if not isinstance(e, Note)))
    assert "Nothing was called" in next(d.detail for d in compare(SUMMARY, without).differences if d.part == "notes")


def test_where_a_trial_is_finished_is_compared(record: Trajectory) -> None:
    last = len(record.steps)
    assert told(compare(SUMMARY, dataclasses.replace(record, stop=StopReason.STEPS))) == [("stop", last)]
    twice = make_harness({**SUMMARY.spec(), "stopping": {"level": "confirm-twice", "times": 3}}, "here")
    again = recorded(twice)
    assert told(compare(twice, dataclasses.replace(again, stop=None))) == [("stop", len(again.steps))]


def test_a_record_that_went_on_after_its_end_differs() -> None:
    canonical = load_harness("canonical")
    patient = recorded(SUMMARY)
    assert "stop" in dict(told(compare(canonical, patient)))


def test_only_the_first_difference_of_a_part_is_kept_with_the_number_of_later_ones(record: Trajectory) -> None:
    changed = record
    for number in (1, 2, 4):
        changed = edited(changed, Step, number, put(digest="0"))
    assert [(d.turn, d.later) for d in compare(SUMMARY, changed).differences] == [(2, 2)]


def test_what_was_not_kept_is_counted_and_no_difference(record: Trajectory) -> None:
    found = compare(SUMMARY, edited(record, Step, 1, put(reply=None, digest="")))
    whole = compare(SUMMARY, record)
    assert not found.differences
    assert (found.requests, found.replies, found.unkept) == (whole.requests - 1, whole.replies - 1, 1)


def test_a_record_that_no_harness_can_have_made_is_a_difference_and_no_exception(record: Trajectory) -> None:
    found = compare(SUMMARY, edited(record, Step, 0, put(observations=())))
    assert ("request", 2) in told(found)
    assert "cannot be derived" in str(found.differences)


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999", str(10**40), "-" + "9" * 25, '"\\ud800"'])
def test_values_that_json_cannot_hold_are_no_difference(number: str) -> None:
    canonical = load_harness("canonical")
    call = RawCall("c", "bash", f'{{"command": "ls", "n": {number}}}')
    replies = [Reply("", None, (call,), "tool_calls", Usage(1, 1)), Reply("Done.", usage=Usage(1, 1))]
    endpoint = Scripted(lambda request: replies[sum(message["role"] == "tool" for message in request.messages)])

    async def play() -> Trajectory:
        return await run_agent(canonical, "Do it.", _Canned(), endpoint, limits=Limits(), seed=0)

    read = recording.unpack(recording.pack(KEY, anyio.run(play), {}))
    assert not compare(canonical, read).differences
    assert compare(canonical, read).requests == 2


def _run(folder: Path, *results: Result, harness: Harness = SUMMARY) -> dict[str, object]:
    spec = {"name": "h", "id": harness.id, "version": "1", "wire": "w", "spec": harness.spec()}
    study = {"name": "s", "harnesses": [spec]}
    with store.open_run(folder, study) as run:
        for result in results:
            run.append(result)
    return study


def test_a_run_is_counted(tmp_path: Path, record: Trajectory) -> None:
    bad = edited(record, Step, 0, put(digest="0"))
    keys = [TrialKey("t", "h", "e", n) for n in range(4)]
    study = _run(
        tmp_path / "run",
        Result(keys[0], "a", Verdict(1.0), trajectory=record),
        Result(keys[1], "a", Verdict(0.0), trajectory=bad, recovered=Verdict(1.0)),
        Result(keys[2], "a", failure=Lost("sandbox", "no box")),
        Result(keys[3], "a", failure=Lost("endpoint", "gone"), trajectory=dataclasses.replace(record, stop=None)),
        Result(TrialKey("t", "stranger", "e"), "a", Verdict(1.0), trajectory=record),
    )
    found = check(tmp_path / "run", store.latest(tmp_path / "run"), rebuilt(study))
    assert (found.trials, found.differing, found.without_record, found.strangers, found.recovered) == (3, 2, 1, 1, 1)
    assert [(key, difference.part) for key, difference in found.differences] == [
        (keys[1], "request"),
        (keys[3], "stop"),
    ]


def test_a_damaged_record_is_named(tmp_path: Path, record: Trajectory) -> None:
    study = _run(tmp_path / "run", Result(KEY, "a", Verdict(1.0), trajectory=record))
    path = tmp_path / "run" / store.TRAJECTORIES / recording.file_name(KEY)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ConfigError, match=path.name):
        check(tmp_path / "run", store.latest(tmp_path / "run"), rebuilt(study))


def test_a_harness_that_cannot_be_built_today_makes_its_trials_differ(tmp_path: Path, record: Trajectory) -> None:
    study = _run(tmp_path / "run", Result(KEY, "a", Verdict(1.0), trajectory=record))
    study["harnesses"][0]["spec"]["prompt"] = {"level": "gone"}
    found = check(tmp_path / "run", store.latest(tmp_path / "run"), rebuilt(study))
    assert [(d.part, d.turn) for _, d in found.differences] == [("harness", 0)]
    assert "unknown level 'gone'" in changes(study, rebuilt(study))["h"][0]


def test_a_harness_whose_version_or_wire_has_changed_is_told() -> None:
    canonical = load_harness("canonical")
    entry = {"name": "canonical", "id": canonical.id, "version": "0.9", "wire": "abc", "spec": canonical.spec()}
    (told_of,) = changes({"harnesses": [entry]}, {"canonical": canonical}).values()
    assert told_of[0].startswith("what a model receives from it has changed: wire abc, now ")
    assert told_of[1] == f"version 0.9 was recorded, today's is {canonical.version}"


@pytest.mark.parametrize("harnesses", [None, {}, [1], [{"spec": {}}], [{"name": 3}]])
def test_a_study_without_harnesses_is_a_mistake(harnesses: object) -> None:
    with pytest.raises(ConfigError, match="harnesses"):
        rebuilt({"harnesses": harnesses})


def test_two_texts_are_shown_from_shortly_before_they_part() -> None:
    assert differing("same", "same") == ""
    assert differing("x" * 100 + "old", "x" * 100 + "new") == f"...{'x' * 20 + 'old'!r}, now ...{'x' * 20 + 'new'!r}"
    assert differing("ab", "abc") == "'ab', now 'abc'"
    assert Difference("request", 1, "d").later == 0
