"""The page of a compatibility matrix in a browser: nothing is loaded, nothing is wider than the window."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness_eval.report.compat_page import page
from tests.report import compatibility
from tests.report.browser import browser

pytestmark = [pytest.mark.anyio, pytest.mark.chromium]


async def test_pages_of_any_size_fit_their_window_and_break_no_policy(tmp_path: Path) -> None:
    documents = {"small": compatibility.tiny(), "large": compatibility.large(14, 40), "foul": compatibility.hostile()}
    for name, data in documents.items():
        (tmp_path / f"{name}.html").write_text(page(data))
    async with browser(tmp_path / "profile") as tab:
        for name in documents:
            for width, scheme in ((1280, "light"), (390, "dark")):
                await tab.open(tmp_path / f"{name}.html", width, prefers_color_scheme=scheme)
                assert await tab.run("document.documentElement.scrollWidth") <= width
                shown = "[...document.querySelectorAll('.grid-view, .by-model')].map((one) => one.offsetHeight > 0)"
                assert await tab.run(shown) == [width > 700, width <= 700]
        await tab.open(tmp_path / "large.html", 1280)
        await tab.run("document.querySelector('.dense td.v-broken a').click()")
        await tab.until("document.querySelector(':target')?.offsetHeight > 0")
        assert await tab.run("performance.getEntriesByType('resource').length") == 0
        assert tab.complaints == []
