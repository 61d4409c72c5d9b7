"""Files at a git revision are read by name and by nothing else, and what cannot be read is said."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from harness_eval.errors import ConfigError
from harness_eval.revision import commit_of, text_at


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    (folder / "sub").mkdir()
    (folder / "sub" / "a*.txt").write_text("first\n")
    (folder / "link.txt").symlink_to("sub/a*.txt")
    (folder / "bytes.txt").write_bytes(b"\xff\xfe")
    for command in (
        ["init", "-q", "-b", "main"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "one"],
    ):
        subprocess.run(["git", "-C", str(folder), *command], check=True)
    (folder / "sub" / "a*.txt").write_text("second\n")
    return folder


def test_a_file_is_read_as_it_was_relative_to_its_folder(repository: Path) -> None:
    commit = commit_of(repository / "sub", "main")
    assert len(commit) == 40
    assert text_at(repository / "sub", commit, "a*.txt") == "first\n"


@pytest.mark.parametrize("name", ["b.txt", "a.txt", "../link.txt", "../sub"])
def test_what_was_no_regular_file_has_no_text(repository: Path, name: str) -> None:
    assert text_at(repository / "sub", commit_of(repository, "HEAD"), name) is None


def test_a_hook_that_names_another_repository_does_not_mislead(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / ".git"))
    assert commit_of(repository, "HEAD")


@pytest.mark.parametrize("revision", ["--output=x", "-p", "nowhere", "", "main..main", "HEAD:sub", "a\0b", "\ud800"])
def test_what_is_no_revision_is_refused(repository: Path, revision: str) -> None:
    with pytest.raises(ConfigError):
        commit_of(repository, revision)


def test_a_folder_without_repository_and_a_machine_without_git_are_named(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match=r"is in no git repository: .*not a git repository"):
        commit_of(tmp_path, "HEAD")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="git: is not installed"):
        commit_of(repository, "HEAD")


def test_bytes_that_are_no_text_are_refused(repository: Path) -> None:
    with pytest.raises(ConfigError, match="is not text in UTF-8 at"):
        text_at(repository, commit_of(repository, "HEAD"), "bytes.txt")
