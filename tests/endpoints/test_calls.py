"""Tool calls from deltas whose indexes, ids and fragments cannot be trusted."""

from __future__ import annotations

from typing import Any

import pytest

from harness_eval.endpoints.calls import CallAssembler


def delta(arguments: Any = None, **parts: Any) -> dict[str, Any]:
    function = {"arguments": arguments} | ({"name": parts.pop("name")} if "name" in parts else {})
    return {**parts, "function": function}


def assembled(*deltas: dict[str, Any]) -> tuple[list[tuple[str, str, str]], frozenset[str]]:
    assembler = CallAssembler()
    for each in deltas:
        assembler.add([each])
    return [(call.id, call.name, call.arguments) for call in assembler.calls()], assembler.oddities


def test_interleaved_fragments_follow_their_index() -> None:
    calls, odd = assembled(
        delta("", index=0, id="a", name="run"),
        delta("", index=1, id="b", name="read"),
        delta('{"x"', index=0),
        delta('{"y"', index=1),
        delta(": 1}", index=0),
        delta(": 2}", index=1),
    )
    assert calls == [("a", "run", '{"x": 1}'), ("b", "read", '{"y": 2}')]
    assert odd == set()


def test_a_new_id_under_an_old_index_is_a_new_call() -> None:
    calls, odd = assembled(
        delta('{"a":2}', index=0, id="a1", name="add"), delta('{"c":1}', index=0, id="a2", name="add")
    )
    assert calls == [("a1", "add", '{"a":2}'), ("a2", "add", '{"c":1}')]
    assert odd == {"serving.index_collision"}


def test_a_new_name_under_an_old_index_is_a_new_call() -> None:
    calls, _ = assembled(delta('{"a":2}', index=0, name="add"), delta("{}", index=0, name="stop"))
    assert [(name, arguments) for _, name, arguments in calls] == [("add", '{"a":2}'), ("stop", "{}")]


def test_one_constant_id_and_index_for_two_whole_objects_are_two_calls() -> None:
    calls, _ = assembled(
        delta('{"cmd":"pwd"}', index=0, id="call_0", name="run"),
        delta('{"cmd":"ls"}', index=0, id="call_0", name="run"),
    )
    assert [arguments for _, _, arguments in calls] == ['{"cmd":"pwd"}', '{"cmd":"ls"}']


def test_one_id_under_two_indexes_is_two_calls() -> None:
    calls, _ = assembled(delta("{}", index=0, id="dup", name="run"), delta("{}", index=1, id="dup", name="run"))
    assert len(calls) == 2


def test_deltas_without_index_follow_the_last_call() -> None:
    calls, odd = assembled(
        delta("", id="a", name="run"),
        delta('{"x":'),
        delta(" 1}"),
        delta('{"y": 2}', id="b", name="run"),
    )
    assert calls == [("a", "run", '{"x": 1}'), ("b", "run", '{"y": 2}')]
    assert odd == {"serving.index_missing"}


def test_an_index_that_appears_only_later_follows_the_last_call() -> None:
    calls, _ = assembled(delta("", id="a", name="run"), delta('{"x":', index=0), delta(" 1}", index=0))
    assert calls == [("a", "run", '{"x": 1}')]


def test_deltas_without_index_that_repeat_their_id_continue_that_call() -> None:
    calls, _ = assembled(
        delta('{"x":', id="a", name="run"),
        delta('{"y":', id="b", name="run"),
        delta(" 1}", id="a"),
        delta(" 2}", id="b"),
    )
    assert calls == [("a", "run", '{"x": 1}'), ("b", "run", '{"y": 2}')]


def test_a_header_repeated_on_every_delta_stays_one_call() -> None:
    header = {"index": 0, "id": "a", "name": "run"}
    calls, _ = assembled(delta('{"x"', **header), delta(": {", **header), delta("}}", **header))
    assert calls == [("a", "run", '{"x": {}}')]


def test_a_name_that_comes_after_the_id_is_filled_in() -> None:
    calls, _ = assembled(delta(None, index=0, id="a"), delta("", index=0, name="run"), delta("{}", index=0))
    assert calls == [("a", "run", "{}")]


@pytest.mark.parametrize("header", [{}, {"id": "a", "name": "run"}])
def test_growing_snapshots_are_replaced_and_not_joined(header: dict[str, str]) -> None:
    calls, odd = assembled(
        delta('{"cmd":"cat"}', index=0, id="a", name="run"),
        delta('{"cmd":"cat /h"}', index=0, **header),
        delta('{"cmd":"cat /home"}', index=0, **header),
    )
    assert calls == [("a", "run", '{"cmd":"cat /home"}')]
    assert odd == {"gateway.args_snapshots"}


def test_snapshots_that_are_incomplete_on_the_way_are_replaced_too() -> None:
    calls, _ = assembled(
        delta('{"c', index=0, id="a", name="run"), delta('{"cmd": "l', index=0), delta('{"cmd": "ls"}', index=0)
    )
    assert calls == [("a", "run", '{"cmd": "ls"}')]


def test_a_placeholder_before_the_real_arguments_is_dropped() -> None:
    calls, odd = assembled(delta("{}", index=0, id="a", name="run"), delta('{"x":', index=0), delta("1}", index=0))
    assert calls == [("a", "run", '{"x":1}')]
    assert odd == {"serving.args_placeholder"}


def test_a_call_whose_whole_arguments_are_an_empty_object_keeps_them() -> None:
    assert assembled(delta("{}", index=0, id="a", name="now"))[0] == [("a", "now", "{}")]


def test_arguments_cut_off_in_the_middle_stay_as_they_came() -> None:
    calls, _ = assembled(delta('{"text":', index=0, id="a", name="write"), delta(' "half a li', index=0))
    assert calls == [("a", "write", '{"text": "half a li')]


def test_arguments_sent_as_an_object_become_text() -> None:
    assert assembled(delta({"cmd": "ls"}, index=0, id="a", name="run"))[0] == [("a", "run", '{"cmd":"ls"}')]


def test_a_call_without_id_gets_one_by_its_position() -> None:
    calls, _ = assembled(delta("{}", index=0, name="run"), delta("{}", index=1, name="run"))
    assert [id_ for id_, _, _ in calls] == ["call_0", "call_1"]


def test_empty_deltas_are_no_calls() -> None:
    assembler = CallAssembler()
    for deltas in ([], None, [], [{}]):
        assembler.add(deltas)
    assert assembler.calls() == ()


def test_a_whole_message_keeps_two_calls_that_share_an_id_apart() -> None:
    assembler = CallAssembler()
    assembler.add_whole(
        [{"id": "d", **delta('{"cmd":"pwd"}', name="run")}, {"id": "d", **delta('{"a":1}', name="run")}]
    )
    assert [call.arguments for call in assembler.calls()] == ['{"cmd":"pwd"}', '{"a":1}']
