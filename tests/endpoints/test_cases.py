"""Failures that people met in public, as recorded bytes: what they hold must be what is read from them."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_eval.endpoints.redaction import cleaner
from harness_eval.endpoints.refusals import Refusal, accepted, failure
from harness_eval.endpoints.retries import Transient
from harness_eval.endpoints.stream import BodyReader
from harness_eval.errors import ContextOverflow, EndpointDown, EndpointFailure, HarnessEvalError, HarnessFailure
from harness_eval.types import RawCall

CASES = Path(__file__).resolve().parents[3] / "shared" / "cases"
NAMES = sorted(path.stem for path in CASES.glob("*.yaml")) or ["none"]

# Facts about the bytes as a naive client would join them; what is made of them is tested below.
NAIVE = {"naive_args_concatenated"}
# Facts about requests, which are built elsewhere.
OF_REQUESTS = {"request_orphan_tool", "request_gap_in_batch"}
MENDED = {
    "ARGS-10": ['{"a":2,"b":2}', '{"city":"Oslo"}'],
    "ARGS-15": ['{"cmd":"ls"}'],
    "ARGS-16": ['{"cmd":"cat /home/wx"}'],
}
# What is taken out of the text, so that it cannot be found there any more.
STRIPPED = {"LEAK-05", "RSN-07", "RSN-10"}
ODDITIES = {
    "ARGS-10": {0: {"serving.index_collision"}},
    "ARGS-15": {0: {"serving.args_placeholder"}},
    "ARGS-16": {0: {"gateway.args_snapshots"}},
    "LEAK-05": {1: {"serving.terminator_leak"}},
    "LEAK-06": {0: {"ok.reasoning_field_alias"}},
    "RSN-04": {0: {"ok.reasoning_field_alias"}, 1: {"ok.reasoning_field_alias"}},
    "RSN-07": {0: {"serving.think_tag_leak"}},
    "RSN-10": {0: {"ok.reasoning_details"}, 1: {"ok.reasoning_details"}},
    "TCID-04": {0: {"serving.duplicate_id_in_turn"}},
}
# Successes that are none.
UNACCEPTED = {"infra.stream_truncated", "serving.empty_tool_deltas"}
OF_LABEL: dict[str, type[Exception]] = {
    "infra.overloaded": Transient,
    "infra.rate_limited": Transient,
    "infra.deadline": Transient,
    "infra.gateway": EndpointFailure,
    "infra.quota_exhausted": EndpointDown,
    "limit.context_overflow": ContextOverflow,
    "serving.crash_on_schema": Transient,
    "undetermined.request_cut": EndpointFailure,
}


@functools.cache
def case(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((CASES / f"{name}.yaml").read_text(encoding="utf-8"))
    return loaded


def body_of(response: dict[str, Any]) -> bytes:
    if response["kind"] == "sse":
        return "".join(f"{line}\n\n" for line in response["chunks"]).encode()
    return str(response["body"]).encode()


def read(response: dict[str, Any], step: int = 1 << 20) -> BodyReader:
    reader, body = BodyReader(), body_of(response)
    for start in range(0, len(body), step):
        reader.feed(body[start : start + step])
    reader.close()
    return reader


def readers(name: str) -> list[BodyReader]:
    return [read(response) for response in case(name)["responses"]]


def calls_of(reader: BodyReader) -> tuple[RawCall, ...]:
    return reader.assembler.reply().calls


def is_json(text: str, strict: bool = True) -> bool:
    try:
        json.loads(text, strict=strict)
    except ValueError:
        return False
    return True


def reasoning_state(reader: BodyReader) -> str:
    thinking = reader.assembler.reply().thinking
    return "absent" if thinking is None else "text" if thinking else "empty"


def argument(reader: BodyReader, call: int, key: str) -> Any:
    return json.loads(calls_of(reader)[call].arguments)[key]


Check = Callable[[BodyReader, int, Any], bool]
CHECKS: dict[str, Check] = {
    "n_tool_calls": lambda reader, _, value: len(calls_of(reader)) == value,
    "n_tool_calls_robust": lambda reader, _, value: len(calls_of(reader)) == value,
    "finish": lambda reader, _, value: (reader.assembler.reply().finish_reason or None) == value,
    "args_json": lambda reader, call, value: is_json(calls_of(reader)[call].arguments) is value,
    "args_lenient": lambda reader, call, value: is_json(calls_of(reader)[call].arguments, strict=False) is value,
    "args_has_key": lambda reader, call, value: value in json.loads(calls_of(reader)[call].arguments),
    "args_value_is_json_string": lambda reader, call, value: is_json(argument(reader, call, value)),
    "args_value_type": lambda reader, call, value: type(argument(reader, call, value[0])).__name__ == value[1],
    "content_equals": lambda reader, _, value: reader.assembler.reply().text == value,
    "content_contains": lambda reader, _, value: value in reader.assembler.reply().text,
    "reasoning_contains": lambda reader, _, value: value in (reader.assembler.reply().thinking or ""),
    "reasoning_state": lambda reader, _, value: reasoning_state(reader) == value,
    "name_equals": lambda reader, call, value: calls_of(reader)[call].name == value,
    "name_contains": lambda reader, call, value: value in calls_of(reader)[call].name,
    "done_seen": lambda reader, _, value: reader.done is value,
    "bad_data_frames": lambda reader, _, value: reader.bad_frames == value,
    "completion_tokens": lambda reader, _, value: reader.assembler.usage.completion == value,
    "json_valid": lambda reader, _, value: (not reader.unread) is value,
}
BETWEEN: dict[str, Callable[[list[BodyReader], Any], bool]] = {
    "ids_repeat_across": lambda all_, pair: calls_of(all_[pair[0]])[0].id == calls_of(all_[pair[1]])[0].id,
    "ids_duplicate_within": lambda all_, at: len({call.id for call in calls_of(all_[at])}) < len(calls_of(all_[at])),
    "args_differ": lambda all_, pair: calls_of(all_[pair[0]])[0].arguments != calls_of(all_[pair[1]])[0].arguments,
}


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", NAMES)
def test_what_recorded_bytes_hold_is_read_from_them(name: str) -> None:
    all_ = readers(name)
    for check in case(name)["checks"]:
        (kind, value), *_ = check.items()
        if kind == "http_status" or kind in NAIVE | OF_REQUESTS or (kind == "args_json" and name in MENDED):
            continue
        if kind in ("content_contains", "reasoning_state") and name in STRIPPED:
            continue
        if kind in BETWEEN:
            assert BETWEEN[kind](all_, value), check
        else:
            assert CHECKS[kind](all_[check["resp"]], check.get("call", 0), value), check


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", NAMES)
def test_recorded_bytes_cut_into_single_ones_are_read_alike(name: str) -> None:
    for response in case(name)["responses"]:
        assert read(response, step=1).assembler.reply() == read(response).assembler.reply()


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", MENDED)
def test_the_arguments_that_a_server_garbles_are_put_right(name: str) -> None:
    assert [call.arguments for call in calls_of(readers(name)[0])] == MENDED[name]


def labelled(name: str) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Position, expected label and response, for all responses of a case."""
    expected, responses = case(name)["expected_classification"], case(name)["responses"]
    labels = expected.get("per_response") or [expected["label"]] * len(responses)
    for at, (label, response) in enumerate(zip(labels, responses, strict=True)):
        yield at, label, response


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_refusal_has_its_label_and_the_error_that_goes_with_it(name: str) -> None:
    request = json.loads(case(name).get("request") or "null")
    for _, label, response in labelled(name):
        status = response.get("status", 200)
        if status >= 400:
            headers = {key.lower(): value for key, value in (response.get("headers") or {}).items()}
            error = failure(Refusal(status, body_of(response), headers, 0, request), name, cleaner(()))
            assert error.label == label
            assert isinstance(error, OF_LABEL.get(label, HarnessFailure)), (label, error)


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_success_is_accepted_with_its_oddities_or_refused_with_its_label(name: str) -> None:
    for at, label, response in labelled(name):
        if response.get("status", 200) >= 400:
            continue
        if label in UNACCEPTED:
            with pytest.raises(Transient) as caught:
                accepted(read(response), name, cleaner(()))
            assert caught.value.label == label
        else:
            oddities = set(accepted(read(response), name, cleaner(())).oddities) - {"ok.usage_missing"}
            assert oddities == ODDITIES.get(name, {}).get(at, set())


@pytest.mark.usefixtures("shared")
def test_what_leaked_into_the_text_is_put_where_it_belongs() -> None:
    leak, lone, inline = (readers(name)[-1].assembler.reply() for name in ("LEAK-05", "RSN-07", "RSN-10"))
    assert leak.text == "42"
    assert (lone.text, lone.thinking) == ("The answer is 12.", "Plan: open the file, then answer.")
    assert (inline.text, inline.thinking) == ("\nChecking.", "Run the tests before editing.")


@pytest.mark.usefixtures("shared")
def test_streams_recorded_as_cut_off_are_seen_as_cut_off_and_complete_ones_are_not() -> None:
    assert [reader.truncated for reader in readers("NET-07")] == [True, True]
    assert [reader.truncated for name in ("NET-04", "NET-08", "NET-14") for reader in readers(name)] == [False] * 3


LINE_ENDS = (b"\n", b"\r\n", b"\r")


def outcome(pieces: Iterable[bytes]) -> Any:
    """What becomes of a body that comes in these pieces: a reply, or the label of a failure."""
    reader = BodyReader()
    for piece in pieces:
        reader.feed(piece)
    reader.close()
    counted = (reader.done, reader.streamed, reader.frames, reader.bad_frames, reader.torn_frames, reader.truncated)
    try:
        return counted, accepted(reader, "kimi", cleaner(()))
    except HarnessEvalError as error:
        return counted, type(error), error.label, str(error)


def spelled(response: dict[str, Any], end: bytes) -> bytes:
    """The body with these line ends; only a stream has lines that may end otherwise."""
    body = body_of(response)
    return body.replace(b"\r", b"").replace(b"\n", end) if response["kind"] == "sse" else body


@pytest.mark.usefixtures("shared")
@settings(deadline=None, max_examples=20)
@given(data=st.data())
@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("SBX")])  # these have no responses
def test_no_recorded_body_means_anything_else_when_it_is_cut_anywhere(name: str, data: st.DataObject) -> None:
    response = data.draw(st.sampled_from(case(name)["responses"]))
    body = spelled(response, data.draw(st.sampled_from(LINE_ENDS)))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(body)), max_size=12)))
    pieces = [body[start:stop] for start, stop in pairwise([0, *cuts, len(body)])]
    assert outcome(pieces) == outcome([body])


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", NAMES)
def test_line_ends_of_a_recorded_stream_mean_nothing(name: str) -> None:
    for response in case(name)["responses"]:
        assert len({repr(outcome([spelled(response, end)])) for end in LINE_ENDS}) == 1


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("name", ["NET-04", "NET-08", "NET-14", "LEAK-05", "RSN-07", "ARGS-16", "FIN-08"])
def test_a_recorded_stream_cut_in_two_at_every_byte_means_the_same(name: str) -> None:
    for response in case(name)["responses"]:
        body = body_of(response)
        expected = outcome([body])
        assert all(outcome([body[:at], body[at:]]) == expected for at in range(len(body)))
