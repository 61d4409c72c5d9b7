"""Runs and earlier documents as one matrix."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path

from harness_eval import __version__
from harness_eval.compat.document import Cell, Column, Margins, Matrix, Source, Subject
from harness_eval.compat.judging import judged, judged_again, left_out
from harness_eval.compat.links import Links
from harness_eval.compat.subjects import digest_of
from harness_eval.compat.targets import Part, Targets, targets
from harness_eval.compat.versions import Current, Measured, current
from harness_eval.errors import ConfigError, listed
from harness_eval.report.wording import count, one_line

_LENGTH = 200
_NAMED = 6
_USUAL = Margins()


@dataclass(frozen=True, slots=True)
class Asked:
    """How a matrix is wanted.

    `out` is the folder that links lead from, `links` what stands before a run's folder instead; `models` and
    `harnesses` are patterns of what is taken from the targets; `earlier` is a document whose cells stay, after its
    folder.
    """

    margins: Margins = _USUAL
    lock: Path | None = None
    out: Path = Path()
    links: str | None = None
    models: str = "*"
    harnesses: str = "*"
    earlier: tuple[Path, Matrix] | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    """A cell that may stand in the matrix, with its row. `anew` says that it was judged now, from trials."""

    cell: Cell
    subject: Subject
    anew: bool

    @property
    def harness(self) -> Measured:
        """The harness as it was measured."""
        return Measured(self.cell.harness, self.cell.version, self.cell.id, self.cell.wire)

    @property
    def canonical(self) -> Measured | None:
        """What it is compared with, as it was measured."""
        against = self.cell.against
        return Measured(against.harness, against.version, against.id, against.wire) if against else None


def collect(given: Iterable[str], asked: Asked = Asked()) -> Matrix:
    """The matrix of runs (RUN or RUN:ENDPOINT) and documents; it does not depend on their order.

    Raises:
        ConfigError: a target cannot be read, or there is no cell.
    """
    known = targets(given)
    links = Links(asked.out, asked.links)
    parts = [part for part in known.parts if fnmatchcase(part.subject.model, asked.models)]
    kept, sources, columns = _documents(known, asked, links)
    now = current([*columns, *_seen(parts, kept)], asked.lock)
    found = [*_anew(parts, now, asked, links), *kept]
    if not found:
        raise ConfigError(_nothing(known, asked))
    places: dict[tuple[str, str], list[_Found]] = defaultdict(list)
    for one in found:
        places[one.cell.subject, one.cell.harness].append(one)
    shown = [_shown(same, now) for same in places.values()]
    anew = {source for one in shown if one.anew for source in one.cell.sources}
    sources |= {part.source: _source(part, parts, links) for part in parts if part.source in anew}
    return _matrix(shown, sources, now, asked, known.notes)


def moved(made: Matrix, folder: Path, out: Path) -> Matrix:
    """The same matrix with links that lead from another folder."""
    links = Links(out)
    cells = [cell.model_copy(update={"evidence": links.moved(cell.evidence, folder)}) for cell in made.cells]
    sources = [each.model_copy(update={"report": links.moved(each.report, folder)}) for each in made.sources]
    return made.model_copy(update={"cells": tuple(cells), "sources": tuple(sources)})


def _nothing(known: Targets, asked: Asked) -> str:
    if known.parts and not any(part.tried for part in known.parts):
        runs = sorted({str(part.side.folder) for part in known.parts})
        return f"no cell: there is no trial in {listed(runs, _NAMED)}"
    if known.parts or known.documents:
        models = sorted({part.subject.model for part in known.parts})
        told = f"; models: {listed(models, _NAMED)}" if models and asked.models != "*" else ""
        return f"no cell: nothing that was given fits --model {asked.models} --harness {asked.harnesses}{told}"
    return "nothing to collect: name folders of runs, or earlier documents (compatibility.json)"


def _documents(
    known: Targets, asked: Asked, links: Links
) -> tuple[list[_Found], dict[str, Source], list[tuple[str, Measured]]]:
    """The cells of earlier documents by the margins and from the place asked for now, with their runs and columns."""
    found, sources, columns = [], {}, []
    given = [(folder, made, asked.models, asked.harnesses) for folder, made in known.documents]
    if asked.earlier is not None:
        given.append((*asked.earlier, "*", "*"))
    for folder, made, models, harnesses in given:
        rows = {subject.id: subject for subject in made.subjects if fnmatchcase(subject.model, models)}
        columns += [(each.measured, _column(each)) for each in made.harnesses if each.measured]
        for source in sorted(made.sources, key=lambda each: each.id):
            sources[source.id] = source.model_copy(update={"report": links.moved(source.report, folder)})
        for cell in made.cells:
            if cell.subject in rows and fnmatchcase(cell.harness, harnesses):
                again = cell if made.margins == asked.margins else judged_again(cell, asked.margins)
                moved = again.model_copy(update={"evidence": links.moved(cell.evidence, folder)})
                found.append(_Found(moved, rows[cell.subject], anew=False))
    return found, sources, columns


def _column(one: Column) -> Measured:
    return Measured(one.name, one.version, one.id, one.wire)


def _seen(parts: Iterable[Part], kept: Iterable[_Found]) -> Iterator[tuple[str, Measured]]:
    """Every harness that was measured anywhere, with when."""
    for part in parts:
        run = {outcome.harness for outcome in part.side.outcomes}
        yield from (
            (part.created, one) for name, one in part.harnesses.items() if name in run | part.side.refused.keys()
        )
    for found in kept:
        yield found.cell.measured or "", found.harness


def _anew(parts: Iterable[Part], now: Current, asked: Asked, links: Links) -> Iterator[_Found]:
    rows: dict[str, list[Part]] = defaultdict(list)
    for part in parts:
        rows[part.subject.id].append(part)
    for same in rows.values():
        scripted = any(part.subject.scripted for part in same)
        subject = same[0].subject.model_copy(update={"scripted": scripted})
        for cell in judged(subject, same, now, asked.margins):
            if fnmatchcase(cell.harness, asked.harnesses):
                behind = [part for part in same if part.source in cell.sources]
                linked = cell.model_copy(update={"evidence": links.evidence(behind, cell.harness)})
                yield _Found(linked, subject, anew=True)


def _shown(same: Sequence[_Found], now: Current) -> _Found:
    """The one that the matrix shows of cells of one model and harness, with why it is stale and what it leaves out."""
    best = max((one for one in same if not _part_of_another(one, same)), key=lambda one: _rank(one, now))
    stale = now.stale(best.harness)
    if stale is None and best.canonical is not None and (why := now.stale(best.canonical)):
        stale = f"its canonical harness: {why}"
    notes = set(best.cell.notes)
    runs = set(best.cell.sources)
    for other in same:
        if other.harness != best.harness:
            notes.add(left_out(other.harness, other.cell.trials, other.cell.measured))
        elif other.cell.sources == best.cell.sources:
            notes.update(other.cell.notes)
        elif not runs.issuperset(other.cell.sources):
            notes.add(f"Left out: {count(other.cell.trials, 'trial')} of an earlier document, of runs not given now.")
    return replace(best, cell=best.cell.model_copy(update={"stale": stale, "notes": tuple(sorted(notes))}))


def _part_of_another(one: _Found, same: Iterable[_Found]) -> bool:
    """Whether a cell of the same version rests on all that this one rests on, and on more runs or longer states."""
    return any(other.harness == one.harness and _rests_on_less(one.cell, other.cell) for other in same)


def _rests_on_less(one: Cell, other: Cell) -> bool:
    runs, others = set(one.sources), set(other.sources)
    if not runs <= others:
        return False
    if not (one.source_trials and other.source_trials):
        return runs < others
    had = dict(zip(one.sources, one.source_trials, strict=True))
    has = dict(zip(other.sources, other.source_trials, strict=True))
    return had != has and all(has[run] >= number for run, number in had.items())


def _rank(one: _Found, now: Current) -> tuple[object, ...]:
    """The current version first, else the newest; then what was judged now."""
    exact, fresh = one.harness == now.by_name[one.cell.harness], now.stale(one.harness) is None
    against = one.canonical is not None and now.stale(one.canonical) is None
    measured = one.cell.measured or ""
    last = digest_of(one.cell.model_dump(mode="json"))
    return exact, fresh, against, "" if fresh else measured, one.anew, measured, one.cell.trials, last


def _source(part: Part, parts: Iterable[Part], links: Links) -> Source:
    imported = part.study.get("imported")
    notes = [note for each in parts if each.source == part.source for note in each.notes]
    return Source(
        id=part.source,
        name=part.name,
        created=part.created or None,
        imported=one_line(imported.get("kind") or "elsewhere", _LENGTH) if isinstance(imported, Mapping) else None,
        report=links.report(part),
        notes=tuple(dict.fromkeys(notes)),
    )


def _matrix(
    shown: Sequence[_Found], sources: Mapping[str, Source], now: Current, asked: Asked, notes: Sequence[str]
) -> Matrix:
    subjects = sorted({one.subject.id: one.subject for one in shown}.values(), key=_row_order)
    columns = _columns(shown, now)
    row = {subject.id: place for place, subject in enumerate(subjects)}
    column = {each.name: place for place, each in enumerate(columns)}
    cells = sorted((one.cell for one in shown), key=lambda cell: (row[cell.subject], column[cell.harness]))
    cells = _flagged(cells)
    used = sorted({source for cell in cells for source in cell.sources} & sources.keys())
    behind = sorted((sources[name] for name in used), key=lambda each: (each.created or "", each.name, each.id))
    told = [*notes, *(note for source in behind for note in source.notes)]
    told += _told_of(cells, subjects)
    return Matrix(
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        made_by=f"harness-eval {__version__}",
        margins=asked.margins,
        subjects=tuple(subjects),
        harnesses=tuple(columns),
        cells=tuple(cells),
        sources=tuple(behind),
        notes=tuple(dict.fromkeys(told)),
    )


def _told_of(cells: Iterable[Cell], subjects: Iterable[Subject]) -> Iterator[str]:
    """What cells note, each time with the models and harnesses that share it."""
    models = {subject.id: subject.model for subject in subjects}
    shared: dict[tuple[str, str], list[str]] = defaultdict(list)
    for cell in cells:
        for note in cell.notes:
            shared[note, models[cell.subject]].append(one_line(cell.harness, _LENGTH))
    for (note, model), harnesses in shared.items():
        yield f"{model} under {listed(list(dict.fromkeys(harnesses)), _NAMED)}: {note}"


def _row_order(subject: Subject) -> tuple[str, ...]:
    return subject.model, subject.version or "", subject.serving or "", subject.id


def _columns(shown: Sequence[_Found], now: Current) -> list[Column]:
    """The harnesses in their current version: canonical ones first, the others by name."""
    names = {one.cell.harness for one in shown}
    canonical = {one.canonical.name for one in shown if one.canonical is not None}
    found = [now.by_name[name] for name in sorted(names, key=lambda name: (name not in canonical, name))]
    columns = []
    for one in found:
        last = max((each.cell.measured or "" for each in shown if each.harness == one), default="")
        when = now.measured.get(one.name, "")
        column = Column(name=one.name, version=one.version, id=one.id, wire=one.wire, canonical=one.name in canonical)
        columns.append(column.model_copy(update={"measured": when if when > last else None}))
    return columns


def _flagged(cells: Sequence[Cell]) -> list[Cell]:
    from harness_eval.stats.verdicts import stand_out  # lazy: slow import

    flags = stand_out([cell.p for cell in cells])
    return [cell.model_copy(update={"flagged": flag}) for cell, flag in zip(cells, flags, strict=True)]
