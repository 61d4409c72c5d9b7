"""A trial, or two of one task side by side, as an HTML fragment: no script, no style, everything escaped.

Its styles are `trial.css`, which a page includes once, beside the colours that `report.css` names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from harness_eval import recording
from harness_eval.report import wording
from harness_eval.report.follows import follows_phrase
from harness_eval.report.templating import as_html
from harness_eval.report.trajectory_pair import Pair, Pairing, align
from harness_eval.report.trajectory_sent import Sent
from harness_eval.report.trajectory_text import clean, excerpt, spans, steps, visible
from harness_eval.report.trajectory_told import Trial, Turn, known, read_trial
from harness_eval.store import Row
from harness_eval.types import Json, Malformed, Note

if TYPE_CHECKING:
    from jinja2 import Environment

LARGEST = 200_000  # characters of a fragment, as far as shortening its texts can bring it there
_SHORT = 240  # characters of a value that stands on one line
_BEFORE_FIRST = 8  # rows that are kept before the first difference where rows must be left out


@dataclass(frozen=True, slots=True)
class _Size:
    """What a page may hold: characters of one text, turns or rows, calls of one turn, arguments of one call."""

    text: int
    turns: int
    calls: int
    arguments: int


_SIZES = (
    _Size(6000, 150, 30, 30),
    _Size(2000, 150, 20, 20),
    _Size(800, 100, 10, 10),
    _Size(300, 60, 6, 6),
    _Size(80, 24, 3, 3),
)


def trial_html(folder: Path, row: Row) -> str:
    """One trial of a run step by step, as `<article class="trial">`; what is damaged is said in it."""
    trial = read_trial(folder, row)

    def render(size: _Size) -> str:
        kept, left_out = _kept(trial.turns, size.turns)
        return _render("trial.html.j2", size, {"trial": trial, "turns": kept, "left_out": left_out})

    return _fitting(render)


def pair_html(folder: Path, left: Row, right: Row) -> str:
    """Two trials of one task beside each other, as `<article class="trial t-pair">`; the first row in which they
    differ has the id `divergence`."""
    pair = align(read_trial(folder, left), read_trial(folder, right))

    def render(size: _Size) -> str:
        start = max(0, (pair.first or 0) - _BEFORE_FIRST) if len(pair.rows) > size.turns else 0
        rows = list(enumerate(pair.rows))[start : start + size.turns]
        values = {"pair": pair, "groups": _groups(rows), "before": start, "levels": _levels(pair)}
        return _render("trial_pair.html.j2", size, values | {"after": len(pair.rows) - start - len(rows)})

    return _fitting(render)


def _fitting(render: partial[str] | Json) -> str:
    """The fullest form that is not too large; the smallest where none is."""
    html = ""
    for size in _SIZES:
        html = render(size)
        if len(html) <= LARGEST:
            break
    return str(html)


def _kept(turns: Sequence[Turn], most: int) -> tuple[list[Turn | None], str]:
    """The turns from either end, with None where some are left out, and which those are."""
    if len(turns) <= most:
        return list(turns), ""
    head, tail = most - most // 3, most // 3
    missing = [turn.number for turn in turns[head : len(turns) - tail]]
    return [*turns[:head], None, *turns[len(turns) - tail :]], spans(missing)


def _groups(rows: Sequence[tuple[int, Pairing]]) -> list[tuple[bool, list[tuple[int, Pairing]]]]:
    """The rows, runs of those that differ in nothing together: these are folded."""
    folded = groupby(rows, key=lambda row: row[1].state in {"same", "beside"})
    return [(common, list(each)) for common, each in folded]


def _levels(pair: Pair) -> list[tuple[str, str, str]]:
    """The axes on which the two harnesses differ, with the level of each; of some, that they follow from others."""
    left, right = ({axis: level for axis, level, _ in trial.levels} for trial in (pair.left, pair.right))
    usual = {axis: level for trial in (pair.left, pair.right) for axis, _, level in trial.levels}
    sides = [(axis, left.get(axis, usual[axis]), right.get(axis, usual[axis])) for axis in usual]
    follows = {**pair.left.follows, **pair.right.follows}
    said = {axis: f"{axis} ({follows_phrase(deciding)})" for axis, deciding in follows.items()}
    return [(said.get(axis, axis), one, other) for axis, one, other in sides if one != other]


def _render(name: str, size: _Size, values: Mapping[str, Json]) -> str:
    cut = partial(_cut, size.text)
    return environment().get_template(name).render(values, size=size, cut=cut)


def _cut(most: int, text: Json, share: float = 1.0) -> Json:
    return excerpt(text if isinstance(text, str) else _json(text), max(40, int(most * share)))


def _json(value: Json) -> str:
    """A value on one line where it is short, else indented."""
    short = recording.dump(value).decode()
    return short if len(short) <= _SHORT else recording.dump(value, pretty=True).decode()


@cache
def environment() -> Environment:
    """The templates of trials and of the pages around them: what is not markup of ours is escaped and made visible."""
    environment = as_html(clean)
    environment.globals |= {
        "one_line": lambda text, most=200: wording.one_line(visible(str(text)[: 4 * most]), most),
        "count": wording.count,
        "labels": lambda names: list(known(names)),
        "follows_phrase": follows_phrase,
        "is_note": lambda event: isinstance(event, Note),
        "is_malformed": lambda call: isinstance(call, Malformed),
        "checked": checked,
        "spent": spent,
        "outcome": outcome,
        "steps": steps,
    }
    return environment


def outcome(row: Row) -> tuple[str, str]:
    """How a trial counts, as one of solved, unsolved and lost, and in words."""
    failure, score = row.get("failure"), row.get("score")
    if failure is not None or score is None:
        return "lost", f"lost to the {(failure or {}).get('owner', 'harness')}"
    if row.get("solved"):
        return "solved", "solved"
    return "unsolved", "not solved" if not score else f"solved in part, score {score:.2f}"


def spent(row: Row) -> list[tuple[str, str]]:
    """What a trial used, each with its name."""
    usage, cost = row.get("usage") or {}, row.get("cost")
    inner = [f"{usage[part]:,} {part}" for part in ("prompt", "completion", "reasoning", "cached") if usage.get(part)]
    tokens = (usage.get("prompt") or 0) + (usage.get("completion") or 0)
    told = [("steps", f"{row.get('steps') or 0:,}"), ("tokens", f"{tokens:,}")]
    told += [("of these", ", ".join(inner))] if inner else []
    told += [("seconds", f"{row.get('seconds') or 0:,.1f}")]
    told += [("cost", f"${cost:,.4f}")] if cost is not None else []
    return told + ([("attempt", str(row["attempt"]))] if (row.get("attempt") or 1) > 1 else [])


def checked(trial: Trial) -> str:
    """What became of deriving the requests again: a view of a record is only worth what its hashes say."""
    asides = [aside.sent for turn in trial.turns for aside in turn.before if not isinstance(aside.event, Note)]
    sent = [each for each in (*asides, *(turn.sent for turn in trial.turns if turn.step)) if each is not None]
    if not sent:
        return ""
    derived = [each for each in sent if isinstance(each, Sent)]
    if trial.wire is not None:
        told = f"{wording.count(len(derived), 'request')} taken from the wire log"
        return told + (f"; of {len(sent) - len(derived):,} nothing is known" if len(sent) > len(derived) else "")
    other = sum(each.as_recorded is False for each in derived)
    told = f"{wording.count(len(derived), 'request')} derived again from the record"
    told += f"; {other:,} of them not as they were recorded" if other else ", each as it was recorded"
    underived = len(sent) - len(derived)
    return told + (f"; {underived:,} could not be derived" if underived else "")
