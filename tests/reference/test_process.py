from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import aiohttp
import anyio
import pytest

from harness_eval.endpoints import child
from harness_eval.endpoints.child import death
from harness_eval.errors import ConfigError
from harness_eval.reference.process import foreground, parse_couplings, serve
from harness_eval.reference.server import ReferenceConfig
from harness_eval.reference.wire import MODEL

from .conversation import INSTRUCTION

ROOT = Path(__file__).resolve().parents[2]


TURN = [{"role": "user", "content": INSTRUCTION}, {"role": "assistant", "content": "```bash\nls\n```"}]


async def first_words(base_url: str) -> str:
    system = {"role": "system", "content": "Write ```bash blocks."}
    body = {"model": MODEL, "messages": [system, *TURN]}
    async with aiohttp.ClientSession() as session, session.post(f"{base_url}/chat/completions", json=body) as response:
        return str((await response.json())["choices"][0]["message"]["content"])


async def refused(base_url: str) -> bool:
    try:
        await first_words(base_url)
    except aiohttp.ClientConnectionError:
        return True
    return False


@pytest.mark.anyio
async def test_it_serves_beside_its_caller_and_ends_with_the_context(suite: Path) -> None:
    async with serve(ReferenceConfig((suite,))) as base_url:
        assert (await first_words(base_url)).startswith("Step 1 of 5")
    assert await refused(base_url)


@pytest.mark.anyio
async def test_its_couplings_are_those_of_its_configuration(suite: Path) -> None:
    async with serve(ReferenceConfig((suite,), {"needs-thinking": 1.0})) as base_url:
        assert (await first_words(base_url)).startswith("Wait.")


@pytest.mark.anyio
async def test_its_faults_are_those_of_its_configuration(suite: Path) -> None:
    async with serve(ReferenceConfig((suite,), faults={"empty-turn": 1.0})) as base_url:
        assert await first_words(base_url) == ""


def test_it_ends_when_its_parent_lets_go_of_its_input(suite: Path) -> None:
    command = [sys.executable, "-m", "harness_eval.reference", "--tasks", str(suite), "--coupling", "needs-todo=1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["base_url"].startswith("http://127.0.0.1:")
        assert process.poll() is None
        process.stdin.close()
        assert process.wait(timeout=30) == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--coupling", "needs-tod=1"], "did you mean 'needs-todo'?"),
        (["--coupling", "needs-todo=much"], "expected NAME=STRENGTH"),
        (["--fault", "stall="], "fault 'stall=': expected NAME=STRENGTH"),
        (["--fault", "stal"], "did you mean 'stall'?"),
        (["--fault", "stall=often"], "fault 'stall=often': expected NAME=STRENGTH"),
    ],
)
def test_a_wrong_flag_ends_it_with_code_2_and_one_line(suite: Path, arguments: list[str], said: str) -> None:
    command = [sys.executable, "-m", "harness_eval.reference", "--tasks", str(suite), *arguments]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert said in done.stderr


@pytest.mark.anyio
async def test_a_wrong_configuration_is_raised_where_it_is_served(suite: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for config in (ReferenceConfig((tmp_path / "empty",)), ReferenceConfig((suite,), {"nonsense": 1.0})):
        with pytest.raises(ConfigError):
            async with serve(config):
                pass


@pytest.mark.anyio
async def test_the_end_of_its_process_is_noticed(suite: Path) -> None:
    async with serve(ReferenceConfig((suite,))) as base_url:
        with anyio.move_on_after(0.05) as waited:
            await death(base_url)
        assert waited.cancelled_caught
        _, process = child._serving[base_url]
        process.kill()
        assert await death(base_url) == "the process of the reference endpoint was ended by signal 9"


@pytest.mark.anyio
async def test_of_a_server_elsewhere_no_end_is_noticed() -> None:
    with anyio.move_on_after(0.05) as waited:
        await death("http://127.0.0.1:9/v1")
    assert waited.cancelled_caught


@pytest.mark.anyio
async def test_in_the_foreground_it_says_where_it_listens_until_it_is_cancelled(suite: Path) -> None:
    said: list[str] = []
    listens = anyio.Event()

    def announce(base_url: str) -> None:
        said.append(base_url)
        listens.set()

    async with anyio.create_task_group() as group:
        group.start_soon(foreground, ReferenceConfig((suite,)), announce)
        await listens.wait()
        assert await first_words(said[0])
        group.cancel_scope.cancel()
    assert await refused(said[0])


@pytest.mark.anyio
async def test_a_port_that_is_taken_is_named(suite: Path) -> None:
    async with serve(ReferenceConfig((suite,))) as base_url:
        port = int(base_url.removesuffix("/v1").rpartition(":")[2])
        with pytest.raises(ConfigError, match=f"port {port}"):
            await foreground(ReferenceConfig((suite,), port=port), print)


def test_couplings_are_read_from_words() -> None:
    assert parse_couplings(["needs-todo=0.5", "never-submits"]) == {"needs-todo": 0.5, "never-submits": 1.0}
