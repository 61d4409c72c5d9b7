"""Response bodies in every spelling and every chunking."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness_eval.endpoints.stream import BodyReader
from harness_eval.types import Reply, Usage

from .server import chunk, events

CHUNKS = (
    chunk({"role": "assistant", "reasoning_content": "Überlegung 🤔 "}),
    chunk({"reasoning_content": "zwei", "content": ""}),
    chunk({"content": "naïve – 日本 🎉"}),
    chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "run", "arguments": '{"cmd": "'}}]}),
    chunk({"tool_calls": [{"index": 0, "function": {"arguments": 'écho 🎉"}'}}]}),
    chunk({"tool_calls": [{"id": "b", "function": {"name": "run", "arguments": "{}"}}]}),
    chunk({}, "tool_calls"),
    {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}},
)
RICH = events(*(json.dumps(each, ensure_ascii=False) for each in CHUNKS))
SPELLINGS = {
    "plain": RICH,
    "escaped": events(*CHUNKS),
    "CRLF": RICH.replace(b"\n", b"\r\n"),
    "CR": RICH.replace(b"\n", b"\r"),
    "no space": RICH.replace(b"data: ", b"data:"),
    "keep-alives": b": hello\n\n" + RICH.replace(b"\n\n", b"\n\n: ping\n\ndata:\n\n"),
    "byte order mark": b"\xef\xbb\xbf" + RICH,
    "no blank lines": RICH.replace(b"\n\n", b"\n"),
    "no end marker": RICH.removesuffix(b"data: [DONE]\n\n"),
    "no last newline": RICH.rstrip(b"\n"),
    "named events": RICH.replace(b"data: {", b"event: message\nid: 7\ndata: {"),
    "data that is no JSON": b"data: : PROCESSING\n\n" + RICH,
}


def read(pieces: Iterable[bytes]) -> BodyReader:
    reader = BodyReader()
    for piece in pieces:
        reader.feed(piece)
    reader.close()
    return reader


def reply(body: bytes) -> Reply:
    return read([body]).assembler.reply()


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_of_a_stream_gives_the_same_reply(spelling: str) -> None:
    assert reply(SPELLINGS[spelling]) == reply(RICH)
    assert len(reply(RICH).calls) == 2
    assert reply(RICH).text == "naïve – 日本 🎉"
    assert reply(RICH).usage == Usage(prompt=9, completion=4)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_stream_cut_at_every_single_byte_gives_the_same_reply(spelling: str) -> None:
    body = SPELLINGS[spelling]
    assert read(body[at : at + 1] for at in range(len(body))).assembler.reply() == reply(RICH)


@settings(deadline=None)
@given(st.data())
def test_cutting_a_stream_anywhere_never_changes_what_is_read(data: st.DataObject) -> None:
    body = data.draw(st.sampled_from(sorted(SPELLINGS.values())))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(body)), max_size=12)))
    pieces = [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    whole, cut = read([body]), read(pieces)
    assert cut.assembler.reply() == whole.assembler.reply()
    assert (cut.done, cut.frames, cut.bad_frames, cut.truncated) == (
        whole.done,
        whole.frames,
        whole.bad_frames,
        whole.truncated,
    )


@settings(deadline=None)
@given(st.binary(max_size=80), st.integers(0, 80))
def test_no_bytes_at_all_make_the_reader_raise_or_depend_on_the_chunking(body: bytes, cut: int) -> None:
    one, two = read([body]), read([body[:cut], body[cut:]])
    assert (one.assembler.reply(), one.unread, one.bad_frames) == (two.assembler.reply(), two.unread, two.bad_frames)


def test_a_frame_that_is_no_json_is_counted_and_skipped() -> None:
    reader = read([b"data: : GATEWAY PROCESSING\n\n", events(chunk({"content": "x"}, "stop"))])
    assert (reader.bad_frames, reader.frames, reader.assembler.reply().text) == (1, 1, "x")


def test_a_stream_without_finish_reason_and_without_end_marker_is_truncated() -> None:
    assert read([events(chunk({"content": "half"}), done=False)]).truncated
    assert not read([events(chunk({"content": "all"}), done=True)]).truncated
    assert not read([events(chunk({"content": "all"}, "stop"), done=False)]).truncated


def test_a_whole_body_is_never_truncated() -> None:
    reader = read([json.dumps({"choices": [{"message": {"content": "4"}}]}).encode()])
    assert (reader.streamed, reader.truncated, reader.assembler.reply().text) == (False, False, "4")


def test_a_body_that_is_neither_json_nor_events_is_kept_unread() -> None:
    reader = read([b"<html>", b"busy</html>"])
    assert (reader.unread, reader.assembler.choices) == (b"<html>busy</html>", 0)


def test_an_event_named_error_is_an_error() -> None:
    reader = read([b'event: error\ndata: {"message": "engine died"}\n\n'])
    assert reader.assembler.error == {"message": "engine died"}


def test_a_data_field_of_several_lines_is_one_event() -> None:
    assert reply(b'data: {"choices": [{"delta":\ndata: {"content": "x"}}]}\n\n').text == "x"


def test_half_a_surrogate_pair_in_each_of_two_chunks_becomes_one_character() -> None:
    halves = ['{"choices": [{"delta": {"content": "\\ud83c"}}]}', '{"choices": [{"delta": {"content": "\\udf89"}}]}']
    assert reply(events(*halves)).text == "🎉"
    assert reply(events(halves[0])).text == "\ufffd"


def test_nothing_counts_after_the_end_marker_however_the_body_is_cut() -> None:
    late = events(chunk({"content": "late"}), {"error": {"message": "late"}})
    reader = read([RICH + late])
    assert reader.assembler.reply() == reply(RICH)
    assert (reader.assembler.error, reader.bad_frames) == (None, 0)
