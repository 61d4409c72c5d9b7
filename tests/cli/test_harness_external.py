"""`harness install`, `doctor`, `list` and `show` with real harnesses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness_eval.external import installing
from harness_eval.external.adapter import named_externals
from tests.cli.conftest import Said
from tests.external.scripted import script_harness

Run = Callable[..., Said]


@pytest.fixture(autouse=True)
def nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(installing.VARIABLE, str(tmp_path / "cache"))


def adapter(folder: Path, mode: str = "") -> Path:
    """The script as somebody's own harness."""
    spec = script_harness(mode).spec() | {"name": "ours", "version_command": ["echo", "ours 1.0"]}
    path = folder / "ours.yaml"
    path.write_text(yaml.safe_dump(spec))
    return path


def examined(harness_eval: Run, *names: object) -> list[dict[str, Any]]:
    said = harness_eval("harness", "doctor", *names, "--sandbox", "local", "--json")
    assert said.code == 0
    found: list[dict[str, Any]] = said.json["harnesses"]  # type: ignore[index]
    return found


def test_the_doctor_runs_a_harness_and_tells_what_the_wire_showed(harness_eval: Run, tmp_path: Path) -> None:
    (found,) = examined(harness_eval, adapter(tmp_path))
    assert (found["state"], found["version_found"], found["requests"]) == ("works", "1.0", 3)
    assert found["seen"]["tool_count"] == 1
    assert found["seconds"] > 0


def test_the_doctor_says_why_a_harness_does_not_work(harness_eval: Run, tmp_path: Path) -> None:
    (found,) = examined(harness_eval, adapter(tmp_path, "crash"))
    assert found["state"] == "does not work"
    assert "ended with exit code 1" in found["why"]
    assert "lost its way" in found["why"]


def test_the_doctor_says_how_to_install_and_what_cannot_be(harness_eval: Run, tmp_path: Path) -> None:
    data = yaml.safe_load(named_externals()["aider"].read_text())
    for name, python in (("old", "3.8"), ("new", "9.1")):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(data | {"install": data["install"] | {"python": python}}))
    old, new = examined(harness_eval, tmp_path / "old.yaml", tmp_path / "new.yaml")
    assert old["state"] == "not installed"
    assert "harness-eval harness install PATH-OF-ITS-YAML-FILE" in old["why"]
    assert new["state"] == "cannot be installed"
    assert "needs Python 9.1" in new["why"]


def test_the_list_and_one_harness_name_external_ones_too(harness_eval: Run) -> None:
    listed = harness_eval("harness", "list", "--json").json["externals"]  # type: ignore[index]
    assert {each["name"] for each in listed} == set(named_externals())
    assert "claude-code " in harness_eval("harness", "list").out
    shown = harness_eval("harness", "show", "codex").out
    assert "@openai/codex 0.171.0 (npm)" in shown
    assert "wire" in shown


def test_installing_without_a_name_is_refused(harness_eval: Run) -> None:
    said = harness_eval("harness", "install")
    assert said.code == 2
    assert "name harnesses, or --all" in said.err


def test_the_lock_of_external_harnesses_holds_only_the_packages_own(harness_eval: Run) -> None:
    said = harness_eval("harness", "lock", "codex", "canonical")
    assert said.code == 2
    assert "is locked by itself" in said.err
    said = harness_eval("harness", "lock", "codex")
    assert said.code == 2
    assert "codex: not installed" in said.err
