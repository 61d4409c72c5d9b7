"""Whole HTML pages around trials: the list of a run, one trial, two side by side, and what went wrong.

No page has a script. Filters and pages of the list are links and a form, so that 100,000 trials are as quick as ten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from urllib.parse import urlencode

from harness_eval import store
from harness_eval.bundled import folder as bundled_folder
from harness_eval.report.trajectory import environment, pair_html, trial_html
from harness_eval.report.trajectory_index import ORDERS, OUTCOMES, Entry, Index, Order, Wanted, ordered, select
from harness_eval.report.trajectory_told import study_of
from harness_eval.types import Json

PAGE = 100  # trials of one page of the list
_CHOICES = 1_000  # names in one list of choices
REPORT = "report.html"


def style() -> str:
    """The styles of all pages as one text."""
    return "\n".join(
        (bundled_folder("templates") / name).read_text() for name in ("report.css", "trial.css", "view.css")
    )


@dataclass(frozen=True, slots=True)
class Query:
    """What of the list is wanted, in which order, and which page of it (from 1)."""

    wanted: Wanted
    order: Order = "harness"
    down: bool = False
    page: int = 1

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Query:
        """The query of an address; what it cannot mean is left out."""
        outcome = given.get("outcome", "")
        texts = {name: given.get(name, "")[:200].strip() for name in ("task", "harness", "endpoint", "label")}
        wanted = Wanted(**texts, outcome=outcome if outcome in OUTCOMES else "")
        order: Order = next((each for each in ORDERS if each == given.get("order")), "harness")
        page = given.get("page", "")
        number = int(page) if page.isascii() and page.isdigit() and len(page) < 9 else 1
        return cls(wanted, order, given.get("down") == "1", max(1, number))

    def address(self, **changes: Json) -> str:
        """The address of this query with some of its parts changed."""
        new = replace(self, **changes)
        names = ("task", "harness", "endpoint", "outcome", "label")
        parts = {name: getattr(new.wanted, name) for name in names if getattr(new.wanted, name)}
        parts |= {"order": new.order} if new.order != "harness" else {}
        parts |= {"down": "1"} if new.down else {}
        parts |= {"page": str(new.page)} if new.page > 1 else {}
        return f"/?{urlencode(parts, errors='replace')}" if parts else "/"


@dataclass
class Pages:
    """The pages of one run. `alone` makes pages that need no server: the styles within, no links to others."""

    folder: Path
    alone: bool = False

    @cached_property
    def index(self) -> Index:
        """The trials of the run."""
        return Index(self.folder)

    @property
    def _study(self) -> Mapping[str, Json]:
        return study_of(self.folder)[0]

    def listed(self, query: Query) -> str:
        """The list of trials."""
        self.index.refresh()
        entries = list(self.index.entries.values())
        found = ordered(select(entries, query.wanted), query.order, down=query.down)
        pages = max(1, -(-len(found) // PAGE))
        query = replace(query, page=min(query.page, pages))
        values = {
            "entries": found[(query.page - 1) * PAGE : query.page * PAGE],
            "found": len(found),
            "all": len(entries),
            "planned": self._study.get("planned"),
            "pages": pages,
            "query": query,
            "totals": Counter(entry.outcome for entry in found),
            "names": {part: _names(entries, part) for part in ("task", "harness", "endpoint")},
            "labels": [name for name, _ in Counter(each for e in entries for each in e.labels).most_common(_CHOICES)],
            "report": (self.folder / REPORT).is_file(),
            "orders": ORDERS,
        }
        return self._page("view_index.html.j2", "trials", values)

    def trial(self, name: str) -> str | None:
        """The page of a trial; None where there is none of that name."""
        entry, row = self._found(name)
        if entry is None or row is None:
            return None
        partners = self.index.partners(entry)[:_CHOICES]
        canonical = self.index.beside(entry, self._study.get("canonical"))
        values = {"entry": entry, "body": trial_html(self.folder, row), "partners": partners, "canonical": canonical}
        return self._page("view_trial.html.j2", f"{entry.task} under {entry.harness}", values)

    def pair(self, left: str, right: str) -> str | None:
        """The page of two trials side by side; None where one of them is not there."""
        (one, ours), (other, theirs) = self._found(left), self._found(right)
        if one is None or other is None or ours is None or theirs is None:
            return None
        body, partners = pair_html(self.folder, ours, theirs), [one, *self.index.partners(one)][:_CHOICES]
        values = {"left": one, "right": other, "body": body, "partners": partners}
        return self._page("view_pair.html.j2", f"{one.task}: {one.harness} and {other.harness}", values)

    def problem(self, title: str, text: str) -> str:
        """A page that says what is wrong."""
        return self._page("view_problem.html.j2", title, {"text": text})

    def _found(self, name: str) -> tuple[Entry | None, store.Row | None]:
        if name not in self.index.entries:
            self.index.refresh()
        return self.index.entries.get(name), self.index.row(name)

    def _page(self, template: str, title: str, values: Mapping[str, Json]) -> str:
        common = {
            "title": title,
            "run": self._study.get("name") or self.folder.name,
            "alone": self.alone,
            "style": style() if self.alone else "",
            "address": lambda path, **parts: f"{path}?{urlencode(parts, errors='replace')}",
        }
        return environment().get_template(template).render({**common, **values})


def _names(entries: list[Entry], part: str) -> list[str]:
    return sorted({getattr(entry, part) for entry in entries})[:_CHOICES]
