"""The page in a browser: cells open their trials, by mouse and by keyboard, and nothing is wider than the window."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness_eval.report import write
from tests.report.browser import Tab, browser
from tests.report.synthetic import Plan, write_run
from tests.report.test_embedded import recorded

pytestmark = [pytest.mark.anyio, pytest.mark.chromium]

DIALOG = "document.getElementById('trial')"
SHOWN = f"{DIALOG}.open && {DIALOG}.querySelector('.body').textContent.trim() !== ''"


@dataclass
class Opened:
    tab: Tab
    small: Path
    large: Path


@pytest.fixture(scope="module")
async def opened(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Opened]:
    folder = tmp_path_factory.mktemp("pages")
    small = recorded(folder / "small", Plan(tasks=22, harnesses=6, costs={"protocol=json-text": 0.5}), 22)
    large = write_run(folder / "large", Plan(tasks=80, harnesses=8, names={3: "a" * 90}))
    for run in (small, large):
        write(run)
    async with browser(folder / "profile") as tab:
        yield Opened(tab, small / "report.html", large / "report.html")


async def test_a_cell_opens_its_trial_and_escape_gives_the_focus_back(opened: Opened) -> None:
    tab = opened.tab
    await tab.open(opened.small, 1280)
    await tab.run("document.querySelector('.cells td[tabindex=\"0\"]').focus()")
    await tab.press("ArrowRight", "ArrowDown", "Enter")
    await tab.until(SHOWN)
    title = await tab.run(f"{DIALOG}.querySelector('h2').textContent")
    row = "document.querySelector('.cells').tBodies[0].rows[1]"
    harness = await tab.run(f"{row}.cells[0].title")
    task = await tab.run("document.querySelector('.cells').tHead.rows[0].cells[2].firstChild.title")
    assert title == f"{task} · {harness}"
    assert "I look." in await tab.run(f"{DIALOG}.querySelector('.body').textContent")
    await tab.press("Escape")
    assert await tab.run(f"!{DIALOG}.open && document.activeElement === {row}.cells[2]")


async def test_a_click_shows_a_cell_beside_canonical(opened: Opened) -> None:
    tab = opened.tab
    await tab.open(opened.small, 1280)
    place = "Object.keys(JSON.parse(document.getElementById('endpoint-0-map-trials').textContent).pairs)[0]"
    table = "document.querySelector('.cells').tBodies[0]"
    cell = f"(([row, column]) => {table}.rows[row].cells[+column + 1])({place}.split(','))"
    await tab.run(f"{cell}.scrollIntoView({{block: 'center'}})")
    x, y = await tab.run(f"(({{x, y}}) => [x + 4, y + 4])({cell}.getBoundingClientRect())")
    await tab.click(x, y)
    await tab.until(SHOWN)
    buttons = f"[...{DIALOG}.querySelectorAll('.views button')]"
    assert "beside canonical" in await tab.run(f"{buttons}.map((each) => each.textContent)")
    await tab.run(f"{buttons}.at(-1).click()")
    await tab.until(f"{DIALOG}.querySelector('.t-pair')")
    assert await tab.run(f"{buttons}.at(-1).getAttribute('aria-pressed')") == "true"


async def test_a_pixel_of_a_large_map_says_which_cell_it_is(opened: Opened) -> None:
    tab = opened.tab
    await tab.open(opened.large, 1280)
    box = "(() => { const map = document.querySelector('.pixels'); map.scrollIntoView({block: 'center'});"
    x, y = await tab.run(f"{box} const at = map.getBoundingClientRect(); return [at.right - 2, at.bottom - 2]; }})()")
    await tab.click(x, y)
    await tab.until(f"{DIALOG}.open")
    last = await tab.run(
        "(() => { const map = JSON.parse(document.getElementById('endpoint-0-map').textContent);"
        " return `${map.tasks.at(-1)} · ${map.harnesses.at(-1)}`; })()"
    )
    assert await tab.run(f"{DIALOG}.querySelector('h2').textContent") == last
    await tab.press("Escape", "ArrowLeft")
    assert not (await tab.run("document.querySelector('.status').textContent")).startswith(last.split(" ")[0])


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_no_page_is_wider_than_the_window(opened: Opened, width: int, scheme: str, tmp_path: Path) -> None:
    for page in (opened.small, opened.large):
        await opened.tab.open(page, width, prefers_color_scheme=scheme)
        assert await opened.tab.run("document.documentElement.scrollWidth") <= width
    picture = tmp_path / "page.png"
    await opened.tab.picture(picture)
    assert len(picture.read_bytes()) > 20_000  # an empty page compresses to far less


async def test_naming_a_cell_moves_nothing_under_the_pointer(opened: Opened) -> None:
    await opened.tab.open(opened.small, 390)
    status = "document.querySelector('.status')"
    names = ("short", "a-task-of-many-words · a-harness-of-many-words: score 100 %")
    heights = [await opened.tab.run(f"({status}.textContent = '{name}', {status}.offsetHeight)") for name in names]
    assert heights[0] == heights[1]


async def test_a_label_has_the_width_of_a_small_window(opened: Opened) -> None:
    await opened.tab.open(opened.small, 390)
    assert await opened.tab.run("document.querySelector('table.labels tbody th').offsetWidth") > 300


async def test_no_script_fails_and_no_policy_is_broken(opened: Opened) -> None:
    for page in (opened.small, opened.large):
        await opened.tab.open(page, 1280)
    assert opened.tab.complaints == []
