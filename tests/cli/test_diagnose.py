"""`diagnose`: exactly one JSON line a turn and one for the dialogue, whatever the log holds, or a clear refusal."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness_eval.cli.diagnose import lines_of, report_of
from harness_eval.diagnosis.dialogue import diagnose
from harness_eval.diagnosis.exchange import read_exchanges
from harness_eval.diagnosis.labels import LABELS
from tests.cli.conftest import Said
from tests.diagnosis.logs import Line, call, calling, exchange, refusal, written

Run = Callable[..., Said]

LINES = [
    exchange(calling(call("run", {"cmd": "ls"}), reasoning="so")),
    refusal(429, {"error": {"message": "slow down", "type": "rate_limit_error"}}),
    exchange({"content": "Done."}),
]
CHUNKS = [
    'data: {"choices":[{"index":0,"delta":{"content":"hel"}}]}',
    ": keep-alive",
    'data:{"choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}\r',
    "data: [DONE]",
]


def parsed(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def said_of(text: bytes) -> list[dict[str, Any]]:
    return lines_of(diagnose(read_exchanges(io.BytesIO(text), "log"), "log"))


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_each_turn_has_one_line_and_the_dialogue_the_last(flags: list[str], harness_eval: Run, tmp_path: Path) -> None:
    said = harness_eval("diagnose", written(LINES, tmp_path), *flags)
    lines = parsed(said.out)
    assert said.code == 0
    assert [line["turn"] for line in lines] == [0, 1, 2, None]
    assert [line["label"] for line in lines] == [
        "ok.reasoning_field_alias",
        "infra.rate_limited",
        "ok.final_answer",
        "infra.rate_limited",
    ]
    assert all(list(line)[:5] == ["turn", "label", "owner", "effect", "evidence"] for line in lines)


def test_standard_input_is_read_for_a_dash(harness_eval: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = written(LINES, tmp_path).read_bytes()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))
    assert len(parsed(harness_eval("diagnose", "-").out)) == 4


def test_a_stream_is_read_as_its_lines_came(tmp_path: Path) -> None:
    line = {"request": None, "response": {"chunks": CHUNKS}, "seconds": None}
    turn, dialogue = report_of(written([line], tmp_path))
    assert turn["label"] == dialogue["label"] == "ok.final_answer"
    assert "'hello'" in turn["evidence"]


def test_a_body_may_be_an_object_and_a_request_a_text(tmp_path: Path) -> None:
    line = exchange(calling(call("Read", {})), json.dumps({"tools": ["read"]}))
    line["response"]["body"] = json.loads(line["response"]["body"])
    assert report_of(written([line], tmp_path))[0]["label"] == "model.tool_name_case"


def test_a_request_may_stand_with_its_headers_around_it(tmp_path: Path) -> None:
    body = {"tools": ["read"], "max_tokens": 9}
    line = exchange(calling(call("Read", {})), {"headers": {"Authorization": "Bearer abcdef123456"}, "body": body})
    assert report_of(written([line], tmp_path))[0]["label"] == "model.tool_name_case"


GOOD = json.dumps(LINES[0])
BROKEN = {
    "no JSON": ("{'a'}", "is not JSON"),
    "torn": (GOOD[:-20], "torn"),
    "a list": ("[1]", "request and response"),
    "no response": ('{"request": null}', "request and response"),
    "response null": ('{"request": null, "response": null}', "body or chunks"),
    "no body": ('{"request": null, "response": {"status": 200}}', "body or chunks"),
    "bad status": ('{"request": null, "response": {"status": "ok", "body": ""}}', "HTTP status"),
    "bad chunks": ('{"request": null, "response": {"chunks": [1]}}', "list of texts"),
    "bad headers": ('{"request": null, "response": {"headers": [], "body": ""}}', "must be an object"),
    "bad request": ('{"request": 5, "response": {"body": ""}}', "request must be"),
    "bad text": ('{"request": "{", "response": {"body": ""}}', "request is a text"),
    "bad seconds": ('{"request": null, "response": {"body": ""}, "seconds": "1"}', "seconds"),
    "too deep": ("[" * 100_000, "is not JSON"),
    "deep body": (f'{{"request": null, "response": {{"body": {"[" * 1000}{"]" * 1000}}}}}', "nested too deeply"),
    "deep tools": (f'{{"request": {{"tools": {"[" * 990}{"]" * 990}}}, "response": {{"body": ""}}}}', "too deeply"),
    "deep text": (json.dumps({"request": "[" * 800 + "]" * 800, "response": {"body": ""}}), "request"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_line_that_cannot_be_read_is_named(kind: str, harness_eval: Run, tmp_path: Path) -> None:
    text, reason = BROKEN[kind]
    path = tmp_path / "wire.jsonl"
    path.write_text(f"{GOOD}\n\n{text}")
    said = harness_eval("diagnose", path)
    assert (said.code, said.out) == (2, "")
    assert f"{path}: line 3" in said.err
    assert reason in said.err


def test_bytes_that_are_no_text_are_named(harness_eval: Run, tmp_path: Path) -> None:
    path = tmp_path / "wire.jsonl"
    path.write_bytes(b"\xff\xfe\n")
    assert "line 1" in harness_eval("diagnose", path).err


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_log_is_an_error(text: str, harness_eval: Run, tmp_path: Path) -> None:
    path = tmp_path / "wire.jsonl"
    path.write_text(text)
    said = harness_eval("diagnose", path)
    assert said.code == 2
    assert "no exchange" in said.err


def test_a_file_that_is_missing_is_an_error(harness_eval: Run, tmp_path: Path) -> None:
    said = harness_eval("diagnose", tmp_path / "none.jsonl")
    assert said.code == 2
    assert "none.jsonl" in said.err


def test_keys_from_headers_do_not_reach_the_evidence(tmp_path: Path) -> None:
    key = "k3y-of-somebody-1234567890"
    headers = {"X-Api-Key": key, "Retry-After": "2", "Content-Type": "application/json"}
    lines = [
        refusal(400, {"error": {"message": f"bad key {key}, wait 2 s"}}),
        exchange({"content": f"Your key is {key}"}),
        exchange(calling(call("run", {"cmd": key}))),
        exchange({"content": f"<tool_call>{key}"}),
    ]
    for line in lines:
        line["response"]["headers"] = headers
    said = report_of(written(lines, tmp_path))
    assert key not in json.dumps(said)
    assert "wait 2 s" in said[0]["evidence"]


@pytest.mark.parametrize("depth", [250, 600, 940, 1000, 1020, 100_000])
def test_a_response_may_be_nested_as_deeply_as_it_likes(depth: int, tmp_path: Path) -> None:
    nested, objects = "[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth
    lines = [
        refusal(status, text)
        for status in (200, 400)
        for text in (nested, objects, f'{{"error": {nested}}}', f'{{"choices": {nested}}}', f'{{"usage": {objects}}}')
    ]
    lines += [exchange(calling(call("run", text))) for text in (objects, f'{{"a": {nested}}}')] * 3
    assert len(report_of(written(lines, tmp_path))) == len(lines) + 1


KEY = "zq81-LIVE-keyvalue-0042aa77"
SENT = {"model": "m", "messages": []}


@pytest.mark.parametrize(
    "request_line",
    [
        {"headers": {"Authorization": [f"Bearer {KEY}"]}, "body": SENT},
        {"headers": {"Authorization": f"Bearer {KEY}"}, "body": json.dumps(SENT)},
        {**SENT, "extra_headers": {"Authorization": f"Bearer {KEY}"}},
        {**SENT, "extra": {"headers": [["X-Api-Key", KEY]]}},
        {**SENT, "extra": {"headers": [{"name": "X-Api-Key", "value": KEY}]}},
        {**SENT, "api_key": KEY},
        {**SENT, "litellm_params": [{"client": {"azure_ad_token": KEY}}]},
        {"url": f"https://h/v1?key={KEY}", "body": SENT},
        {"url": f"/v1/chat?a=b&api_key={KEY}", "body": SENT},
        {"url": f"https://user:{KEY}@h/v1", "body": SENT},
    ],
)
def test_keys_from_wherever_a_request_has_them_do_not_reach_the_evidence(request_line: Any, tmp_path: Path) -> None:
    line = refusal(401, {"error": {"message": f"bad key {KEY}"}}, request_line)
    assert KEY not in json.dumps(report_of(written([line], tmp_path)))


def test_words_of_the_dialogue_are_no_secrets(tmp_path: Path) -> None:
    request = {**SENT, "messages": [{"role": "user", "content": "x", "key": "finished"}], "max_tokens": 64000}
    assert "finished" in report_of(written([exchange({"content": "finished"}, request)], tmp_path))[0]["evidence"]


def test_characters_that_command_a_terminal_are_escaped(harness_eval: Run, tmp_path: Path) -> None:
    raw = "\x1b[31mred\x9b2J\u202eevil\u2066\x07\u0085"
    lines = [exchange({"content": raw}), refusal(400, raw), exchange(calling(call(raw, {"a": raw}), call(raw, raw)))]
    lines[0]["response"]["headers"] = {"x": raw}
    out = harness_eval("diagnose", written(lines, tmp_path)).out
    told = [text for line in parsed(out) for text in (line["evidence"], *line.get("also", ()))]
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "".join([out, *told]))
    assert "\\x9b2J" in told[0]


def test_a_log_of_many_megabytes_is_read_line_by_line(tmp_path: Path) -> None:
    text = json.dumps(exchange({"content": "x" * 500_000}))
    path = tmp_path / "wire.jsonl"
    path.write_text(f"{text}\n" * 40)
    assert len(report_of(path)) == 41


PIECES = st.sampled_from(
    [
        '{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}',
        '{"choices":[{"message":{"tool_calls":[{"function":{"name":"a","arguments":"{"}}]}}]}',
        '{"choices":[{"message":{"tool_calls":[{"id":5,"function":{"name":null}}],"reasoning":["x"]}}]}',
        '{"error":{"message":"x"}}',
        '{"choices":[]}',
        "data: [DONE]\n\n",
        'data: {"choices":[{"delta":{"tool_calls":[]}}]}\n\n',
        "<html>",
        "null",
        "\ud83d",
    ]
)
BODIES = st.text(max_size=40) | st.lists(PIECES, max_size=3).map("".join)
KEYS = st.text("abcdef0123456789", min_size=16, max_size=24).filter(lambda key: re.search("[a-f]", key) is not None)
REQUESTS = st.sampled_from(
    [None, {"tools": ["a"]}, {"messages": [{"role": "assistant", "content": None}]}, {"model": "m", "messages": []}]
)


@st.composite
def logs(draw: st.DrawFn) -> tuple[list[Line], list[str]]:
    lines, keys = list[Line](), list[str]()
    for _ in range(draw(st.integers(1, 3))):
        key = draw(KEYS)
        body = draw(BODIES).replace("x", key)
        status = draw(st.sampled_from([200, 302, 400, 401, 413, 422, 429, 500, 504]))
        response = {"status": status, "headers": {"authorization": f"Bearer {key}"}, "body": body}
        if draw(st.booleans()):
            response = {"status": status, "headers": {"x-api-key": key}, "chunks": body.split("\n")}
        lines.append(
            {"request": draw(REQUESTS), "response": response, "seconds": draw(st.sampled_from([None, 1, 9.5]))}
        )
        keys.append(key)
    return lines, keys


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(logs())
def test_any_response_has_exactly_one_known_label_and_tells_no_key(log: tuple[list[Line], list[str]]) -> None:
    lines, keys = log
    said = said_of("".join(json.dumps(line) + "\n" for line in lines).encode())
    assert [line["turn"] for line in said] == [*range(len(lines)), None]
    for line in said:
        assert {line["label"], *line.get("also", ())} <= set(LABELS)
        assert line["effect"] == LABELS[line["label"]].effect
        assert not any(key in line["evidence"] for key in keys)
        assert len(line["evidence"].splitlines()) <= 1


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused_with_a_line_number(text: bytes) -> None:
    with pytest.raises(Exception, match=r"line \d+|no exchange"):
        said_of(text)
