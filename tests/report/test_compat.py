"""Forms of a compatibility matrix: what is broken is seen in each, and no name from outside breaks one."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from harness_eval.compat.document import Column, Figure, Subject
from harness_eval.report import compat_text, write_compat
from harness_eval.report.compat_csv import COLUMNS, table
from harness_eval.report.compat_grid import grid
from harness_eval.report.compat_markdown import markdown
from harness_eval.report.compat_page import page
from harness_eval.report.compat_sentences import sentences
from harness_eval.report.compat_words import link
from tests.report import compatibility
from tests.report.compatibility import HOSTILE, Data
from tests.report.test_forms import Page

LARGE = compatibility.large(14, 64)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def visible(text: str) -> str:
    return " ".join(" ".join(Page(text.replace("<wbr>", "")).words).split())


def test_all_forms_are_written_and_the_document_is_as_it_was_given(tmp_path: Path) -> None:
    data = compatibility.tiny()
    write_compat(data, tmp_path / "new")
    names = {path.name for path in (tmp_path / "new").iterdir()}
    assert names == {f"compatibility.{ending}" for ending in ("json", "md", "html", "csv")}
    assert json.loads((tmp_path / "new/compatibility.json").read_text()) == data


def test_sentences_count_and_name_what_is_broken_stale_and_unclear() -> None:
    data = compatibility.tiny()
    first, *rest = sentences(grid(data), data)
    assert first.startswith("2 models × 4 harnesses: 1 of 5 combinations is compatible; 1 broken, 1 degraded, ")
    assert first.endswith(" 1 unclear, 1 unsupported; 1 not tried.")
    assert rest == [
        "Broken: Kimi-K3 · 2026-10 · vLLM 0.11 under json-text (−32.0 pp).",
        "Degraded: reference under json-text (−9.0 pp).",
        "1 combination is unclear; about 40 more tasks would decide it.",
        "1 combination is stale, that is, does not speak of the current harness: json-text (1).",
        "1 row is of a scripted agent, not of a language model.",
    ]


def test_every_form_says_the_same_of_a_broken_cell() -> None:
    data = compatibility.tiny()
    for text in (visible(page(data)), markdown(data).replace("`", ""), compat_text(data)):
        assert "✕ broken" in text
        assert "−32.0 pp [−40.0, −24.0]" in text
        assert "wire.leaked_call (61" in text
    line = next(row for row in rows(table(data)) if row["verdict"] == "broken")
    assert (line["difference"], line["main_label"], line["flagged"]) == ("-0.32", "wire.leaked_call", "true")


@pytest.mark.parametrize("verdict", ["compatible", "degraded", "broken", "unclear", "unsupported", "not tried"])
def test_a_verdict_is_told_by_a_word_in_the_matrix_of_the_page(verdict: str) -> None:
    matrix = page(compatibility.tiny()).partition("<tbody>")[2].partition("</tbody>")[0]
    assert verdict in matrix


def test_a_dense_place_has_its_words_where_a_screen_reader_finds_them() -> None:
    matrix = page(LARGE).partition("<tbody>")[2].partition("</tbody>")[0]
    assert 'aria-label="broken −35.0 pp [−40.0, −30.0], 300 trials' in matrix
    assert matrix.count("aria-label=") == len(LARGE["cells"])


def test_the_matrix_is_turned_where_harnesses_are_far_more() -> None:
    turned = grid(LARGE)
    assert (turned.turned, turned.across, turned.density) == (True, 14, "dense")
    upright = grid(compatibility.large(3, 5))
    assert (upright.turned, upright.across, upright.density) == (False, 5, "full")


def test_of_two_cells_in_one_place_the_one_that_is_not_stale_is_shown() -> None:
    data = compatibility.tiny()
    old = data["cells"][1]
    data["cells"] = [data["cells"][0], old | {"stale": None, "verdict": "compatible"}, old, *data["cells"][2:]]
    shown = {(place.subject["id"], place.harness["name"]): place.kind for place in grid(data).places}
    assert shown["k", "json-text"] == "compatible"


@pytest.mark.parametrize("size", [(3, 5), (30, 64), (90, 12), (3, 100)])
def test_markdown_fits_a_comment(size: tuple[int, int]) -> None:
    assert len(markdown(compatibility.large(*size))) < 60_000


def test_markdown_says_how_many_cells_its_table_leaves_out() -> None:
    text = markdown(LARGE)
    hidden = re.search(r"The table of all numbers is cut: ([\d,]+) cells of ([\d,]+) are left out", text)
    assert hidden
    shown = text.partition("All numbers</summary>")[2].partition("</details>")[0].count("\n| ") - 1
    assert int(hidden[2].replace(",", "")) - int(hidden[1].replace(",", "")) == shown > 0
    assert "is cut" not in markdown(compatibility.tiny())


def test_markdown_of_endless_names_fits_too() -> None:
    data = compatibility.hostile()
    for place, subject in enumerate(data["subjects"]):
        subject["model"] = f"<{place}" * 100_000
    assert len(markdown(data)) < 60_000


def test_hostile_names_are_no_markup_in_markdown() -> None:
    text = markdown(compatibility.hostile())
    assert "<script" not in text
    assert "<!--" not in text
    assert "](javascript" not in text
    assert "@someone" not in text
    assert "\x1b" not in text
    tables = re.findall(r"(?m)^\|.*$", text)
    assert {line.count("|") for line in tables} == {8, 11}, "a pipe of a name has made a column"


def test_hostile_names_are_no_markup_in_the_page() -> None:
    found = Page(page(compatibility.hostile()))
    assert found.tags["script"] == 0
    assert not found.handlers
    assert not found.open
    assert len(found.ids) == len(set(found.ids))
    assert all(not one.startswith("javascript:") for one in found.loads)
    assert HOSTILE[0].split("|")[0] in " ".join(found.words)


def test_the_page_loads_nothing() -> None:
    found = Page(page(compatibility.tiny()))
    assert found.tags["script"] == found.tags["img"] == found.tags["link"] == 0
    assert all(one.startswith("runs/a/report.html") for one in found.loads)


@pytest.mark.parametrize(
    ("address", "leads"),
    [
        ("https://ci.example/runs/7/report.html#a", "https://ci.example/runs/7/report.html#a"),
        ("../runs/a b/report.html", "../runs/a%20b/report.html"),
        ("javascript:alert(1)", ""),
        (" JavaScript:alert(1)", ""),
        ("./run:1/report.html", "./run%3A1/report.html"),
        ("a|b)c", "a%7Cb%29c"),
        (None, ""),
    ],
)
def test_a_link_leads_to_a_page_or_a_file_only(address: str | None, leads: str) -> None:
    assert link(address) == leads


def test_the_table_has_one_line_a_cell_in_columns_that_do_not_change() -> None:
    text = table(LARGE)
    assert tuple(text.partition("\r\n")[0].split(",")) == COLUMNS
    assert len(rows(text)) == len(LARGE["cells"])
    assert "\n" not in text.replace("\r\n", "")


def test_no_name_is_a_formula_in_a_spreadsheet() -> None:
    for row in rows(table(compatibility.hostile())):
        for value in row.values():
            assert value[:1] not in "=+@" or not value, value
            assert not value.startswith("-") or float(value) < 0


def test_a_negative_number_stays_a_number() -> None:
    assert {row["difference"] for row in rows(table(compatibility.hostile()))} == {"-0.32"}


def test_terminal_text_has_no_control_characters_and_no_endless_lines() -> None:
    for data in (compatibility.hostile(), LARGE, compatibility.large(3, 5)):
        lines = compat_text(data).splitlines()
        assert all(line.isprintable() and len(line) <= 140 for line in lines)
        assert len(lines) < 110


def test_no_line_of_the_terminal_is_a_command_of_a_ci_system() -> None:
    text = compat_text(compatibility.hostile())
    assert ":error::x" in text
    assert not re.search(r"^\s*::|##\w*\[", text, re.MULTILINE)


def test_an_empty_matrix_has_forms_too() -> None:
    data: Data = compatibility.of((), (), ())
    assert "0 of 0 combinations" in markdown(data)
    assert "0 of 0 combinations" in visible(page(data))
    assert "0 of 0 combinations" in compat_text(data)
    assert rows(table(data)) == []


def test_an_estimate_of_further_tasks_that_ends_at_its_bound_is_a_lower_one() -> None:
    subject, columns = Subject(id="k", model="Kimi-K3"), (Column(name="near"), Column(name="far"))
    told = {"verdict": "unclear", "pairs": 64, "tasks": 64}
    cells = [
        compatibility.cell("k", one.name, extra_tasks=n, **told) for one, n in zip(columns, (30, 576), strict=True)
    ]
    text = compat_text(compatibility.of((subject,), columns, tuple(cells)))
    assert "about 30 more tasks would decide the nearest, at least 576 all of them." in text
    assert "at least 576 more tasks would decide" in text


def test_what_looks_like_a_key_is_in_no_form() -> None:
    subject = Subject(id="k", model="sk-abcdefgh12345678", serving="https://me:hunter2-x@host/v1")
    name = "ghp_0123456789abcdefghij"
    cell = compatibility.broken("k", name, reason="api_key=0123456789", evidence=None)
    data = compatibility.of((subject,), (Column(name=name),), (cell,))
    forms = markdown(data) + page(data) + table(data) + compat_text(data)
    assert not re.search("sk-abc|hunter2|ghp_0|0123456789", forms)


def test_where_nothing_can_be_compared_the_score_is_shown_and_why() -> None:
    subject, column = Subject(id="k", model="Kimi-K3"), Column(name="bare")
    told = {"verdict": "unclear", "reason": "no canonical harness is known", "difference": Figure(), "p": None}
    data = compatibility.of((subject,), (column,), (compatibility.cell("k", "bare", **told),))
    assert "unclear score 80.0 % [74.0, 85.0], 300 trials, no canonical harness is known" in compat_text(data)
    assert "<br>score 80.0 % [74.0, 85.0]" in markdown(data)
    assert "score 80.0 %" in visible(page(data))


@pytest.mark.parametrize(
    ("compatible", "all_of_them", "verb"), [(0, 1, "is"), (1, 2, "is"), (2, 2, "are"), (0, 2, "are")]
)
def test_numbers_agree_with_their_verb(compatible: int, all_of_them: int, verb: str) -> None:
    names = [f"h{number}" for number in range(all_of_them)]
    kinds = [compatibility.cell if number < compatible else compatibility.broken for number in range(all_of_them)]
    cells = tuple(kind("k", name) for kind, name in zip(kinds, names, strict=True))
    data = compatibility.of((Subject(id="k", model="m"),), tuple(Column(name=name) for name in names), cells)
    assert f" {verb} compatible" in sentences(grid(data), data)[0]
