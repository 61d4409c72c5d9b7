"""A check as text, Markdown and badge: the verdict first, the same numbers in all, whatever names say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from harness_eval.errors import ConfigError
from harness_eval.gate.document import Difference
from harness_eval.report import check_text, write_check
from harness_eval.report.check_files import FILES, badge, markdown
from harness_eval.report.columns import inert
from harness_eval.report.markdown import MOST_CHARACTERS
from tests.report import checks

EVERY = {
    "fail": checks.check(),
    "pass": checks.passing(),
    "inconclusive": checks.undecided(),
    "incomplete": checks.incomplete(),
    "replay": checks.replayed(),
}
every = pytest.mark.parametrize("data", EVERY.values(), ids=EVERY)
hostile = pytest.mark.parametrize("text", checks.HOSTILE, ids=lambda text: ascii(text[:20]))


@every
def test_the_verdict_comes_first(data: dict[str, Any]) -> None:
    for form in (check_text(data), markdown(data).removeprefix("### ")):
        first = form.splitlines()[0]
        assert first.startswith(data["verdict"].upper())
        assert data["said"] in first


@every
def test_text_and_markdown_print_the_same_numbers(data: dict[str, Any]) -> None:
    forms = [" ".join(form(data).split()) for form in (check_text, markdown)]
    told = [f"{data['trials']['judged']} of at most {data['trials']['most']} trials judged"]
    for question in data["questions"]:
        change = question["change"]
        if change["estimate"] is not None:
            figures = f"{100 * change['estimate']:+.1f} pp [{100 * change['low']:+.1f}, {100 * change['high']:+.1f}]"
            told.append(figures.replace("-", "−"))
    if data["decision"]:
        told += ["13 of 50 pairs of the same task and repeat solved only before, 2 only after"]
        told += ["(fails at 2.89, passes at −2.25)", "alpha 0.05, beta 0.1, margin 10.0 pp"]
    for form in forms:
        assert not [one for one in told if one not in form]


def test_an_undecided_check_warns_and_says_what_would_decide_it() -> None:
    data = checks.undecided()
    for form in (check_text(data), markdown(data)):
        assert "INCONCLUSIVE (a warning, not a failure): nothing was decided." in form
        assert "about 2 more repeats of 100 tasks." in form
    assert "> [!WARNING]" in markdown(data)


def test_an_undecided_release_is_no_mere_warning() -> None:
    data = checks.undecided(exit_code=1)
    assert check_text(data).startswith("INCONCLUSIVE (a release needs a PASS)")


def test_the_likeliest_tasks_are_shown_and_how_many_more_there_are() -> None:
    data = checks.check()
    data["flipped"].reverse()
    text = check_text(data)
    shown = re.findall(r"^  (task-\d+) ", text, re.MULTILINE)
    assert shown == [f"task-{place:03}" for place in range(10)]
    assert "and 2 more in check.json" in text
    assert markdown(data).count("| `task-0") == 12


def test_labels_that_grew_name_who_must_act_and_what_can_be_done() -> None:
    for form in (check_text(checks.check()), markdown(checks.check())):
        flat = " ".join(form.replace("|", " ").split())
        assert re.search(r"serving\.tool_call_dropped\W.*?serving.*?0 of 300.*?2 of 50", flat)
    assert "**Labels**" not in markdown(checks.passing())


def test_a_run_that_is_both_sides_is_named_once() -> None:
    one = checks.side("recorded")
    text = check_text(checks.replayed(before=one, after=one))
    assert "RUN         recorded: small-8b at lab" in text
    assert "BEFORE" not in text


def test_a_replay_compares_no_figures_and_has_no_table_of_them() -> None:
    assert "| before | after |" in markdown(checks.check())
    assert "would be seen" in markdown(checks.check())
    text = markdown(checks.replayed())
    assert "| before | after |" not in text
    assert "would be seen" not in text
    assert re.search(r"^- harness-eval .*, exit code 0$", text, re.MULTILINE)


def test_an_incomplete_check_names_no_rule_that_decided() -> None:
    data = checks.incomplete(decision=checks.decision(by="limits"))
    assert "no rule decided" in check_text(data)


def test_versions_are_told_where_both_runs_know_them() -> None:
    before = checks.side("main", versions={"harness-eval": "0.1.0", "openai": "3", "docker": "7"})
    after = checks.side("change", versions={"harness-eval": "0.1.1", "docker": "7"})
    line = next(
        line for line in check_text(checks.check(before=before, after=after)).splitlines() if "VERSIONS" in line
    )
    assert line.split() == ["VERSIONS", "harness-eval", "0.1.0", "→", "0.1.1"]


def test_a_scripted_agent_is_never_taken_for_a_model() -> None:
    data = checks.check(after=checks.side("change", scripted=True))
    assert all("scripted, not a language model" in form for form in (check_text(data), markdown(data)))


@every
def test_lines_of_the_terminal_fit_it(data: dict[str, Any]) -> None:
    assert max(map(len, check_text(data).splitlines())) <= 110


@hostile
def test_hostile_text_stays_within_its_line_and_short(text: str) -> None:
    data = checks.hostile(text)
    plain, marked = check_text(data), markdown(data)
    assert len(plain.splitlines()) < 150
    assert max(map(len, plain.splitlines())) <= 140
    assert plain.replace("\n", "").isprintable()
    assert len(marked) <= MOST_CHARACTERS
    assert marked.replace("\n", "").isprintable()
    assert "abcdefghijklmnop1234" not in plain + marked
    assert not re.search(r"<script|@someone|\]\(javascript", marked.replace("<code>", ""))
    for table in re.findall(r"(?:^\|.*\n)+", marked, re.MULTILINE):
        assert len({line.count("|") for line in table.splitlines()}) == 1


@hostile
def test_no_line_of_the_terminal_is_a_command_of_a_ci_system(text: str) -> None:
    for line in check_text(checks.hostile(text)).splitlines():
        assert not line.lstrip().startswith("::")
        assert not re.search(r"##\w*\[", line)


def test_names_that_look_like_commands_can_still_be_read() -> None:
    assert inert("  ::error::x ##[group]") == "  : :error::x # #[group]"
    assert inert("one\n::error::x") == "one\n: :error::x"
    assert inert("tests/test_a.py::test_b ## [x]") == "tests/test_a.py::test_b ## [x]"


def test_long_lists_are_cut_and_the_rest_counted() -> None:
    rows = checks.outcomes(3000, 1500)
    data = checks.check(tasks=rows, flipped=checks.flips(rows))
    assert "and 1,490 more in check.json" in check_text(data)
    assert "And 1475 more in check.json." in markdown(data)


@every
def test_a_badge_is_what_shields_reads(data: dict[str, Any]) -> None:
    made = badge(data)
    assert set(made) == {"schemaVersion", "label", "message", "color", "isError"}
    assert made["schemaVersion"] == 1
    assert str(made["message"]).startswith(data["verdict"])
    assert made["isError"] is (data["verdict"] in ("fail", "incomplete"))


def test_a_badge_tells_the_change_where_it_is_known() -> None:
    assert badge(checks.check())["message"] == "fail, −22.0 pp"
    assert badge(checks.replayed())["message"] == "pass"
    colours = {badge(data)["color"] for name, data in EVERY.items() if name != "replay"}
    assert colours == {"red", "brightgreen", "yellow", "lightgrey"}


def test_all_forms_are_written_into_a_new_folder(tmp_path: Path) -> None:
    data = checks.check()
    write_check(data, tmp_path / "new" / "one")
    assert sorted(path.name for path in (tmp_path / "new" / "one").iterdir()) == sorted(FILES)
    assert json.loads((tmp_path / "new" / "one" / "check.json").read_text()) == data


def test_a_folder_that_cannot_be_made_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="file: cannot be made"):
        write_check(checks.check(), tmp_path / "file")


def test_where_only_the_worst_harness_fell_no_form_speaks_as_if_the_gated_one_decided() -> None:
    fell = checks.spread("fail").model_copy(update={"asked": "worst", "change": checks.figure(-0.53, -0.69, -0.3)})
    kept = checks.canonical("inconclusive", "It is not sure.", checks.figure(0.0, -0.11, 0.11))
    data = checks.check(questions=(kept, fell), decision=checks.decision(by="none", needed="9 more pairs."))
    assert badge(data)["message"] == "fail, worst −53.0 pp"
    assert all("9 more pairs" not in form for form in (check_text(data), markdown(data)))


def test_missing_trials_are_told_with_what_makes_them() -> None:
    assert "40 missing (the command that made the run goes on with them)" in markdown(checks.incomplete())


def test_a_run_that_stopped_early_has_the_repeats_that_decided_it() -> None:
    assert "; 100 tasks × 0.5 of 3 repeats, 2026" in check_text(checks.check())
    assert "; 100 tasks × 3 repeats, 2026" in markdown(checks.undecided())


def test_what_differs_is_not_cut_where_it_says_how_many_trials_it_reaches() -> None:
    long = Difference(kind="harness", what="ours", detail=f"{'x' * 300}; 5 of 5 trials; {'y' * 300}")
    assert "5 of 5 trials" in markdown(checks.check(changed=(long,)))


def test_a_gated_harness_of_another_name_is_not_called_canonical() -> None:
    forms = (check_text(checks.check(harness="ours")), markdown(checks.check(harness="ours")))
    assert all("GATED" in form and "CANONICAL" not in form for form in forms)


def test_what_more_trials_would_decide_is_not_told_while_trials_are_missing() -> None:
    assert "TO DECIDE" not in check_text(checks.incomplete())
