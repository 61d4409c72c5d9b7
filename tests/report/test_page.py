"""The page for everybody: landmarks, headings, captions, contrast in light, dark and print; nothing from outside."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from harness_eval.bundled import folder
from harness_eval.report import build
from harness_eval.report.page import page
from tests.report.synthetic import Plan, write_run

READABLE = 4.5  # the contrast that WCAG 2.2 asks of text (AA)


class Outline(HTMLParser):
    """Headings in order, landmarks, tables without a caption, labels that name nothing."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.headings: list[int] = []
        self.landmarks: list[str] = []
        self.tables: list[bool] = []  # whether each has a caption
        self.ids: set[str] = set()
        self.named_by: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.attributes += [(tag, name, value) for name, value in given.items()]
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag in ("main", "header", "footer", "nav"):
            self.landmarks.append(tag)
        if tag == "table":
            self.tables.append(False)
        if tag == "caption":
            self.tables[-1] = True
        self.ids.update([given["id"]] if "id" in given else [])
        for name in ("aria-labelledby", "aria-describedby"):
            self.named_by += given.get(name, "").split()


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> str:
    plan = Plan(
        tasks=52,
        harnesses=8,
        lost=0.03,
        labelled=True,
        costs={"protocol=json-text": 0.4},
        endpoints=("a", "b"),
        unsupported=(("x", "needs y"),),
        leaks=(3,),
        stop_after=800,
    )
    return page(build(write_run(tmp_path_factory.mktemp("run"), plan)))


@pytest.fixture(scope="module")
def outline(html: str) -> Outline:
    return Outline(html)


def test_the_page_has_one_main_a_header_a_footer_and_contents(outline: Outline) -> None:
    assert outline.landmarks.count("main") == 1
    assert {"header", "footer", "nav"} <= set(outline.landmarks)
    assert ("html", "lang", "en") in outline.attributes


def test_no_heading_skips_a_level(outline: Outline) -> None:
    assert outline.headings[0] == 1
    assert outline.headings.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(outline.headings, outline.headings[1:], strict=False))


def test_every_table_has_a_caption(outline: Outline) -> None:
    assert len(outline.tables) > 10
    assert all(outline.tables)


def test_what_is_named_by_another_element_finds_it(outline: Outline) -> None:
    links = [value[1:] for _, name, value in outline.attributes if name == "href" and value.startswith("#")]
    assert links
    assert set(outline.named_by) | {link for link in links if "-map" not in link} <= outline.ids | glyphs(outline)


def glyphs(outline: Outline) -> set[str]:
    return {name for name in outline.ids if name.startswith(("forest", "effects", "drop"))}


def test_nothing_is_loaded_from_outside_and_no_handler_stands_in_the_markup(html: str, outline: Outline) -> None:
    assert not re.search(r"https?://", html)
    loads = [v for _, name, v in outline.attributes if name in ("src", "href", "srcset", "action", "data", "poster")]
    assert all(value.startswith(("#", "data:image/png;base64,")) for value in loads)
    assert not [name for _, name, _ in outline.attributes if name.startswith("on")]


def test_the_content_security_policy_admits_only_the_pages_own_script(outline: Outline) -> None:
    [policy] = [value for _, name, value in outline.attributes if name == "content" and "default-src" in value]
    assert "default-src 'none'" in policy
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/]{43}='(;|$)", policy)


def test_figures_are_hidden_from_screen_readers_and_have_a_table_beside_them(html: str) -> None:
    assert html.count("<svg") == html.count('<svg class="figure"') == html.count('aria-hidden="true" focusable="false"')
    assert "All harnesses as a table" in html
    assert "All levels as a table" in html


def test_motion_stops_where_it_is_not_wanted_and_focus_is_seen() -> None:
    css = (folder("templates") / "report.css").read_text()
    assert "prefers-reduced-motion" in css
    assert ":focus-visible" in css


def palettes() -> dict[str, dict[str, str]]:
    """The colours of each scheme; dark and print change those of light."""
    css = (folder("templates") / "report.css").read_text()
    found = [
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
        for block in re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    ]
    assert len(found) == 3
    light, dark, paper = found
    return {"light": light, "dark": light | dark, "print": light | paper}


def luminance(colour: tuple[float, ...]) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def rgb(text: str) -> tuple[float, ...]:
    return tuple(int(text[place : place + 2], 16) / 255 for place in (1, 3, 5))


def mixed(part: float, one: str, other: str) -> tuple[float, ...]:
    return tuple(part * a + (1 - part) * b for a, b in zip(rgb(one), rgb(other), strict=True))


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
def test_text_can_be_read_on_its_ground(scheme: str) -> None:
    colours = palettes()[scheme]
    texts = ("ink", "muted", "mark", "good", "bad", "warn")
    pairs = {
        f"{text} on {ground}": (rgb(colours[text]), rgb(colours[ground]))
        for text in texts
        for ground in ("paper", "panel")
    }
    pairs["warn on warn-panel"] = rgb(colours["warn"]), rgb(colours["warn-panel"])
    pairs["paper on ink"] = rgb(colours["paper"]), rgb(colours["ink"])
    pairs |= {f"s{step}": (rgb(colours[f"on-s{step}"]), rgb(colours[f"s{step}"])) for step in range(5)}
    for heat in ("bad", "warn", "muted"):
        grounds = [mixed(part, colours[heat], colours["paper"]) for part in (0.14, 0.28, 0.45)]
        pairs |= {f"ink on {heat} {place}": (rgb(colours["ink"]), ground) for place, ground in enumerate(grounds)}
        pairs[f"paper on {heat}"] = rgb(colours["paper"]), rgb(colours[heat])
    poor = {name: round(ratio, 2) for name, two in pairs.items() if (ratio := contrast(*two)) < READABLE}
    assert poor == {}


def test_the_steps_of_the_labels_table_are_those_that_are_checked() -> None:
    css = (folder("templates") / "report.css").read_text()
    assert re.findall(r"color-mix\(in srgb, var\(--heat\) (\d+)%, var\(--paper\)\)", css) == ["14", "28", "45"]


def test_what_was_not_run_stands_in_one_place_with_its_reasons(tmp_path: Path) -> None:
    study = write_run(tmp_path, Plan(tasks=20, harnesses=4, stop_after=60, unsupported=(("x", "needs y"),)))
    path = study / "study.json"
    path.write_text(path.read_text().replace('"notes": []', '"notes": ["task heavy is left out: it needs a network"]'))
    data = build(study)
    text = page(data).split("What was not run, and why")[1].split("</section>")[0]
    assert data["left_out"] == [{"what": "task heavy", "reason": "it needs a network"}]
    assert sum(one["trials"] for one in data["owed"]) == data["trials"]["owed"] == 20
    for said in ("20 trials of 80", "task heavy", "it needs a network", "needs y"):
        assert said in text
