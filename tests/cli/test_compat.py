"""`harness-eval compat`: its files, its flags and its exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness_eval import report
from tests.cli.conftest import Said
from tests.compat import kept
from tests.compat.kept import Kept
from tests.compat.test_recount import first_outcome
from tests.runs import recorded

Run = Callable[..., Said]


def test_a_matrix_is_kept_up_to_date_and_written_elsewhere(tmp_path: Path, harness_eval: Run) -> None:
    run = kept.write(tmp_path / "run", Kept(first_outcome, repeats=2))
    report.write(run)
    page, out = tmp_path / "COMPATIBILITY.md", tmp_path / "deep" / "out"
    said = harness_eval("compat", run, "--update", page, "--out", out, "--json")
    assert said.code == 0, said.err
    near, far = (json.loads(path.read_text()) for path in (page.with_suffix(".json"), out / "compatibility.json"))
    assert near["cells"][0]["evidence"] == "run/report.html#endpoint-0-harness-ours"
    assert far["cells"][0]["evidence"] == "../../run/report.html#endpoint-0-harness-ours"
    assert said.json["schema"] == "harness-eval/compatibility/1"
    before = page.read_bytes(), page.with_suffix(".json").read_bytes()
    assert harness_eval("compat", "--update", page).code == 0
    assert (page.read_bytes(), page.with_suffix(".json").read_bytes()) == before


def test_a_verdict_can_fail_a_job_unless_it_is_stale(tmp_path: Path, harness_eval: Run) -> None:
    run = kept.write(tmp_path / "run", Kept(first_outcome, repeats=2))
    assert harness_eval("compat", run, "--fail-on", "broken,degraded").code == 1
    lock = tmp_path / "harnesses.lock"
    entries = "".join(f"  {name}: {{version: '9', id: i, wire: w}}\n" for name in ("ours", "tight", "loose"))
    lock.write_text(f"harnesses:\n{entries}")
    assert harness_eval("compat", run, "--fail-on", "broken,degraded", "--lock", lock).code == 0


def test_a_run_of_the_embedded_agent_is_a_row_of_its_own(suite: Path, harness_eval: Run) -> None:
    (subject,) = harness_eval("compat", recorded(suite), "--json").json["subjects"]
    assert (subject["serving"], subject["scripted"]) == ("embedded", True)


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--margin", "1.5"), "--margin: must be above 0 and below 1, not 1.5 (0.10 are 10 points)"),
        (("--margin", "0.3", "--broken-margin", "0.1"), "--broken-margin: must not be smaller than --margin"),
        (("--fail-on", "brokn"), "did you mean 'broken'?"),
        (("--model", "nope"), "no cell: nothing that was given fits --model nope"),
        (("/nowhere",), "no study.json here"),
    ],
)
def test_what_cannot_be_is_one_line_and_two(
    tmp_path: Path, harness_eval: Run, flags: tuple[str, ...], told: str
) -> None:
    run = kept.write(tmp_path / "run", Kept(first_outcome))
    said = harness_eval("compat", run, *flags)
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert told in said.err


def test_an_update_keeps_the_margins_of_its_file_unless_a_flag_names_others(tmp_path: Path, harness_eval: Run) -> None:
    run = kept.write(tmp_path / "run", Kept(first_outcome))
    page = tmp_path / "COMPATIBILITY.md"
    harness_eval("compat", run, "--update", page, "--margin", "0.05", "--broken-margin", "0.2")
    margins = {"compatible": 0.05, "broken": 0.2}
    assert harness_eval("compat", run, "--update", page, "--json").json["margins"] == margins
    said = harness_eval("compat", run, "--update", page, "--margin", "0.15", "--json")
    assert said.json["margins"] == {"compatible": 0.15, "broken": 0.15}


def test_a_matrix_whose_document_is_missing_is_not_written_over(tmp_path: Path, harness_eval: Run) -> None:
    run = kept.write(tmp_path / "run", Kept(first_outcome))
    page = tmp_path / "COMPATIBILITY.md"
    harness_eval("compat", run, "--update", page)
    before = page.read_bytes()
    page.with_suffix(".json").unlink()
    said = harness_eval("compat", run, "--update", page)
    assert (said.code, page.read_bytes(), page.with_suffix(".json").exists()) == (2, before, False)
    assert "COMPATIBILITY.json, which it goes on from, is missing; restore that, or empty the place" in said.err
