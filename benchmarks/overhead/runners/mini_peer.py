"""mini-swe-agent: its agent and its model, an environment that says the same each time, trajectories on disk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

os.environ.setdefault("MSWEA_SILENT_STARTUP", "1")
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

from measured import INSTRUCTION, OBSERVATION, TURNS, measure
from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.litellm_model import LitellmModel


class Free(LocalEnvironment):
    said = 0

    def execute(self, action: dict[str, Any], cwd: str = "", *, timeout: int | None = None) -> dict[str, Any]:
        del action, cwd, timeout
        self.said += 1
        text = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\ndone" if self.said == TURNS else OBSERVATION
        output = {"output": text, "returncode": 0, "exception_info": ""}
        self._check_finished(output)
        return output


def work(url: str, trials: int, folder: Path) -> None:
    settings = {"api_base": url, "api_key": "none"}
    for number in range(trials):
        model = LitellmModel(model_name="openai/scripted", model_kwargs=settings, cost_tracking="ignore_errors")
        place = folder / f"{number}.traj.json"
        agent = DefaultAgent(
            model, Free(), system_template="You use bash.", instance_template="{{task}}", output_path=place
        )
        ended = agent.run(INSTRUCTION)
        assert ended["exit_status"] == "Submitted", ended


if __name__ == "__main__":
    measure(work)
