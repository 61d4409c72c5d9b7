"""A compatibility matrix in plain words. All its forms use these, so that they cannot disagree."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from urllib.parse import quote

from harness_eval.report.compat_grid import ORDER, Data, Grid, Place
from harness_eval.report.wording import count, difference, foreign, one_line, points, share

SYMBOLS = {
    "compatible": "✓",
    "degraded": "▼",
    "broken": "✕",
    "unclear": "?",
    "unsupported": "⊘",
    "canonical": "=",
    "untried": "·",
}
STALE, FLAG = "stale", "⚑"
_NAME = 80  # characters of a name from outside
_LONG = 300  # of a reason or a note
_FURTHEST = 9  # times as many tasks as there are: no estimate of further ones is larger
_SCHEME = re.compile(r"\s*[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_WEB = re.compile(r"https?://", re.IGNORECASE)


def subject_title(subject: Data) -> str:
    """A model with its version and serving."""
    parts = (subject["model"], subject["version"], subject["serving"])
    return " · ".join(name(part) for part in parts if part)


def name(text: object) -> str:
    """A name from outside on one line, at most so long."""
    return foreign(text, _NAME)


def told(text: object) -> str:
    """A reason or a note on one line, at most so long."""
    return foreign(text, _LONG)


def link(address: str | None) -> str:
    """An address that leads to a page or a file and does nothing else; "" where it is none.

    What is no web address is relative, so that its colons are quoted.
    """
    web = address and _WEB.match(address)
    if not address or (_SCHEME.match(address) and not web):
        return ""
    return quote(address.encode("utf-8", "replace"), safe="/?#&=%~+,;@!$*" + (":" if web else ""))


def version_phrase(place: Place) -> str:
    """The harness's version as it was measured."""
    version = place.cell and place.cell["version"]
    return f"version {name(version)}" if version else ""


def word(place: Place) -> str:
    """What a place says, in one word."""
    return "not tried" if place.kind == "untried" else place.kind


def symbol(place: Place) -> str:
    """The same as a sign."""
    return SYMBOLS[place.kind]


def figure_phrase(place: Place) -> str:
    """The difference to canonical with its interval; of canonical itself the score, and where nothing can be compared;
    "" where that is not known either.
    """
    if place.cell is None:
        return ""
    found, rate = place.cell["difference"], place.cell["rate"]
    if found["estimate"] is not None:
        return difference(found, signed=True)
    if rate["estimate"] is None or place.kind == "unsupported":
        return ""
    return share(rate) if place.kind == "canonical" else f"score {share(rate)}"


def figure_parts(place: Place) -> list[str]:
    """The same in parts between which a line may end: the estimate, the interval."""
    estimate, bracket, limits = figure_phrase(place).partition(" [")
    return [estimate, *([bracket.strip() + limits] if bracket else [])]


def short_figure(place: Place) -> str:
    """The same in whole numbers, for a place that has room for nothing more."""
    if place.cell is None:
        return ""
    canonical = place.kind == "canonical"
    value = place.cell["rate" if canonical else "difference"]["estimate"]
    if value is None:
        return ""
    text = f"{100 * value:.0f}" if canonical else f"{100 * value:+.0f}"
    return "0" if text in ("+0", "-0") else text.replace("-", "\N{MINUS SIGN}")


def trials_phrase(cell: Data) -> str:
    """How many trials it rests on, and how many were lost."""
    lost = f" ({cell['lost']:,} lost)" if cell["lost"] else ""
    return f"{count(cell['trials'], 'trial')}{lost}"


def basis_phrase(cell: Data) -> str:
    """The same; of a combination that was not run, why."""
    return trials_phrase(cell) if cell["trials"] or not cell["reason"] else one_line(cell["reason"], _NAME)


def label_phrase(cell: Data) -> str:
    """The label that most unsolved trials have; "" without one."""
    found = cell["main_label"]
    return f"{name(found['label'])} ({found['trials']:,})" if found else ""


def detail_phrase(place: Place) -> str:
    """Why a verdict is withheld or missing, and what would decide it."""
    if place.cell is None or place.kind == "canonical":
        return ""
    reason = place.cell["reason"]
    return "; ".join(filter(None, (told(reason) if reason else "", more_phrase(place.cell))))


def more_phrase(cell: Data) -> str:
    """What would decide an unclear verdict."""
    more = cell["extra_tasks"]
    return f"{roughly(cell)} {count(more, 'more task')} would decide" if more else ""


def roughly(cell: Data) -> str:
    """How the number of further tasks is meant: no estimate goes beyond ten times those that there are."""
    return "at least" if cell["extra_tasks"] >= _FURTHEST * cell["pairs"] > 0 else "about"


def stale_phrase(cell: Data) -> str:
    """Why it does not speak of the current harness; "" where it does."""
    return f"{STALE}: {told(cell['stale'])}" if cell["stale"] else ""


def against_phrase(place: Place, grid: Grid) -> str:
    """What it is compared with, where that is not the same everywhere."""
    against = (place.cell or {}).get("against")
    several = sum(harness["canonical"] for harness in grid.harnesses) > 1
    return f"to {name(against['harness'])}" if several and against and place.kind != "canonical" else ""


def whole_phrase(place: Place) -> str:
    """All that a close place cannot show, on one line."""
    if place.cell is None:
        return word(place)
    figure, label = figure_phrase(place), label_phrase(place.cell)
    marks = [mark for mark, there in ((STALE, place.cell["stale"]), ("stands out", place.cell["flagged"])) if there]
    alone = place.cell["difference"]["estimate"] is None and place.cell["trials"]
    why = told(place.cell["reason"] or "") if place.kind == "unclear" and alone else ""
    basis = [basis_phrase(place.cell), why, label, more_phrase(place.cell)]
    parts = [f"{word(place)} {figure}".rstrip(), *basis, *marks]
    return ", ".join(part for part in parts if part)


def counts(places: Iterable[Place]) -> dict[str, int]:
    """How many places have which verdict, in the order of a reader's interest; canonical and untried ones too."""
    found = Counter(place.kind for place in places)
    return {kind: found[kind] for kind in (*ORDER, "canonical", "untried")}


def counts_phrase(places: Iterable[Place]) -> str:
    """How many of each verdict, those without any left out."""
    found = counts(places)
    return " · ".join(f"{found[kind]} {kind}" for kind in ORDER if found[kind]) or "nothing judged"


def column_detail(harness: Data) -> str:
    """Whether a harness is the canonical one, where its name does not say so, and its current version."""
    parts = ["canonical"] if harness["canonical"] and harness["name"] != "canonical" else []
    return " · ".join([*parts, *([f"version {name(harness['version'])}"] if harness["version"] else [])])


def method(data: Data) -> list[tuple[str, str]]:
    """What the signs mean and how they were found: subject and explanation."""
    good, bad = (points(data["margins"][key]) for key in ("compatible", "broken"))
    return [
        ("compatible", f"surely no more than {good} below the canonical harness: the whole interval lies above"),
        ("broken", f"surely more than {bad} below it: the whole interval lies below"),
        ("degraded", "surely below it, by how much is not yet known"),
        ("unclear", "the trials do not decide"),
        ("unsupported", "the model, as it is served, cannot be run under this harness"),
        ("canonical", "the harness that the others are compared with; its figure is the score itself"),
        ("not tried", "no run has this model under this harness"),
        ("difference", "to the canonical harness on common tasks; 95 %, for all harnesses of a model together"),
        (STALE, "measured under another version of the harness than the current one"),
        (f"{FLAG} stands out", "from noise over the whole matrix (Benjamini and Hochberg, q = 0.10); it is no verdict"),
    ]


def day(moment: str) -> str:
    """The day of a moment in ISO 8601."""
    return name(moment)[:10]


def facts(data: Data) -> str:
    """When and in how many runs it was measured, and how large a drop matters."""
    days = sorted(day(cell["measured"]) for cell in data["cells"] if cell["measured"])
    margins = [points(data["margins"][key]) for key in ("compatible", "broken")]
    parts = [count(len(data["sources"]), "run")]
    parts += [f"measured {days[0]}" + (f" to {days[-1]}" if days[-1] != days[0] else "")] if days else []
    parts += [f"margin {margins[0]}" if margins[0] == margins[1] else f"margins {margins[0]}, broken {margins[1]}"]
    return " · ".join(parts)


def cells_by_source(data: Data) -> Counter[str]:
    """How many cells rest on each run."""
    return Counter(source for cell in data["cells"] for source in set(cell["sources"]))
