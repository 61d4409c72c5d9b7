"""Markdown, HTML and text: the same numbers, nothing broken by foreign names, nothing loaded from elsewhere."""

from __future__ import annotations

import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

from harness_eval.report import build, summary_text, write
from tests.report.synthetic import Plan, write_run

HOSTILE = Plan(
    tasks=22,
    harnesses=6,
    lost=0.1,
    message="<script>alert(1)</script> | a\nb `x` \x1b[31mred \ud800 @someone",
    names={1: "<script>alert('x')</script>|pipe\nnewline", 2: "$a_b$ **bold** [x](javascript:1)", 3: '" onload="x'},
    unsupported=(("<b>x</b>", "because | of\n<i>it</i>"),),
)
VOID = {"meta", "img", "br", "hr", "input", "link", "wbr"}


class Page(HTMLParser):
    """Checks the nesting of elements while it collects what a test asks about."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.ids: list[str] = []
        self.loads: list[str] = []
        self.handlers: list[str] = []
        self.words: list[str] = []
        self.scripts: list[str] = []  # their types
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        if tag == "script":
            self.scripts.append(dict(attrs).get("type") or "")
        for key, value in attrs:
            if key == "id":
                self.ids.append(value or "")
            if key in {"src", "href", "xlink:href", "srcset", "data", "action"} and not (value or "").startswith("#"):
                self.loads.append(value or "")
            if key.startswith("on"):
                self.handlers.append(key)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("style", "script"):
            self.words.append(data)


def forms(folder: Path) -> tuple[dict[str, object], str, str, str]:
    data = write(folder)
    return data, (folder / "report.md").read_text(), (folder / "report.html").read_text(), summary_text(data)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, object], str, str, str]:
    plan = Plan(costs={"protocol=json-text": 0.4}, lost=0.02, never=("context",), unsupported=(("x", "needs y"),))
    return forms(write_run(tmp_path_factory.mktemp("run"), plan))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, object], str, str, str]:
    return forms(write_run(tmp_path_factory.mktemp("hostile"), HOSTILE))


def words(html: str) -> str:
    return " ".join(" ".join(Page(html).words).split())


def test_all_forms_print_the_same_leading_numbers(run: tuple[dict, str, str, str]) -> None:
    data, markdown, html, text = run
    page = words(html)
    for name in ("canonical", "mean", "worst", "gap", "spread"):
        figures = data[name]
        value, low, high = (f"{100 * figures[key]:.1f}" for key in ("estimate", "low", "high"))
        for form in (markdown, page, text):
            assert re.search(rf"{name.upper()}\W+{value} (%|pp)\W+\[{low}, {high}\]", form), (name, form[:2000])


def test_all_forms_print_the_same_effect(run: tuple[dict, str, str, str]) -> None:
    data, *printed = run
    row = data["axes"][0]
    effect = f"{100 * row['effect']:+.1f} pp [{100 * row['low']:+.1f}, {100 * row['high']:+.1f}]".replace("-", "−")
    assert all(effect in form for form in (printed[0], words(printed[1]), printed[2]))


def test_the_json_file_is_what_build_returns(tmp_path: Path) -> None:
    folder = write_run(tmp_path, Plan(tasks=20, harnesses=4))
    write(folder)
    assert json.loads((folder / "report.json").read_text()) == json.loads(json.dumps(build(folder)))
    assert sorted(path.name for path in folder.glob("*report*")) == ["report.html", "report.json", "report.md"]


def test_the_raw_minimum_is_printed_only_with_its_warning(run: tuple[dict, str, str, str]) -> None:
    data, markdown, html, text = run
    raw = f"{100 * data['raw_min']['estimate']:.1f} %"
    assert raw != f"{100 * data['worst']['estimate']:.1f} %"
    assert raw not in text.split("WHY")[0]
    for form in (words(html), markdown):
        assert form.count("Raw minimum") == form.count(f"{raw} (biased low, do not quote") == 1
        assert form.index("WORST") < form.index("Raw minimum")


def test_harnesses_that_cannot_run_are_counted_in_the_headline(run: tuple[dict, str, str, str]) -> None:
    for form in (run[1].split("| **WORST**")[0], words(run[2]).split("WORST")[0], run[3].split("WHY")[0]):
        assert "1 of 19 harnesses cannot run here" in form


def test_an_unexposed_level_is_printed_as_not_exercised(run: tuple[dict, str, str, str]) -> None:
    assert "Not exercised" in run[1]
    assert "context = window(steps=4) not exercised" in words(run[2])
    assert "1 level not exercised" in run[3]
    assert not any("no effect" in form for form in run[1:])


def test_the_terminal_summary_has_at_most_about_forty_lines(run: tuple[dict, str, str, str]) -> None:
    assert 15 < run[3].count("\n") <= 40
    assert max(map(len, run[3].splitlines())) <= 140


def test_the_page_is_well_formed_and_loads_nothing(run: tuple[dict, str, str, str]) -> None:
    page = Page(run[2])
    assert page.open == []
    assert page.scripts == ["application/json", ""]
    assert page.tags["svg"] == 4
    assert all(load.startswith("data:image/png;base64,") for load in page.loads)
    assert not re.search(r"https?://|@import|url\((?!#)", run[2])
    assert [name for name, times in Counter(page.ids).items() if times > 1] == []


def test_foreign_names_are_text_and_never_markup(hostile: tuple[dict, str, str, str]) -> None:
    _, markdown, html, text = hostile
    page = Page(html)
    assert page.open == []
    assert page.scripts == ["application/json", ""]
    assert page.tags["b"] == page.tags["i"] - html.count('<i style="left') == 0
    assert page.handlers == []
    assert "<script" not in markdown
    assert "](javascript" not in markdown
    assert "<script>alert('x')</script>|pipe newline" in words(html)
    assert not any("\x1b" in form for form in (markdown, html, text))
    assert all(line.isprintable() for line in text.splitlines())


@pytest.mark.parametrize("which", ["run", "hostile"])
def test_every_row_of_a_markdown_table_has_as_many_cells_as_its_head(
    which: str, request: pytest.FixtureRequest
) -> None:
    tables = re.findall(r"(?:^\|.*\n)+", request.getfixturevalue(which)[1], flags=re.MULTILINE)
    assert len(tables) >= 3
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1, table


def test_markdown_fits_a_comment(run: tuple[dict, str, str, str]) -> None:
    assert len(run[1]) < 20_000


def test_an_incomplete_run_says_so_at_the_top(tmp_path: Path) -> None:
    _, markdown, html, text = forms(write_run(tmp_path, Plan(tasks=20, harnesses=5, stop_after=60)))
    for form in (markdown, words(html), text):
        assert "INCOMPLETE: 40 trials of 100 not run yet" in form.split("WORST")[0]


def test_a_run_without_verdicts_has_all_forms(tmp_path: Path) -> None:
    _, markdown, html, text = forms(write_run(tmp_path, Plan(tasks=20, harnesses=5, stop_after=0)))
    for form in (markdown, words(html), text):
        assert "No trial has a verdict" in form
        assert not re.search(r"\d\.\d (%|pp)", form)


def test_the_scripted_endpoint_is_called_no_language_model(tmp_path: Path) -> None:
    _, markdown, html, text = forms(write_run(tmp_path, Plan(tasks=20, harnesses=5, scripted=True)))
    for form in (markdown, words(html), text):
        assert "scripted, not a language model" in form.split("WORST")[0]
        assert "the model scores" not in form


def test_each_endpoint_has_its_section(tmp_path: Path) -> None:
    _, markdown, html, text = forms(write_run(tmp_path, Plan(tasks=20, harnesses=5, endpoints=("left", "right"))))
    assert markdown.count("| **WORST** |") == text.count("\nWORST ") == html.count("<dt>WORST</dt>") == 2
    assert [name for name, times in Counter(Page(html).ids).items() if times > 1] == []


def test_a_large_run_shows_its_cells_as_one_picture(tmp_path: Path) -> None:
    plan = Plan(tasks=500, harnesses=64, costs={"protocol=json-text": 0.3}, lost=0.01)
    data, markdown, html, _ = forms(write_run(tmp_path, plan))
    page = Page(html)
    assert data["trials"]["planned"] == 32_000
    assert len([load for load in page.loads if load.startswith("data:image/png")]) == 1
    assert len(html) < 600_000
    assert len(markdown) < 20_000
