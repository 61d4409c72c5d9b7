"""`harness-eval serve`."""

from __future__ import annotations

import json
import signal
import urllib.request
from pathlib import Path

from tests.cli.conftest import start


def test_the_reference_endpoint_answers_until_it_is_interrupted(suite: Path) -> None:
    with start("serve", "--suite", suite) as process:
        assert process.stdout is not None
        base_url = process.stdout.readline().strip()
        with urllib.request.urlopen(f"{base_url}/models", timeout=30) as answer:
            models = json.load(answer)["data"]
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert [model["owned_by"] for model in models] == ["harness-eval"]
    assert process.returncode == 0
    assert "no language model serves 3 tasks" in err
    assert "Traceback" not in err
