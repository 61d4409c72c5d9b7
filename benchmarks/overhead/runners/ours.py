"""The whole of this runner: study order, client, harness, store; in a box where commands cost nothing."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from measured import AT_ONCE, INSTRUCTION, OBSERVATION, measure

from harness_eval import store
from harness_eval.endpoints.config import EndpointConfig, open_endpoint
from harness_eval.harness import load_harness
from harness_eval.runner import Lane, Runner
from harness_eval.sandboxes.base import BoxSpec, Executed, Sandbox, SandboxProvider
from harness_eval.task import load_task
from harness_eval.trial import Trial
from harness_eval.types import Limits, Result, TrialKey

FILES = {
    "task.toml": 'schema_version = "1.4"\n[environment]\nnetwork_mode = "no-network"\n',
    "instruction.md": INSTRUCTION,
    "tests/test.sh": "#!/bin/bash\n",
    "environment/files/readme.txt": "Nothing.\n",
    "solution/solve.sh": "#!/bin/bash\n",
}


class FreeBox(Sandbox):
    """Every command says the same, and the verifier finds a reward of 1."""

    workdir = "/app"

    async def run(
        self, command: str, *, timeout: float = 60.0, cwd: str | None = None, env: Mapping[str, str] | None = None
    ) -> Executed:
        del timeout, cwd, env
        said = OBSERVATION if "true" in command else ""
        return Executed(said, 1 if command.startswith("[ -L") else 0, full_length=len(said))

    async def read(self, path: str) -> bytes:
        if path.endswith("reward.json"):
            raise FileNotFoundError(path)
        return b"1"

    async def write(self, path: str, data: bytes) -> None: ...

    async def upload(self, source: Path, target: str) -> None: ...

    async def end_processes(self) -> None: ...


class FreeBoxes(SandboxProvider):
    name, promises = "free", "nothing"

    def unavailable(self) -> str | None:
        return None

    @asynccontextmanager
    async def open(self, spec: BoxSpec) -> AsyncIterator[Sandbox]:
        del spec
        yield FreeBox()


def make_task(folder: Path) -> Path:
    """A task of these files."""
    for name, text in FILES.items():
        path = folder / "task" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "task"


async def work(url: str, trials: int, folder: Path) -> None:
    task, harness = load_task(make_task(folder)), load_harness("canonical")
    endpoint = open_endpoint(EndpointConfig(name="scripted", model="scripted", base_url=url))
    keys = [TrialKey(task.name, harness.name, "scripted", number) for number in range(trials)]
    planned = [Trial(key, harness, task, Limits(), key.seed(0)) for key in keys]
    with store.open_run(folder / "run", {"name": "overhead"}) as run:
        results: list[Result] = []
        await Runner(FreeBoxes(), run.append, results.append).run([Lane(endpoint, planned, AT_ONCE)])
    await endpoint.close()
    assert all(result.verdict and result.verdict.solved for result in results), results[0]


if __name__ == "__main__":
    if sys.argv[3:] == ["profile"]:
        import cProfile
        import pstats

        with tempfile.TemporaryDirectory() as made, cProfile.Profile() as profile:
            asyncio.run(work(sys.argv[1], int(sys.argv[2]), Path(made)))
        pstats.Stats(profile).sort_stats("tottime").print_stats(60)
    else:
        measure(work)
