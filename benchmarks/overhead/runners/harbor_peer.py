"""Harbor: its own agent, Terminus 2, in an environment whose terminal says the same each time; results on disk.

Its verifier is left out, and so is the recording of the terminal.
"""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("OPENAI_API_KEY", "none")

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities
from harbor.models.trial.config import AgentConfig, EnvironmentConfig, TaskConfig, TrialConfig, VerifierConfig
from harbor.trial.trial import Trial
from measured import AT_ONCE, INSTRUCTION, OBSERVATION, measure

FILES = {
    "task.toml": 'schema_version = "1.3"\n[environment]\nbuild_timeout_sec = 60.0\n',
    "instruction.md": INSTRUCTION,
    "tests/test.sh": "#!/bin/bash\n",
    "environment/Dockerfile": "FROM scratch\n",
}
MODEL = {"max_input_tokens": 200_000, "max_output_tokens": 8000, "input_cost_per_token": 0, "output_cost_per_token": 0}


class Free(BaseEnvironment):
    screens = 0

    @staticmethod
    def type() -> str:
        return "free"

    @property
    def capabilities(self) -> EnvironmentCapabilities:
        return EnvironmentCapabilities()

    def _validate_definition(self) -> None: ...

    async def start(self, force_build: bool) -> None: ...

    async def stop(self, delete: bool) -> None: ...

    async def upload_file(self, source_path: object, target_path: str) -> None: ...

    async def upload_dir(self, source_dir: object, target_dir: str) -> None: ...

    async def download_file(self, source_path: str, target_path: object) -> None: ...

    async def download_dir(self, source_dir: str, target_dir: object) -> None: ...

    async def exec(self, command: str, **_: object) -> ExecResult:
        if "capture-pane" not in command:
            return ExecResult(stdout="", stderr="", return_code=0)
        self.screens += 1
        return ExecResult(stdout=OBSERVATION, stderr="", return_code=0)


def make_task(folder: Path) -> Path:
    """A task of these files."""
    for name, text in FILES.items():
        path = folder / "task" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "task"


async def work(url: str, trials: int, folder: Path) -> None:
    logging.disable(logging.CRITICAL)
    agent = AgentConfig(
        name="terminus-2",
        model_name="openai/scripted",
        kwargs={"api_base": url, "record_terminal_session": False, "model_info": MODEL},
    )
    places = asyncio.Semaphore(AT_ONCE)
    task = TaskConfig(path=make_task(folder))

    async def one(number: int) -> None:
        config = TrialConfig(
            task=task,
            trial_name=f"trial-{number}",
            trials_dir=folder / "trials",
            agent=agent,
            environment=EnvironmentConfig(import_path=f"{__name__}:Free"),
            verifier=VerifierConfig(disable=True),
        )
        async with places:
            result = await (await Trial.create(config)).run()
        assert result.exception_info is None, result.exception_info

    await asyncio.gather(*map(one, range(trials)))


if __name__ == "__main__":
    measure(work)
