"""A check for GitHub Actions: what its runner makes of it, which is what we mean and nothing that a name says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness_eval.errors import ConfigError
from harness_eval.report import github_check, github_refused
from tests.report import checks

UNESCAPED = {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"}


def unescaped(text: str) -> str:
    for code, character in UNESCAPED.items():
        text = text.replace(code, character)
    return text


def commands(printed: str) -> list[tuple[str, str, str]]:
    """Name, title and message of every line, as the runner splits them; each line has to be a command."""
    found = []
    for line in printed.replace("\r", "\n").splitlines():
        assert line.startswith("::"), line
        head, message = line[2:].split("::", 1)
        name, _, rest = head.partition(" ")
        properties = dict(part.split("=", 1) for part in rest.split(","))
        assert set(properties) == {"title"}
        found.append((name, unescaped(properties["title"]), unescaped(message)))
    return found


def outputs(path: Path) -> dict[str, str]:
    """The outputs as the runner reads them."""
    lines, found = path.read_text().splitlines(), {}
    while lines:
        name, delimiter = lines.pop(0).split("<<")
        end = lines.index(delimiter)
        found[name], lines = "\n".join(lines[:end]), lines[end + 1 :]
    return found


def run(data: dict[str, Any], folder: Path) -> tuple[list[tuple[str, str, str]], str, dict[str, str]]:
    paths = {name: str(folder / name) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    printed = github_check(data, paths)
    summary, output = (Path(path) for path in paths.values())
    return commands(printed), summary.read_text(), outputs(output)


def test_a_failure_is_an_error_with_a_warning_for_each_of_the_ten_likeliest_tasks(tmp_path: Path) -> None:
    found, summary, output = run(checks.check(), tmp_path)
    assert found[0] == ("error", "Harness gate: FAIL", "canonical solves 22.0 points less than before.")
    assert [title for _, title, _ in found[1:]] == [f"task-{place:03}" for place in range(10)]
    assert {name for name, *_ in found[1:]} == {"warning"}
    assert found[1][2] == "solved 3 of 3 before, 0 of 1 now (chance of a drop over 20 pp: 93.0 %)"
    assert summary.startswith("### FAIL: ")
    assert output == {"verdict": "fail", "said": "canonical solves 22.0 points less than before."}


@pytest.mark.parametrize(
    ("data", "level"),
    [
        (checks.passing(), "notice"),
        (checks.undecided(), "warning"),
        (checks.undecided(exit_code=1), "error"),
        (checks.incomplete(), "error"),
    ],
    ids=["pass", "inconclusive", "inconclusive release", "incomplete"],
)
def test_the_verdict_has_the_level_of_its_exit_code(data: dict[str, Any], level: str, tmp_path: Path) -> None:
    assert run(data, tmp_path)[0][0][0] == level


def test_a_pass_names_no_task(tmp_path: Path) -> None:
    assert len(run(checks.passing(), tmp_path)[0]) == 1


def test_what_would_decide_it_stands_in_the_warning(tmp_path: Path) -> None:
    found, *_ = run(checks.undecided(), tmp_path)
    assert found[0][2] == "nothing was decided. To decide it: about 2 more repeats of 100 tasks."


def test_what_stands_in_the_files_already_is_kept(tmp_path: Path) -> None:
    (tmp_path / "GITHUB_STEP_SUMMARY").write_text("# Before\n")
    (tmp_path / "GITHUB_OUTPUT").write_text("other<<x\nkept\nx\n")
    _, summary, output = run(checks.check(), tmp_path)
    assert summary.startswith("# Before\n### FAIL")
    assert output["other"] == "kept"


def test_outside_of_a_workflow_only_the_annotations_are_made() -> None:
    assert len(commands(github_check(checks.check(), {}))) == 11


def test_a_check_that_could_not_be_made_is_one_annotation_whatever_the_reason_says() -> None:
    ((level, title, message),) = commands(github_refused("100 %\n::error::tasks differ"))
    assert (level, title) == ("error", "Harness gate: nothing was checked")
    assert message == "100 % ::error::tasks differ"


def test_a_file_that_cannot_be_written_is_named_with_its_variable(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"GITHUB_OUTPUT: .*cannot be written"):
        github_check(checks.check(), {"GITHUB_OUTPUT": str(tmp_path / "none" / "file")})


@pytest.mark.parametrize("text", checks.HOSTILE, ids=lambda text: ascii(text[:20]))
def test_no_text_becomes_a_command_or_an_output(text: str, tmp_path: Path) -> None:
    found, summary, output = run(checks.hostile(text), tmp_path)
    assert [name for name, *_ in found] == ["error"] + ["warning"] * 10
    assert set(output) == {"verdict", "said"}
    assert output["verdict"] == "fail"
    assert all(len(part) < 1500 for one in found for part in one)
    assert len(summary) < 2**20
    assert "abcdefghijklmnop1234" not in str(found) + summary + str(output)


def test_a_name_is_told_as_it_is(tmp_path: Path) -> None:
    found, *_ = run(checks.hostile("a: b, 50 % %0A ::c"), tmp_path)
    assert found[1][1] == "a: b, 50 % %0A ::c"
