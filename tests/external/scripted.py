"""The script harness as an adapter, and trials of it."""

from __future__ import annotations

from pathlib import Path

from harness_eval.external.adapter import External, make_external
from harness_eval.types import Json

SCRIPT = Path(__file__).parent / "script_harness.py"


def script_harness(mode: str = "", seconds: str = "600", **more: Json) -> External:
    """The adapter of the script in this mode; `more` goes into its launch, what it leaves sleeps for `seconds`."""
    env = {"BASE_URL": "{base_url}", "KEY": "{key}", "MODEL": "{model}", "MODE": mode, "SECONDS_LEFT": seconds}
    launch = {
        "command": ["python3", "{home}/agent.py", "{prompt}"],
        "env": env,
        "files": {"agent.py": SCRIPT.read_text()},
        **more,
    }
    return make_external(
        {"name": f"script-{mode or 'plain'}", "version": "1.0", "wire": "chat", "launch": launch}, "a test"
    )
