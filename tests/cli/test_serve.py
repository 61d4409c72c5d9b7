"""`harness-eval serve`."""

from __future__ import annotations

import json
import signal
import urllib.request
from collections.abc import Callable
from pathlib import Path

from harness_eval.reference.coupling import COUPLINGS
from harness_eval.reference.faults import FAULTS
from tests.cli.conftest import Said, start


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
    assert "the model harness-eval-reference, a scripted agent and no language model, plays 3 tasks" in err
    assert "Traceback" not in err


def test_all_couplings_and_faults_are_listed_with_what_they_do(harness_eval: Callable[..., Said]) -> None:
    text = harness_eval("serve", "--list").out
    assert all(name in text for name in (*COUPLINGS, *FAULTS))
    listed = json.loads(harness_eval("serve", "--list", "--json").out)
    assert [row["name"] for row in listed["couplings"]] == sorted(COUPLINGS)
    by_name = {row["name"]: row for row in listed["faults"]}
    assert set(by_name) == set(FAULTS)
    assert all(row["about"] for row in by_name.values())
    limited = by_name["rate-limited"]
    assert (limited["owner"], limited["transient"], limited["shows"]) == ("provider", True, ["infra.rate_limited"])


def test_what_is_planted_is_said_and_a_misspelt_fault_is_no_server(
    suite: Path, harness_eval: Callable[..., Said]
) -> None:
    with start("serve", "--suite", suite, "--fault", "empty-turn", "--fault", "crlf=0.5", "--json") as process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "}\n")
        assert json.loads("".join(lines) + "}")["faults"] == {"empty-turn": 0.25, "crlf": 0.5}
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    done = harness_eval("serve", "--suite", suite, "--fault", "emty-turn")
    assert done.code == 2
    assert "did you mean 'empty-turn'?" in done.err
