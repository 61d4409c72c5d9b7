"""`harness-eval serve --gateway`."""

from __future__ import annotations

import json
import signal
import urllib.request
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from harness_eval.cli import serve_gateway
from harness_eval.reference.server import ReferenceConfig
from harness_eval.reference.wire import MODEL
from tests.cli.conftest import Said, start
from tests.doubles import make_task
from tests.gateway.front import PARAMETERS


def test_a_gateway_is_served_on_its_own_in_front_of_the_reference_endpoint(
    tmp_path: Path, harness_eval: Callable[..., Said]
) -> None:
    task, path = make_task(tmp_path / "suite"), tmp_path / "wire.jsonl"
    with start("serve", "--gateway", "--suite", task.folder.parent, "--wire-log", path) as process:
        assert process.stdout is not None
        base_url, key = (process.stdout.readline().strip() for _ in range(2))
        tools = [{"type": "function", "name": "bash", "description": "Run a shell command.", "parameters": PARAMETERS}]
        body = json.dumps({"model": "any", "input": task.instruction, "tools": tools}).encode()
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        asked = urllib.request.Request(f"{base_url}/v1/responses", body, headers)
        with urllib.request.urlopen(asked, timeout=30) as answer:
            output = json.load(answer)["output"]
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert output[-1]["name"] == "bash"
    assert json.loads(output[-1]["arguments"]) == {"command": "cat readme.txt"}
    assert (process.returncode, "Traceback" in err) == (0, False)
    told = harness_eval("diagnose", path)
    assert json.loads(told.out.splitlines()[0])["label"] == "ok.tool_call"


@pytest.mark.parametrize("of", ["a study", "flags"])
def test_it_stands_in_front_of_the_endpoint_of(tmp_path: Path, of: str) -> None:
    with start("serve") as server:
        assert server.stdout is not None
        behind = server.stdout.readline().strip()
        given = ["--base-url", behind, "--model", MODEL]
        if of == "a study":
            path = tmp_path / "study.yaml"
            path.write_text(
                json.dumps({"name": "s", "endpoints": [{"name": "k3", "base_url": behind, "model": MODEL}]})
            )
            given = [str(path), "--endpoint", "k3"]
        with start("serve", "--gateway", *given) as process:
            assert process.stdout is not None
            base_url, key = (process.stdout.readline().strip() for _ in range(2))
            body = json.dumps({"model": "any", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}]})
            headers = {"x-api-key": key, "Content-Type": "application/json"}
            asked = urllib.request.Request(f"{base_url}/v1/messages", body.encode(), headers)
            with urllib.request.urlopen(asked, timeout=30) as answer:
                said = json.load(answer)["content"][-1]["text"]
            process.send_signal(signal.SIGINT)
        server.send_signal(signal.SIGINT)
    assert "scripted agent" in said


def test_what_belongs_to_a_gateway_is_refused_without_one(tmp_path: Path, harness_eval: Callable[..., Said]) -> None:
    done = harness_eval("serve", "--wire-log", tmp_path / "wire.jsonl")
    assert (done.code, "belong to --gateway" in done.err) == (2, True)
    done = harness_eval("serve", "--gateway", "--host", "0.0.0.0")
    assert (done.code, "listens on 127.0.0.1 only" in done.err) == (2, True)
    done = harness_eval("serve", "--gateway", "--wire-log", tmp_path / "none" / "wire.jsonl")
    assert (done.code, "--wire-log" in done.err) == (2, True)
    done = harness_eval("serve", "--gateway", "--endpoint", "k3")
    assert (done.code, "--endpoint" in done.err) == (2, True)


@pytest.mark.parametrize("flag", [("--coupling", "only-native"), ("--seed", 3), ("--suite", "starter")])
def test_what_is_of_the_scripted_agent_is_refused_in_front_of_another(
    flag: tuple[object, ...], harness_eval: Callable[..., Said]
) -> None:
    done = harness_eval("serve", "--gateway", "--base-url", "http://127.0.0.1:9/v1", "--model", "m", *flag)
    assert (done.code, "of the scripted agent" in done.err) == (2, True)


@pytest.mark.anyio
async def test_the_agent_behind_it_is_the_one_that_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    served = []

    @asynccontextmanager
    async def listening(config: ReferenceConfig) -> AsyncIterator[str]:
        served.append(config)
        yield "http://127.0.0.1:1/v1"

    monkeypatch.setattr(serve_gateway, "listening", listening)
    asked = ReferenceConfig((), {"only-native": 0.5}, {"empty-turn": 0.25}, seed=5)
    with anyio.CancelScope() as scope:
        front = serve_gateway.Front(asked, None, None, None)
        await serve_gateway.run(front, lambda *_: scope.cancel())
    assert served == [asked]
