"""A compatibility matrix in plain sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from harness_eval.errors import listed
from harness_eval.report.compat_grid import ORDER, Data, Grid, Place, worst_first
from harness_eval.report.compat_words import counts, name, roughly, subject_title
from harness_eval.report.wording import count, points

_MODELS_NAMED = 4
_HARNESSES_NAMED = 3


def sentences(grid: Grid, data: Data) -> list[str]:
    """The matrix in plain sentences: how many of each, what is broken where, what is stale, what is unclear."""
    return [
        _all_of_them(grid),
        _worse(grid, "broken"),
        *([_worse(grid, "degraded")] if any(place.kind == "degraded" for place in grid.places) else []),
        *_unclear(list(grid.places)),
        *_stale(list(grid.places)),
        *_scripted(data["subjects"]),
    ]


def _all_of_them(grid: Grid) -> str:
    found = counts(grid.places)
    number = sum(found[kind] for kind in ORDER)
    parts = [f"{found[kind]:,} {kind}" for kind in ORDER if kind != "compatible" and found[kind]]
    rest = f"; {', '.join(parts)}" if parts else ""
    untried = f"; {found['untried']:,} not tried" if found["untried"] else ""
    over = f"{count(len(grid.subjects), 'model')} × {count(len(grid.harnesses), 'harness')}"
    verb = "is" if 1 in (found["compatible"], number) else "are"
    return f"{over}: {found['compatible']:,} of {count(number, 'combination')} {verb} compatible{rest}{untried}."


def _worse(grid: Grid, kind: str) -> str:
    found = [(row[0].subject, [place for place in row if place.kind == kind]) for row in grid.rows if row]
    rows = sorted(((one, places) for one, places in found if places), key=lambda pair: -len(pair[1]))
    if not rows:
        return f"No model is surely {kind} under any harness."
    if len(rows) <= _MODELS_NAMED:
        parts = [f"{subject_title(one)} under {_named(places)}" for one, places in rows]
        return f"{kind.capitalize()}: {'; '.join(parts)}."
    models = [f"{subject_title(one)} under {count(len(places), 'harness')}" for one, places in rows]
    where = Counter(name(place.harness["name"]) for _, places in rows for place in places)
    harnesses = [f"{one} ({count(many, 'model')})" for one, many in where.most_common()]
    most = f"most often under {listed(harnesses, _HARNESSES_NAMED)}"
    return f"{kind.capitalize()}: {listed(models, _HARNESSES_NAMED)} models; {most}."


def _named(places: Sequence[Place]) -> str:
    """Their harnesses, the largest drop first."""
    names = []
    for place in worst_first(places):
        drop = (place.cell or {})["difference"]["estimate"]
        names.append(name(place.harness["name"]) + (f" ({points(drop, signed=True)})" if drop is not None else ""))
    return listed(names, _HARNESSES_NAMED)


def _unclear(places: Sequence[Place]) -> list[str]:
    cells = [place.cell for place in places if place.cell is not None and place.kind == "unclear"]
    if not cells:
        return []
    known = sorted((cell for cell in cells if cell["extra_tasks"]), key=lambda cell: cell["extra_tasks"])
    more = [cell["extra_tasks"] for cell in known]
    said = f"{count(len(cells), 'combination')} {'is' if len(cells) == 1 else 'are'} unclear"
    if not more:
        return [f"{said}; how many more tasks would decide cannot be told."]
    first, last = (f"{roughly(cell)} {cell['extra_tasks']:,}" for cell in (known[0], known[-1]))
    tasks = "more task" if more[0] == 1 else "more tasks"
    if more[-1] > more[0]:
        every = "all of them" if len(more) == len(cells) else f"{len(more)} of them"
        return [f"{said}; {first} {tasks} would decide the nearest, {last} {every}."]
    whom = "it" if len(cells) == 1 else "them" if len(more) == len(cells) else f"{len(more)} of them"
    return [f"{said}; {last} {tasks} would decide {whom}."]


def _stale(places: Sequence[Place]) -> list[str]:
    found = Counter(name(place.harness["name"]) for place in places if place.cell is not None and place.cell["stale"])
    if not found:
        return []
    number = sum(found.values())
    names = listed([f"{one} ({many})" for one, many in found.most_common()], _HARNESSES_NAMED)
    verb = "is" if number == 1 else "are"
    speaks = f"{'does' if number == 1 else 'do'} not speak of the current harness"
    return [f"{count(number, 'combination')} {verb} stale, that is, {speaks}: {names}."]


def _scripted(subjects: Sequence[Data]) -> list[str]:
    number = sum(one["scripted"] for one in subjects)
    if not number:
        return []
    which = "All rows are" if number == len(subjects) else f"{count(number, 'row')} {'is' if number == 1 else 'are'}"
    return [f"{which} of a scripted agent, not of a language model."]
