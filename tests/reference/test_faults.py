"""What each fault does to the bytes on the wire, in whole replies and in streams."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from harness_eval.diagnosis.labels import LABELS
from harness_eval.errors import ConfigError
from harness_eval.reference.answering import Answerer
from harness_eval.reference.faults import FAULTS, Answer
from harness_eval.reference.faults.leaks import DIALECTS
from harness_eval.reference.process import parse_faults
from harness_eval.reference.server import ReferenceConfig, listening
from harness_eval.reference.wire import MODEL

from .conversation import INSTRUCTION, tools_of

TASK = [{"role": "system", "content": "You are an agent."}, {"role": "user", "content": INSTRUCTION}]
CALL = {"id": "a", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
TURN = [
    {"role": "assistant", "content": "I look.", "reasoning_content": "First I look.", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "a", "content": "nothing"},
]
ENDED = [
    *TASK,
    {"role": "assistant", "content": "All 5 steps are done."},
    {"role": "user", "content": "Anything else?"},
]
ARGUMENTS = {"command": "cat app.log"}
USAGE = {"stream_options": {"include_usage": True}}


def asking(messages: list[Any] = TASK, **more: Any) -> dict[str, Any]:
    return {"model": MODEL, "messages": messages, "tools": tools_of({}), "seed": 3, **more}


class Server:
    """The answers of one configuration, without a connection."""

    def __init__(self, suite: Path, *faults: str, seed: int = 0) -> None:
        self.answerer: Answerer = ReferenceConfig((suite,), faults=parse_faults(faults), seed=seed).answerer()

    def answer(self, body: dict[str, Any], *, chat: bool = True) -> Answer:
        return self.answerer.answer(json.dumps(body).encode(), chat=chat)

    def whole(self, body: dict[str, Any]) -> Any:
        answer = self.answer(body)
        assert answer.status == 200
        return json.loads(b"".join(answer.pieces))

    def message(self, body: dict[str, Any]) -> Any:
        return self.whole(body)["choices"][0]["message"]

    def text(self, body: dict[str, Any]) -> str:
        answer = self.answer({**body, "stream": True, **USAGE})
        assert (answer.status, answer.content_type) == (200, "text/event-stream")
        return b"".join(answer.pieces).decode()

    def chunks(self, body: dict[str, Any]) -> list[Any]:
        frames = self.text(body).strip().split("\n\n")
        assert frames.pop() == "data: [DONE]"
        return [json.loads(frame.removeprefix("data: ")) for frame in frames]

    def deltas(self, body: dict[str, Any]) -> list[Any]:
        return [choice["delta"] for chunk in self.chunks(body) for choice in chunk["choices"]]

    def said(self, body: dict[str, Any], key: str) -> str:
        return "".join(delta.get(key) or "" for delta in self.deltas(body))

    def calls(self, body: dict[str, Any]) -> list[Any]:
        return [call for delta in self.deltas(body) for call in delta.get("tool_calls", ())]

    def refused(self, body: dict[str, Any]) -> str:
        answer = self.answer(body)
        assert answer.status == 400
        return str(json.loads(b"".join(answer.pieces))["error"]["message"])


Serving = Callable[..., Server]


@pytest.fixture
def serving(suite: Path) -> Serving:
    return lambda *faults, **more: Server(suite, *faults, **more)


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_says_what_it_is_and_shows_as_known_labels(name: str) -> None:
    kind = FAULTS[name]
    assert kind.__doc__
    assert kind.__doc__.strip().endswith(".")
    assert set(kind.shows) <= LABELS.keys()
    assert 0 < kind.usual <= 1


@pytest.mark.parametrize("name", FAULTS)
def test_no_fault_ever_breaks_the_server(serving: Serving, name: str) -> None:
    server = serving(f"{name}=1")
    prompt = {"model": MODEL, "prompt": "Task: x\n$ ", "stop": ["\n"]}
    for stream in (False, True):
        for messages in (TASK, [*TASK, *TURN], ENDED):
            assert server.answer(asking(messages, stream=stream)).status >= 200
            assert server.answer(asking(messages, tools=[], stream=stream)).status >= 200
        assert server.answer({**prompt, "stream": stream}, chat=False).status >= 200
        assert server.answer({"model": MODEL, "messages": "none", "stream": stream}).status == 400


def test_all_faults_together_do_not_break_it_either(serving: Serving) -> None:
    refusing = {name for name, kind in FAULTS.items() if "refuses" in vars(kind)}
    for rounds in range(20):
        server = serving(*(f"{name}=0.5" for name in FAULTS if name not in refusing), seed=rounds)
        for stream in (False, True):
            assert server.answer(asking([*TASK, *TURN], stream=stream)).status == 200


def test_a_bare_name_has_the_strength_that_is_usual_for_it() -> None:
    assert parse_faults(["stall", "crlf", "server-error=0.5"]) == {
        "stall": FAULTS["stall"].usual,
        "crlf": 1.0,
        "server-error": 0.5,
    }


@pytest.mark.parametrize(
    ("faults", "said"), [({"crfl": 1}, "did you mean 'crlf'?"), ({"crlf": 1.5}, "outside of 0..1")]
)
def test_unknown_faults_and_strengths_are_refused(suite: Path, faults: dict[str, float], said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)):
        ReferenceConfig((suite,), faults=faults)


def test_the_strength_is_the_share_of_requests(serving: Serving) -> None:
    server = serving("empty-turn=0.3")
    empty = sum(not server.message(asking(seed=seed))["content"] for seed in range(400))
    assert 80 < empty < 160


def test_a_lasting_fault_strikes_the_same_bytes_always_and_a_transient_one_lets_retries_pass(serving: Serving) -> None:
    lasting, transient = serving("empty-turn=0.5"), serving("server-error=0.5")
    for seed in range(20):
        assert len({lasting.message(asking(seed=seed))["content"] for _ in range(4)}) == 1
    statuses = [[transient.answer(asking(seed=seed)).status for _ in range(12)] for seed in range(20)]
    assert all(set(attempts) == {200, 500} for attempts in statuses)
    again = serving("server-error=0.5")
    assert statuses == [[again.answer(asking(seed=seed)).status for _ in range(12)] for seed in range(20)]
    other = serving("server-error=0.5", seed=1)
    assert statuses != [[other.answer(asking(seed=seed)).status for _ in range(12)] for seed in range(20)]


def test_faults_combine(serving: Serving) -> None:
    server = serving("index-missing", "constant-ids", "reasoning-alias", "crlf", "no-space-after-data", "no-done")
    text = server.text(asking())
    assert '"reasoning"' in text
    assert '"index":0,"id"' not in text
    assert '"id":"call_0"' in text
    assert all(line.startswith("data:{") for line in text.split("\r\n") if line)


# Framing


def test_keep_alives_of_each_kind_stand_between_the_chunks(serving: Serving) -> None:
    text = serving("keep-alives").text(asking())
    for piece in (": keep-alive\n\n", "data:\n\n", "data: : ", '"choices":[]}', ": ping\n"):
        assert piece in text
    data = b"".join(serving("keep-alives").answer(asking()).pieces)
    assert data[:1].isspace()
    assert json.loads(data)["choices"]


def test_split_frames_are_the_same_bytes_in_small_pieces(serving: Serving) -> None:
    for stream in (False, True):
        split, joined = serving("split-frames").answer(asking(stream=stream)), serving().answer(asking(stream=stream))
        assert b"".join(split.pieces) == b"".join(joined.pieces)
        assert len(split.pieces) > 20
        assert max(map(len, split.pieces)) <= 48


def test_a_stream_without_its_end_marker_still_says_why_it_ended(serving: Serving) -> None:
    text = serving("no-done").text(asking())
    assert "[DONE]" not in text
    assert '"finish_reason":"tool_calls"' in text


def test_the_finish_reason_may_come_with_the_last_piece(serving: Serving) -> None:
    chunks = serving("finish-with-last-text").chunks(asking(ENDED))
    last = next(chunk["choices"][0] for chunk in chunks if chunk["choices"][0]["finish_reason"])
    assert last["delta"]["content"]
    assert serving("finish-with-last-text").said(asking(ENDED), "content") == serving().said(asking(ENDED), "content")


def test_the_finish_reason_is_odd_in_two_ways(serving: Serving) -> None:
    server = serving("odd-finish-reason")
    found = {server.whole(asking(seed=seed))["choices"][0]["finish_reason"] for seed in range(20)}
    assert found == {"stop", "stop_163586"}
    assert server.message(asking())["tool_calls"]
    limited = server.whole(asking(max_tokens=10))["choices"][0]["finish_reason"]
    assert limited == "length"


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("late-usage", ["frame"]),
        ("early-usage", ["first", "frame"]),
        ("usage-in-choice", ["choice"]),
    ],
)
def test_usage_hides_in_other_places_of_a_stream(serving: Serving, name: str, places: list[str]) -> None:
    chunks = serving(name).chunks(asking())
    found = []
    for at, chunk in enumerate(chunks):
        if chunk.get("usage"):
            found.append("first" if at == 0 else "frame")
        if any(choice.get("usage") for choice in chunk.get("choices", ())):
            found.append("choice")
    assert found == places
    if name == "early-usage":
        assert (chunks[0]["usage"]["prompt_tokens"] > 0, chunks[-1]["usage"]["prompt_tokens"]) == (True, 0)


def test_usage_is_missing_null_or_zero(serving: Serving) -> None:
    server = serving("no-usage")
    for found in (
        [server.whole(asking(seed=seed)) for seed in range(30)],
        [server.chunks(asking(seed=seed))[-1] for seed in range(30)],
    ):
        shapes = {str(body.get("usage", "missing")) for body in found}
        assert len(shapes) == 3
        assert not any((body.get("usage") or {}).get("prompt_tokens") for body in found)


# Calls


def test_calls_of_a_stream_lose_their_index_or_share_it(serving: Serving) -> None:
    assert not any("index" in call for call in serving("index-missing").calls(asking()))
    calls = serving("index-collision").calls(asking())
    assert {call["index"] for call in calls} == {0}
    assert len({call["id"] for call in calls if "id" in call}) == 2
    assert len(serving("index-collision").message(asking())["tool_calls"]) == 1


def test_a_second_call_does_nothing_and_is_left_out_where_one_call_is_wanted(serving: Serving) -> None:
    server = serving("duplicate-ids")
    first, second = server.message(asking())["tool_calls"]
    assert first["id"] == second["id"]
    assert json.loads(first["function"]["arguments"]) == ARGUMENTS
    assert "true" in json.loads(second["function"]["arguments"])["command"]
    assert len(server.message(asking(parallel_tool_calls=False))["tool_calls"]) == 1


@pytest.mark.parametrize(
    ("name", "pattern", "again"),
    [("constant-ids", "call_0", True), ("ids-restart", "bash:0", True), ("random-ids", r"chatcmpl-tool-\w{32}", False)],
)
def test_ids_have_other_forms(serving: Serving, name: str, pattern: str, again: bool) -> None:
    ids = [serving(name).message(asking(m))["tool_calls"][0]["id"] for m in (TASK, [*TASK, *TURN])]
    assert all(re.fullmatch(pattern, id_) for id_ in ids)
    assert (ids[0] == ids[1]) is again


def test_arguments_are_streamed_after_a_placeholder_or_as_snapshots(serving: Serving) -> None:
    pieces = [call["function"]["arguments"] for call in serving("args-placeholder").calls(asking())]
    assert pieces[0] == "{}"
    assert json.loads("".join(pieces[1:])) == ARGUMENTS
    pieces = [p for call in serving("args-snapshots").calls(asking()) if (p := call["function"]["arguments"])]
    assert len(pieces) > 1
    assert all(later.startswith(earlier) for earlier, later in pairwise(pieces))
    assert json.loads(pieces[-1]) == ARGUMENTS


def test_names_and_arguments_are_spoilt(serving: Serving) -> None:
    def function(name: str) -> Any:
        return serving(f"{name}=1").message(asking())["tool_calls"][0]["function"]

    assert function("markup-in-name")["name"].startswith("bash<")
    spoilt = json.loads(function("markup-in-arguments")["arguments"])["command"]
    assert spoilt.startswith(ARGUMENTS["command"])
    assert "<" in spoilt
    with pytest.raises(ValueError, match="Unterminated"):
        json.loads(function("bad-args")["arguments"])
    assert json.loads(json.loads(function("args-double-encoded")["arguments"])) == ARGUMENTS


def test_calls_of_tools_that_are_not_offered_vanish(serving: Serving) -> None:
    order = [{"role": "user", "content": 'Call the tool nowhere with the arguments {"a": 1}.'}]
    assert serving().message(asking(order))["tool_calls"][0]["function"]["name"] == "nowhere"
    whole = serving("unknown-tool-filtered").whole(asking(order))["choices"][0]
    assert "tool_calls" not in whole["message"]
    assert whole["finish_reason"] == "stop"
    assert serving("unknown-tool-filtered").message(asking())["tool_calls"]


def test_a_tool_choice_of_none_is_kept_or_ignored(serving: Serving) -> None:
    assert "tool_calls" not in serving().message(asking(tool_choice="none"))
    assert serving("tool-choice-ignored").message(asking(tool_choice="none"))["tool_calls"]


# Reasoning


def test_reasoning_comes_under_another_key(serving: Serving) -> None:
    usual = serving().message(asking())["reasoning_content"]
    assert serving("reasoning-alias").message(asking())["reasoning"] == usual
    assert serving("reasoning-alias").said(asking(), "reasoning") == usual
    details = serving("reasoning-details").message(asking())["reasoning_details"]
    assert [part["text"] for part in details] == [usual]
    deltas = serving("reasoning-details").deltas(asking())
    assert "".join(part["text"] for delta in deltas for part in delta.get("reasoning_details", ())) == usual
    for name in ("reasoning-alias", "reasoning-details"):
        assert not any("reasoning_content" in delta for delta in serving(name).deltas(asking()))


@pytest.mark.parametrize(
    ("name", "read", "lost"),
    [
        ("reasoning-alias", {"reasoning": "x"}, {"reasoning_content": "x" * 400}),
        ("reasoning-details", {"reasoning_details": [{"text": "x"}]}, {"reasoning_content": "x" * 400}),
        ("history-reasoning-ignored", {}, {"reasoning_content": "x" * 400}),
    ],
)
def test_earlier_reasoning_under_a_key_that_is_not_read_counts_no_token(
    serving: Serving, name: str, read: dict[str, Any], lost: dict[str, Any]
) -> None:
    def tokens(*faults: str, **keys: Any) -> int:
        turn = {**{key: value for key, value in TURN[0].items() if key != "reasoning_content"}, **keys}
        return int(serving(*faults).whole(asking([*TASK, turn, TURN[1]]))["usage"]["prompt_tokens"])

    assert tokens(name, **lost) == tokens(name)
    assert (tokens(name, **read) > tokens(name)) is bool(read)
    assert tokens(**lost) > tokens()


def test_the_key_of_reasoning_is_null_where_there_is_none(serving: Serving) -> None:
    deltas = serving("reasoning-null").deltas(asking())
    assert all("reasoning_content" in delta for delta in deltas)
    assert deltas[-1]["reasoning_content"] is None


def test_reasoning_and_text_change_places(serving: Serving) -> None:
    usual = serving().message(asking())
    leak = serving("think-tag-leak").message(asking())
    assert leak["content"] == f"{usual['reasoning_content']}\n</think>\n{usual['content']}"
    assert "reasoning_content" not in leak
    answer = serving("answer-in-reasoning=1").message(asking(ENDED))
    assert (answer["content"], answer["reasoning_content"].startswith("All 5 steps")) == ("", True)
    assert serving("answer-in-reasoning=1").message(asking()) == usual
    only = serving("reasoning-in-content=1").whole(asking())["choices"][0]
    assert usual["reasoning_content"] in only["message"]["content"]
    assert "tool_calls" not in only["message"]
    assert only["finish_reason"] == "stop"


def test_a_terminator_stands_in_streams_only(serving: Serving) -> None:
    assert serving("terminator-leak").said(asking(), "content").endswith("<|close|>message<|sep|>")
    assert serving("terminator-leak").message(asking()) == serving().message(asking())


def test_nothing_but_reasoning_comes_or_nothing_at_all(serving: Serving) -> None:
    messages = [serving("thought-only=1").message(asking(seed=seed)) for seed in range(20)]
    assert {message["content"].strip() for message in messages} == {"", "(empty content)"}
    assert all(message["reasoning_content"] and "tool_calls" not in message for message in messages)
    assert serving("empty-turn=1").message(asking()) == {"role": "assistant", "content": ""}
    assert "reasoning_content" not in serving("thinking-not-applied").message(asking())
    assert "unavailable" in serving("reasoning-placeholder").said(asking(), "reasoning_content")


# Leaks


def test_a_leaked_call_is_text_in_every_dialect(serving: Serving) -> None:
    server = serving("markup-leak=1")
    choices = [server.whole(asking(seed=seed))["choices"][0] for seed in range(60)]
    assert all(choice["finish_reason"] == "stop" and "tool_calls" not in choice["message"] for choice in choices)
    texts = {choice["message"]["content"] for choice in choices}
    assert len(texts) == len(DIALECTS)
    assert all("bash" in text and "cat app.log" in text for text in texts)
    assert "cat app.log" in server.said(asking(), "content")
    assert server.message(asking(ENDED)) == serving().message(asking(ENDED))


def test_a_leaked_call_stands_in_the_reasoning(serving: Serving) -> None:
    for name, mark in (("call-in-reasoning=1", "bash"), ("tool-call-dropped=1", '<|open|>call tool="bash"')):
        message = serving(name).message(asking())
        assert message["content"] == ""
        assert mark in message["reasoning_content"]
        assert "cat app.log" in message["reasoning_content"]
        assert "tool_calls" not in message


def test_tokens_of_a_template_have_spaces_between_them(serving: Serving) -> None:
    assert '<|open|> tools <|sep|> <|open|> call tool="bash"' in serving("parser-mismatch").message(asking())["content"]


def test_calls_become_text_after_three_with_foreign_ids(serving: Serving) -> None:
    server = serving("foreign-ids")
    assert server.message(asking([*TASK, *TURN * 2]))["tool_calls"][0]["id"].startswith("chatcmpl-tool-")
    leaked = server.message(asking([*TASK, *TURN * 3]))
    assert "functions.bash:3" in leaked["content"]
    assert "tool_calls" not in leaked


# Failures


def test_a_rate_limit_states_its_wait_in_each_shape(serving: Serving) -> None:
    server = serving("rate-limited=1")
    answers = [server.answer(asking(seed=seed)) for seed in range(80)]
    assert {answer.status for answer in answers} == {429}
    stated = {re.sub(r"[A-Z][a-z]{2}\b|\d", "9", str(sorted(answer.headers.items()))) for answer in answers}
    assert len(stated) == 7, "two dates look alike"
    assert all(b"rate_limit" in answer.pieces[0] for answer in answers)


@pytest.mark.parametrize(
    ("name", "statuses", "said"),
    [
        ("overloaded", {429, 503, 529}, b"overloaded"),
        ("quota-exhausted", {429}, b"exceeded_current_quota"),
        ("server-error", {500}, b"InternalServerError"),
        ("gateway-page", {502}, b"<html>"),
        ("deadline", {504}, b"timeout"),
        ("error-in-200", {200}, b'"error"'),
    ],
)
def test_refusals_have_their_status_and_words(serving: Serving, name: str, statuses: set[int], said: bytes) -> None:
    server = serving(f"{name}=1")
    answers = [server.answer(asking(seed=seed, stream=seed % 2 == 0)) for seed in range(30)]
    assert {answer.status for answer in answers} == statuses
    assert any(said in answer.pieces[0] for answer in answers)


@pytest.mark.parametrize("name", ["payload-too-large", "request-cut", "context-overflow=1"])
def test_what_depends_on_length_strikes_only_a_dialogue_that_has_grown(serving: Serving, name: str) -> None:
    assert serving(name).answer(asking([*TASK, *TURN])).status == 200
    assert serving(name).answer(asking([*TASK, *TURN * 2])).status in (400, 413)


def test_a_stream_breaks_off_in_three_ways(serving: Serving) -> None:
    for seed in range(10):
        body = asking(seed=seed)
        text = serving("truncated-stream=1").text(body)
        assert "[DONE]" not in text
        assert '"finish_reason":"' not in text
        assert text.endswith("\n\n")
        chunks = serving("error-in-stream=1").chunks(body)
        assert [bool(chunk.get("error")) for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
        broken = serving("connection-dropped=1").answer({**body, "stream": True})
        assert broken.broken
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        serving("truncated-stream=1").whole(asking())


def test_a_success_holds_nothing(serving: Serving) -> None:
    assert serving("empty-choices=1").whole(asking())["choices"] == []
    assert not any(chunk["choices"] for chunk in serving("empty-choices=1").chunks(asking()))
    assert serving("foreign-envelope").whole(asking())["data"]["choices"]
    assert all("choices" not in chunk for chunk in serving("foreign-envelope").chunks(asking()))
    phantom = serving("phantom-tool-calls=1").whole(asking())["choices"][0]
    assert (phantom["finish_reason"], "tool_calls" in phantom["message"]) == ("tool_calls", False)
    deltas = serving("empty-tool-deltas=1").deltas(asking())
    assert [delta["tool_calls"] for delta in deltas if "tool_calls" in delta] == [[]] * 8
    assert serving("empty-tool-deltas=1").message(asking())["tool_calls"]


# Requests


def test_a_schema_with_an_object_inside_is_refused_or_crashes_the_server(serving: Serving) -> None:
    nested = asking(tools=tools_of({"planning": "todo"}))
    assert "properties.todos.items" in serving("schema-rejected").refused(nested)
    assert serving("crash-on-schema").answer(nested).status == 500
    for name in ("schema-rejected", "crash-on-schema"):
        assert serving(name).answer(asking()).status == 200


def test_names_and_parameters_are_refused(serving: Serving) -> None:
    assert "tools[0].function.name" in serving("tool-name-rejected").refused(
        asking(tools=tools_of({"toolset": "pascal-case"}))
    )
    assert serving("tool-name-rejected").answer(asking()).status == 200
    assert "'stop'" in serving("param-rejected").refused(asking(stop=["x"]))
    assert serving("param-rejected").answer(asking()).status == 200


def test_earlier_reasoning_is_required_or_forbidden(serving: Serving) -> None:
    with_it = asking([*TASK, *TURN])
    without = asking([*TASK, {key: v for key, v in TURN[0].items() if key != "reasoning_content"}, TURN[1]])
    empty = asking([*TASK, {**TURN[0], "reasoning_content": ""}, TURN[1]])
    assert serving("reasoning-required").answer(with_it).status == 200
    for name in ("reasoning-forbidden", "thinking-unsigned"):
        assert serving(name).refused(with_it)
        assert serving(name).answer(without).status == 200
    for body in (without, empty):
        assert "index 2" in serving("reasoning-required").refused(body)


def test_the_order_the_text_and_the_ids_of_messages_are_refused(serving: Serving) -> None:
    noted = asking([*TASK, *TURN, {"role": "user", "content": "Go on."}])
    assert "after role 'tool'" in serving("message-order").refused(noted)
    assert serving("message-order").answer(asking([*TASK, *TURN])).status == 200
    said = serving("empty-message-refused").message(asking())
    assert (said["content"], bool(said["tool_calls"])) == ("", True)
    assert "position 2" in serving("empty-message-refused").refused(
        asking([*TASK, {**TURN[0], "content": ""}, TURN[1]])
    )
    (call,) = serving("id-charset").message(asking())["tool_calls"]
    assert call["id"] == "functions.bash:0"
    history = [*TASK, {**TURN[0], "tool_calls": [call]}, {**TURN[1], "tool_call_id": call["id"]}]
    assert "messages.2.tool_calls.0.id" in serving("id-charset").refused(asking(history))


def test_limits_cut_a_call_or_leave_nothing_but_reasoning(serving: Serving) -> None:
    choice = serving("output-cap=1").whole(asking())["choices"][0]
    assert choice["finish_reason"] == "length"
    assert not choice["message"]["tool_calls"][0]["function"]["arguments"].endswith("}")
    capped = [serving("output-cap=1").whole(asking(seed=seed, max_tokens=500)) for seed in range(20)]
    assert {body["choices"][0]["finish_reason"] for body in capped} == {"length", "tool_calls"}
    assert {body["usage"]["completion_tokens"] for body in capped} == {500}
    eaten = serving("reasoning-eats-budget=1").whole(asking())["choices"][0]
    assert (eaten["finish_reason"], eaten["message"]["content"]) == ("length", "")
    assert eaten["message"]["reasoning_content"]


# Over a connection


@asynccontextmanager
async def posted(suite: Path, fault: str, body: dict[str, Any]) -> AsyncIterator[aiohttp.ClientResponse]:
    config = ReferenceConfig((suite,), faults=parse_faults([fault]))
    async with listening(config) as base_url, aiohttp.ClientSession() as session:
        timeout = aiohttp.ClientTimeout(sock_read=0.3)
        async with session.post(f"{base_url}/chat/completions", json=body, timeout=timeout) as response:
            yield response


@pytest.mark.anyio
async def test_pieces_arrive_one_by_one(suite: Path) -> None:
    async with posted(suite, "split-frames", asking(stream=True)) as response:
        pieces = [piece async for piece in response.content.iter_any()]
    assert len(pieces) > 5
    assert b"".join(pieces).endswith(b"data: [DONE]\n\n")


@pytest.mark.anyio
@pytest.mark.parametrize("stream", [False, True])
async def test_a_dropped_connection_is_no_end_of_the_body(suite: Path, stream: bool) -> None:
    for seed in range(4):
        with pytest.raises(aiohttp.ClientError):
            async with posted(suite, "connection-dropped=1", asking(seed=seed, stream=stream)) as response:
                await response.read()


@pytest.mark.anyio
@pytest.mark.parametrize("stream", [False, True])
async def test_a_stalled_response_is_silent(suite: Path, stream: bool) -> None:
    for seed in range(2):
        with pytest.raises(TimeoutError):
            async with posted(suite, "stall=1", asking(seed=seed, stream=stream)) as response:
                await response.read()


@pytest.mark.anyio
async def test_status_headers_and_type_of_a_refusal_arrive(suite: Path) -> None:
    async with posted(suite, "gateway-page=1", asking()) as response:
        assert (response.status, response.content_type) == (502, "text/html")
        assert "Bad Gateway" in await response.text()
