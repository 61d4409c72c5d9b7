"""action.yml: what its steps make of inputs. What the command makes of them is tried in a container by .ci/action."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.ci.conftest import ROOT

# Stands for the command: it writes down how it was called, and ends as it is told to.
_ECHO = """#!/usr/bin/env python3
import json, os, pathlib, sys
pathlib.Path(os.environ["RUNNER_TEMP"], "called.json").write_text(json.dumps(sys.argv[1:]))
with open(os.environ["GITHUB_OUTPUT"], "a") as outputs:
    outputs.write("verdict=pass\\nsaid<<--\\nAll is well.\\n--\\n")
with open(os.environ["GITHUB_STEP_SUMMARY"], "a") as summary:
    summary.write("# Well\\n")
sys.exit(int(os.environ.get("ENDS_WITH", "0")))
"""


@dataclass(frozen=True)
class Used:
    ended: Any
    arguments: list[str]


@pytest.fixture
def use(composite: ModuleType, tmp_path: Path) -> Callable[..., Used]:
    environ = composite.job(tmp_path)
    program = Path(environ["RUNNER_TEMP"]) / "harness-eval/bin/harness-eval"
    program.parent.mkdir(parents=True)
    program.write_text(_ECHO)
    program.chmod(0o755)
    (program.parents[1] / "installed").touch()
    checkout = tmp_path / "checkout"
    checkout.mkdir()

    def run(ends_with: int = 0, **inputs: str) -> Used:
        named = {name.replace("_", "-"): value for name, value in inputs.items()}
        ended = composite.Composite(ROOT).run(named, checkout, environ | {"ENDS_WITH": str(ends_with)})
        called = Path(environ["RUNNER_TEMP"]) / "called.json"
        return Used(ended, json.loads(called.read_text()) if called.exists() else [])

    return run


def test_an_input_that_is_not_given_is_no_argument(use: Callable[..., Used]) -> None:
    used = use(study="ci/study.yaml", baseline="ci/baseline.json")
    folder = used.ended.outputs["folder"]
    expected = ["check", "--github", "--write", folder, f"--out={folder}/run", "--baseline=ci/baseline.json"]
    assert used.arguments == [*expected, "--", "ci/study.yaml"]


def test_every_input_reaches_the_command(use: Callable[..., Used]) -> None:
    used = use(
        run="runs/x:left", baseline="b", base_url="http://h/v1", model="m", profile="qwen", api_key_env="KEY",
        gate="fixed", release="true", margin=".05", alpha=".01", repeats="3", harness="ours", changed="suite\nlimits",
        sandbox="docker", max_tokens="9", max_cost="1.5", arguments="--matrix\n--concurrency=2", folder="found",
    )  # fmt: skip
    assert used.ended.outputs["folder"].endswith("/checkout/found")
    assert used.arguments[4:] == [
        "--baseline=b", "--base-url=http://h/v1", "--model=m", "--profile=qwen", "--api-key-env=KEY", "--gate=fixed",
        "--margin=.05", "--alpha=.01", "--repeats=3", "--harness=ours", "--changed=suite", "--changed=limits",
        "--sandbox=docker", "--max-tokens=9", "--max-cost=1.5", "--release", "--matrix", "--concurrency=2", "--",
        "runs/x:left",
    ]  # fmt: skip


def test_a_replay_gets_its_harnesses_and_no_folder_for_trials(use: Callable[..., Used]) -> None:
    used = use(replay="ci/recorded", harness="a.yaml\nb.yaml\n")
    assert used.arguments[4:] == ["--replay=ci/recorded", "--harness=a.yaml", "--harness=b.yaml"]


@pytest.mark.parametrize("text", ["$(touch hacked)", "`touch hacked`", "'; touch hacked; '", '" && touch hacked #'])
def test_an_input_is_text_and_never_a_part_of_a_script(use: Callable[..., Used], tmp_path: Path, text: str) -> None:
    used = use(study=text, model=text, harness=text)
    assert [used.arguments[-1], *used.arguments[5:7]] == [text, f"--model={text}", f"--harness={text}"]
    assert not list(tmp_path.rglob("hacked"))


def test_a_study_whose_name_looks_like_a_flag_is_a_study(use: Callable[..., Used]) -> None:
    assert use(study="--help").arguments[-2:] == ["--", "--help"]


@pytest.mark.parametrize(
    "inputs",
    [
        {"study": "a", "run": "b"},
        {"study": "a", "replay": "b"},
        {"run": "a", "release": "yes"},
        {"run": "a", "folder": "b\nverdict=pass"},
    ],
    ids=" ".join,
)
def test_inputs_that_cannot_be_meant_are_refused(use: Callable[..., Used], inputs: dict[str, str]) -> None:
    used = use(**inputs)
    assert used.ended.exit_code == 2
    assert "::error::" in used.ended.printed
    assert used.ended.outputs["verdict"] == ""
    assert used.arguments == []


@pytest.mark.parametrize("code", [0, 1, 3])
def test_the_step_ends_as_the_check_does_and_tells_what_it_found(use: Callable[..., Used], code: int) -> None:
    ended = use(code, run="r", artifact="found").ended
    assert ended.exit_code == code
    assert (ended.outputs["verdict"], ended.outputs["said"]) == ("pass", "All is well.")
    assert ended.summary == "# Well\n"
    uploaded = ended.used["actions/upload-artifact@v7"]
    assert uploaded == {"name": "found", "path": ended.outputs["folder"], "if-no-files-found": "ignore"}


def test_nothing_is_uploaded_unless_it_has_a_name(use: Callable[..., Used]) -> None:
    assert use(run="r").ended.used == {}


def test_without_a_python_that_fits_nothing_is_checked(use: Callable[..., Used]) -> None:
    used = use(run="r", python="false", artifact="found")
    assert used.ended.exit_code == 2
    assert "::error::harness-eval needs Python 3.11" in used.ended.printed
    assert (used.arguments, used.ended.used) == ([], {})


def test_an_action_that_would_run_its_inputs_is_refused(composite: ModuleType, tmp_path: Path) -> None:
    action = (ROOT / "action.yml").read_text()
    (tmp_path / "action.yml").write_text(action.replace('"$PROGRAM" check', '"$PROGRAM" check ${{ inputs.study }}'))
    with pytest.raises(ValueError, match="no expression"):
        composite.Composite(tmp_path)


@pytest.mark.parametrize(
    ("expression", "failed", "value"),
    [
        ("success() && inputs.a == 'x'", False, True),
        ("success() && inputs.a == 'x'", True, False),
        ("always() && (inputs.b != '' || inputs.a == 'it''s')", True, False),
        ("!failure() || inputs.a", True, "x"),
        ("inputs.b || 'other'", False, "other"),
    ],
)
def test_expressions_mean_what_they_mean_to_github(
    composite: ModuleType, expression: str, failed: bool, value: str | bool
) -> None:
    assert composite.evaluate(expression, {"inputs.a": "x", "inputs.b": ""}, failed) == value


@pytest.mark.parametrize("expression", ["github.token", "inputs.a ==", "toJSON(inputs)", "inputs.a < 3", "always"])
def test_an_expression_that_is_not_known_is_refused(composite: ModuleType, expression: str) -> None:
    with pytest.raises((ValueError, IndexError)):
        composite.evaluate(expression, {}, False)
