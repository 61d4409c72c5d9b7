"""Exchanges as a wire log: the commands for logs read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_eval.diagnosis.dialogue import diagnose
from harness_eval.diagnosis.exchange import read_exchanges
from harness_eval.draft import draft_harness
from harness_eval.errors import ContextOverflow, EndpointFailure
from harness_eval.gateway import log
from harness_eval.types import RawCall, Reply, Usage
from tests.doubles import Scripted
from tests.gateway.front import PARAMETERS, ask, gateway, post


@pytest.mark.anyio
async def test_a_log_is_diagnosed_and_drafted_from_whichever_wire_it_came(tmp_path: Path) -> None:
    call = RawCall("c", "bash", '{"command": "ls"}')
    looked = Reply("I look.", "hm", (call,), "tool_calls", Usage(9, 9))
    answers = [looked, ContextOverflow("the prompt is too long"), EndpointFailure("overloaded"), Reply("Done.")]
    tools = [{"name": "bash", "description": "Run a command.", "input_schema": PARAMETERS}]
    async with gateway(Scripted(lambda _: answers.pop(0)), limits=None) as door:
        await ask(door, "messages", tools=tools, system="be good")
        await ask(door, "messages", tools=tools)
        await ask(door, "responses")
        await ask(door, "chat", stream=True)
        await post(door, "/v1/messages", b"{")
    path = tmp_path / "wire.jsonl"
    path.write_bytes(b"".join(map(log.line, door.exchanges)))
    with path.open("rb") as lines:
        labels = [turn.label for turn in diagnose(read_exchanges(lines, "log"), "log").turns]
    assert labels[:4] == ["ok.tool_call", "limit.context_overflow", "infra.overloaded", "ok.final_answer"]
    draft = draft_harness(path).data
    assert [tool["name"] for tool in draft["toolset"]["tools"]] == ["bash"]
    assert draft["prompt"]["text"] == "be good"
    assert door.key not in path.read_text()
