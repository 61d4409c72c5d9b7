"""Two trials of one task aligned: where they do the same, where they are shown something else, where they part.

Steps are compared by what they do (see `trajectory_deeds`), so that other names of tools, other protocols and other
ways to edit a file are no difference. Keeping a plan and handing in twice are what a harness asks for besides the task:
they stand in the table and are no divergence. The alignment is the best one by dynamic programming: steps that do the
same are worth most, and two that differ stand in one row rather than in two.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from harness_eval.report.trajectory_deeds import Deed, alike
from harness_eval.report.trajectory_text import Result
from harness_eval.report.trajectory_told import Call, Trial, Turn
from harness_eval.report.wording import count, one_line
from harness_eval.types import Note

State = Literal["same", "beside", "shown", "done"]

_MOST_STEPS = 400  # of either trial; beyond them the steps stand beside each other by number
_SAME, _ALIKE, _OTHER, _ALONE = 4.0, 3.0, 0.0, -0.25
_NUMBERED = re.compile(r"^ *\d+(?:\t|: )", re.MULTILINE)
_CHANCE = re.compile(r"/tmp/[\w./-]+|\b0x[0-9a-f]+\b|\b\d+(?:\.\d+)? ?m?s\b|\b\d\d:\d\d(?::\d\d(?:\.\d+)?)?\b")  # noqa: S108
_FINISH, _SAY = (Deed("finish"),), (Deed("say"),)
_CHANGING = frozenset({"write", "edit", "delete"})


@dataclass(frozen=True, slots=True)
class Pairing:
    """One row: what stands left and right, and how they compare.

    `same` in deed and result; `beside` the task on one side only; `shown`: the same deed, another result; `done`:
    something else is done, or only one side goes on. `why` says so in words.
    """

    left: Turn | None
    right: Turn | None
    state: State
    why: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """All rows, and the places of the first that differs and of the first that does something else (None: none)."""

    left: Trial
    right: Trial
    names: tuple[str, str]
    rows: tuple[Pairing, ...]
    first: int | None
    parted: int | None

    @property
    def headline(self) -> str:
        """Where the two differ first and where they part, in a sentence or two."""
        if self.first is None:
            steps = sum(row.state == "same" for row in self.rows)
            return f"They do the same and are shown the same, in all {count(steps, 'step')}." if steps else ""
        told = [self._told(self.first)]
        if self.parted not in (None, self.first):
            told.append(self._told(self.parted))
        return " ".join(told)

    def _told(self, place: int) -> str:
        row = self.rows[place]
        begin = "They are shown something else" if row.state == "shown" else "They go different ways"
        return f"{begin} at {self._where(row)}: {row.why}."

    def _where(self, row: Pairing) -> str:
        left, right = (turn.number if turn else None for turn in (row.left, row.right))
        if left == right or right is None:
            return f"step {left}" if left == right else f"step {left} of {self.names[0]}"
        of_right = f"step {right} of {self.names[1]}"
        return of_right if left is None else f"step {left} of {self.names[0]}, {of_right}"


@dataclass(frozen=True, slots=True)
class _Work:
    """A step with those of its deeds that are about the task."""

    turn: Turn
    deeds: tuple[Deed, ...]


def align(left: Trial, right: Trial) -> Pair:
    """Two trials step by step beside each other."""
    ours, theirs, names = _work(left), _work(right), _names(left, right)
    ahead = deque(left.turns), deque(right.turns)
    rows: list[Pairing] = []
    for i, j in _path([work.deeds for work in ours], [work.deeds for work in theirs]):
        pair = None if i is None else ours[i], None if j is None else theirs[j]
        for side, work in enumerate(pair):
            if work is not None:
                rows += _beside(ahead[side], work.turn, side)
                ahead[side].popleft()
        rows.append(_compared(*pair, names))
    rows += [row for side in (0, 1) for row in _beside(ahead[side], None, side)]
    first = next((n for n, row in enumerate(rows) if row.state in {"shown", "done"}), None)
    parted = next((n for n, row in enumerate(rows) if row.state == "done"), None)
    return Pair(left, right, names, tuple(rows), first, parted)


def _names(left: Trial, right: Trial) -> tuple[str, str]:
    """What tells the two apart in a sentence: the harnesses, else the endpoints, else the repeats."""
    for part in ("harness", "endpoint", "repeat"):
        one, other = (one_line(trial.row[part], 40) for trial in (left, right))
        if one != other:
            return (f"repeat {one}", f"repeat {other}") if part == "repeat" else (one, other)
    return "the left one", "the right one"


def _beside(ahead: deque[Turn], until: Turn | None, side: int) -> Iterator[Pairing]:
    """The turns that come before this one, taken from those that are ahead: rows of their own on one side."""
    while ahead and ahead[0] is not until:
        turn = ahead.popleft()
        yield Pairing(turn, None, "beside") if side == 0 else Pairing(None, turn, "beside")


def _work(trial: Trial) -> list[_Work]:
    """The steps that are about the task, each with its deeds; a plan in words and a second handing in are not."""
    found: list[_Work] = []
    steps = [turn for turn in trial.turns if turn.step is not None]
    for turn in steps:
        deeds = _deeds(turn, last=turn is steps[-1])
        planned = deeds == _SAY and any(isinstance(a.event, Note) and a.event.kind == "plan" for a in turn.before)
        again = deeds == _FINISH and bool(found) and found[-1].deeds == _FINISH
        if deeds and not planned and not again:
            found.append(_Work(turn, deeds))
    return found


def _deeds(turn: Turn, last: bool) -> tuple[Deed, ...]:
    """What a step does for the task; one that calls nothing says something, and finishes where it is the last."""
    deeds = tuple(deed for call in turn.calls for deed in call.deeds)
    silent = _FINISH if last else _SAY
    return tuple(deed for deed in deeds if not deed.beside_the_work) if deeds else silent


def _path(ours: Sequence[tuple[Deed, ...]], theirs: Sequence[tuple[Deed, ...]]) -> list[tuple[int | None, int | None]]:
    """Which places stand in one row, in order."""
    if max(len(ours), len(theirs)) > _MOST_STEPS:
        most = max(len(ours), len(theirs))
        return [(n if n < len(ours) else None, n if n < len(theirs) else None) for n in range(most)]
    best = _scores(ours, theirs)
    path: list[tuple[int | None, int | None]] = []
    i = j = 0
    while i < len(ours) and j < len(theirs):
        if best[i][j] == _worth(ours[i], theirs[j]) + best[i + 1][j + 1]:
            path.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == _ALONE + best[i + 1][j]:
            path.append((i, None))
            i += 1
        else:
            path.append((None, j))
            j += 1
    return path + [(n, None) for n in range(i, len(ours))] + [(None, n) for n in range(j, len(theirs))]


def _scores(ours: Sequence[tuple[Deed, ...]], theirs: Sequence[tuple[Deed, ...]]) -> list[list[float]]:
    """The best that can be made of what is left from each pair of places on (Needleman and Wunsch, 1970)."""
    best = [[_ALONE * (len(theirs) - j) for j in range(len(theirs) + 1)]]
    for i in reversed(range(len(ours))):
        row, below = [0.0] * len(theirs) + [_ALONE * (len(ours) - i)], best[0]
        for j in reversed(range(len(theirs))):
            row[j] = max(_worth(ours[i], theirs[j]) + below[j + 1], _ALONE + below[j], _ALONE + row[j + 1])
        best.insert(0, row)
    return best


def _worth(one: tuple[Deed, ...], other: tuple[Deed, ...]) -> float:
    if one == other:
        return _OTHER if one == _FINISH else _SAME  # so that an early end stands beside what it left undone
    return _ALIKE if _alike(one, other) else _OTHER


def _alike(one: tuple[Deed, ...], other: tuple[Deed, ...]) -> bool:
    return len(one) == len(other) and all(map(alike, one, other))


def _compared(one: _Work | None, other: _Work | None, names: tuple[str, str]) -> Pairing:
    if one is None or other is None:
        name, missing, work = (names[0], names[1], one) if one else (names[1], names[0], other)
        why = f"{name} {_doing(work.deeds)}, {missing} has no such step" if work else ""
        return Pairing(one.turn if one else None, other.turn if other else None, "done", why)
    if not _alike(one.deeds, other.deeds):
        ours, theirs = _doing(one.deeds), _doing(other.deeds)
        theirs += " in another way" if ours == theirs else ""
        return Pairing(one.turn, other.turn, "done", f"{names[0]} {ours}, {names[1]} {theirs}")
    calls = (_of_the_work(work.turn) for work in (one, other))
    differs = next((why for a, b in zip(*calls, strict=False) if (why := _differently_shown(a, b, names))), "")
    why = f"both {one.deeds[0].words(both=True)}; {differs}" if differs else ""
    return Pairing(one.turn, other.turn, "shown" if differs else "same", why)


def _doing(deeds: tuple[Deed, ...]) -> str:
    more = f" and {len(deeds) - 1} more" if len(deeds) > 1 else ""
    return deeds[0].words() + more


def _of_the_work(turn: Turn) -> list[Call]:
    return [c for c in turn.calls if c.deeds and not any(d.beside_the_work or d.kind == "finish" for d in c.deeds)]


def _differently_shown(one: Call, other: Call, names: tuple[str, str]) -> str:
    """How the result of the same deed differs, as far as it matters to what comes next; "" where it does not."""
    ours, theirs = one.result, other.result
    if not ours or not theirs or not one.observation or not other.observation:
        return "" if ours is theirs else f"{names[0] if theirs else names[1]} has no result"
    if one.observation.failed != other.observation.failed:
        failing, working = names if one.observation.failed else names[::-1]
        return f"it fails for {failing} and not for {working}"
    if one.deeds[0].kind in _CHANGING and not one.observation.failed:
        return ""
    if _plain(one.observation.shown) == _plain(other.observation.shown):
        return ""
    if ours.gap or theirs.gap:
        return f"{names[0]} is shown {_extent(ours)}, {names[1]} {_extent(theirs)}"
    return "the results differ"


def _extent(shown: Result) -> str:
    return f"{shown.gap.shown:,} of {shown.gap.length:,} characters" if shown.gap else "all of it"


def _plain(text: str) -> str:
    """A result without numbers of lines and without what chance makes of it."""
    return _CHANCE.sub("~", _NUMBERED.sub("", text)).strip()
