"""`harness diff` and `harness lock`: between two harnesses, since a git revision, and before every commit."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from harness_eval import bundled
from tests.cli.conftest import Said

Run = Callable[..., Said]
ROOT = Path(__file__).resolve().parents[2]
HOOKS = ROOT / ".pre-commit-hooks.yaml"
PRESETS = bundled.folder("harnesses") / "presets"
# What pre-commit's documentation knows of a hook: its keys, and those that must be there.
KEYS = {"id", "name", "entry", "language", "files", "exclude", "types", "types_or", "exclude_types", "always_run"}
KEYS |= {"fail_fast", "verbose", "pass_filenames", "require_serial", "description", "language_version"}
KEYS |= {"minimum_pre_commit_version", "args", "stages"}
NEEDED = {"id", "name", "entry", "language"}


def _git(*arguments: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.com", *arguments], check=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harness_eval: Run) -> Path:
    """A git repository with a lock of two harnesses of its own, in which commands run."""
    folder = tmp_path / "repository"
    (folder / "harnesses").mkdir(parents=True)
    monkeypatch.chdir(folder)
    shutil.copy(PRESETS / "goose-like.yaml", "harnesses/ours.yaml")
    shutil.copy(PRESETS / "pi-like.yaml", "harnesses/other.yaml")
    said = harness_eval("harness", "lock", "harnesses/ours.yaml", "harnesses/other.yaml", *_LOCK)
    assert said.code == 0
    _git("init", "-q", "-b", "main")
    _git("add", ".")
    _git("commit", "-qm", "one")
    return folder


_LOCK = ("--file", "harnesses/harnesses.lock")


def _edit(file: str, old: str, new: str) -> None:
    path = Path("harnesses") / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def _since(harness_eval: Run, *more: str) -> tuple[int, dict[str, str]]:
    said = harness_eval("harness", "diff", "--base", "main", *_LOCK, "--json", *more)
    return said.code, {each["harness"]: each["change"] for each in said.json["changes"]}


@pytest.mark.usefixtures("repository")
def test_nothing_changed_since_a_revision(harness_eval: Run) -> None:
    assert _since(harness_eval) == (0, {})
    assert "2 harnesses, 0 changes since main" in harness_eval("harness", "diff", "--base", "main", *_LOCK).err


@pytest.mark.usefixtures("repository")
def test_a_change_without_a_new_version_since_a_revision_fails_until_the_version_is_raised(harness_eval: Run) -> None:
    _edit("ours.yaml", "Write a whole file.", "Write a whole file!")
    assert _since(harness_eval) == (1, {"ours": "changed without a new version"})
    shown = harness_eval("harness", "diff", "--base", "main", *_LOCK)
    assert shown.code == 1
    assert re.search(r"^\+.*Write a whole file!", shown.out, re.MULTILINE)
    _edit("ours.yaml", "version: '1'", "version: '2'")
    assert _since(harness_eval) == (0, {"ours": "has a new version"})


@pytest.mark.usefixtures("repository")
def test_locking_anew_does_not_hide_a_change_from_a_revision(harness_eval: Run) -> None:
    _edit("ours.yaml", "Write a whole file.", "Write a whole file!")
    Path("harnesses/harnesses.lock").unlink()
    harness_eval("harness", "lock", "harnesses/ours.yaml", "harnesses/other.yaml", *_LOCK)
    assert harness_eval("harness", "lock", "--check", *_LOCK).code == 0
    assert _since(harness_eval) == (1, {"ours": "changed without a new version"})


@pytest.mark.usefixtures("repository")
def test_the_lock_of_the_current_folder_is_meant_where_none_is_named(harness_eval: Run) -> None:
    _edit("ours.yaml", "Write a whole file.", "Write a whole file!")
    for command in (("diff", "--base", "main"), ("lock", "--check")):
        said = harness_eval("harness", *command, "--json")
        assert (said.code, said.json["lock"], said.json["harnesses"]) == (1, "harnesses/harnesses.lock", 2)
        assert "lock: harnesses/harnesses.lock, which stands here" in said.err
    _edit("ours.yaml", "version: '1'", "version: '2'")
    assert harness_eval("harness", "lock", "harnesses/ours.yaml").code == 0
    assert harness_eval("harness", "lock", "--check").code == 0
    assert "gone" not in harness_eval("harness", "lock", "canonical", "--check").out, "that is of the package's lock"


def test_the_package_s_own_lock_needs_no_word(harness_eval: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bundled.folder("harnesses").parent)
    said = harness_eval("harness", "lock", "--check", "--json")
    assert (said.code, said.err) == (0, "")


@pytest.mark.usefixtures("repository")
def test_new_harnesses_and_those_that_are_gone_are_named(harness_eval: Run) -> None:
    shutil.copy(PRESETS / "roo-like.yaml", "harnesses/third.yaml")
    harness_eval("harness", "lock", "harnesses/third.yaml", *_LOCK)
    Path("harnesses/other.yaml").unlink()
    assert _since(harness_eval) == (0, {"third": "new", "other": "gone"})


@pytest.mark.usefixtures("repository")
def test_markdown_is_of_one_form_for_a_revision_and_for_a_check(harness_eval: Run) -> None:
    _edit("ours.yaml", "Write a whole file.", "Write a whole file!")
    forms = [
        harness_eval("harness", *command, *_LOCK, "--markdown")
        for command in (["diff", "--base", "main"], ["lock", "--check"])
    ]
    assert [form.code for form in forms] == [1, 1]
    for form in forms:
        assert form.out.startswith("**1 harness changed**: 1 changed without a new version (2 harnesses ")
        assert "| `ours` | **changed without a new version** | `1` |" in form.out
        assert "Write a whole file!" in form.out.partition("```diff")[2]


def test_two_harnesses_are_compared_in_markdown(harness_eval: Run) -> None:
    said = harness_eval("harness", "diff", "canonical", "pi-like", "--markdown")
    assert said.code == 0
    assert "| `toolset` | `shell-and-editor` | `path-old-text` |" in said.out
    assert "<summary>tools</summary>" in said.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--base", "-x", *_LOCK], "begins with '-'"),
        (["--base", "nowhere", *_LOCK], "no commit 'nowhere'"),
        (["--base", "main", "--file", "harnesses/none.lock"], "there is no lock in the work tree"),
        (["--base", "main", "--file", "new.lock"], "new.lock at main: there is no lock"),
        (["--base", "main", "canonical"], "name no harness"),
        (["canonical"], "name two harnesses, or a git revision"),
        (["canonical", "pi-like", *_LOCK], "--file: names the lock for --base"),
        (["canonical", "pi-like", "--json", "--markdown"], "choose one"),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_line(
    harness_eval: Run, repository: Path, arguments: list[str], said: str
) -> None:
    shutil.copy(repository / "harnesses" / "harnesses.lock", "new.lock")
    found = harness_eval("harness", "diff", *arguments)
    assert (found.code, found.out) == (2, "")
    assert said in found.err


def test_a_lock_outside_of_a_repository_has_no_revision(harness_eval: Run, tmp_path: Path) -> None:
    lock = tmp_path / "harnesses.lock"
    harness_eval("harness", "lock", "canonical", "--file", lock)
    found = harness_eval("harness", "diff", "--base", "main", "--file", lock)
    assert found.code == 2
    assert "is in no git repository" in found.err


@pytest.mark.usefixtures("repository")
def test_a_lock_knows_where_its_harnesses_stand_and_says_where_it_does_not(harness_eval: Run) -> None:
    held = yaml.safe_load(Path("harnesses/harnesses.lock").read_text())
    assert held["harnesses"]["ours"]["file"] == "ours.yaml"
    del held["harnesses"]["ours"]["file"]
    Path("harnesses/harnesses.lock").write_text(yaml.safe_dump(held))
    found = harness_eval("harness", "lock", "--check", *_LOCK)
    assert found.code == 2
    assert "harnesses.ours: does not say where its file stands" in found.err


def test_the_packages_own_lock_is_checked_by_its_file_as_by_default(harness_eval: Run) -> None:
    lock = bundled.folder("harnesses") / "harnesses.lock"
    assert harness_eval("harness", "lock", "--check", "--file", lock).code == 0


def test_the_hooks_have_the_keys_that_pre_commit_knows() -> None:
    hooks = yaml.safe_load(HOOKS.read_text())
    assert [hook["id"] for hook in hooks] == ["harness-lock"]
    for hook in hooks:
        assert hook.keys() >= NEEDED
        assert hook.keys() <= KEYS
        assert all(isinstance(hook[key], str) for key in NEEDED)
        assert (hook["language"], hook["pass_filenames"]) == ("python", False)
        assert (
            shlex.split(hook["entry"])[0] in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
        )


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("harnesses/ours.yaml", True),
        ("agent/harnesses/presets/ours.yml", True),
        ("harnesses/harnesses.lock", True),
        ("harnesses/wire/ours.txt", False),
        ("docs/harnesses.md", False),
        ("ourharnesses/x.yaml", False),
    ],
)
def test_the_hook_runs_for_harnesses_and_their_lock(path: str, meant: bool) -> None:
    (hook,) = yaml.safe_load(HOOKS.read_text())
    assert bool(re.search(hook["files"], path)) is meant


@pytest.mark.usefixtures("repository")
def test_the_hook_passes_as_long_as_no_harness_has_changed(harness_eval: Run) -> None:
    (hook,) = yaml.safe_load(HOOKS.read_text())
    command = [*shlex.split(hook["entry"])[1:], *hook["args"]]
    assert harness_eval(*command).code == 0
    _edit("ours.yaml", "Write a whole file.", "Write a whole file!")
    said = harness_eval(*command)
    assert said.code == 1
    assert "ours: changed without a new version" in said.out
    assert "raise `version` in the files of those that changed without a new one, then lock them anew: " in said.err
    assert "harness-eval harness lock --file harnesses/harnesses.lock" in said.err
    shutil.move("harnesses", "elsewhere")
    assert harness_eval(*command[:-1], "elsewhere/harnesses.lock").code == 1
    assert (
        json.loads(harness_eval(*command[:-1], "elsewhere/harnesses.lock", "--json").out)["changes"][0]["harness"]
        == "ours"
    )
