"""A check as plain text for a terminal or a log: the verdict first, then what it rests on."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from harness_eval.report import check_words as words
from harness_eval.report.columns import NAME, WIDTH, cut, inert, wrapped
from harness_eval.report.wording import percent

_SHOWN = 10
_FEW = 5


def check_text(data: words.Data) -> str:
    """The content of check.json as plain text for a terminal; no line is a command of a CI system."""
    lines = [*textwrap.wrap(words.headline(data), WIDTH)]
    if words.needed(data):
        lines += wrapped("TO DECIDE", words.needed(data))
    lines += ["", *_questions(data), ""]
    for place, told in enumerate(words.decision(data)):
        lines += wrapped("" if place else "DECISION", told)
    lines += [*_flipped(data), *_labels(data)]
    lines += _list(
        "QUARANTINE", [f"{words.foreign(row['task'])}: {words.quarantined(row)}" for row in data["quarantined"]]
    )
    lines += _list("CHANGED", [words.changed(row) for row in data["changed"]])
    lines += wrapped("TRIALS", f"of the harness {words.foreign(data['harness'])}: {words.trials(data)}")
    for name, told in words.sides(data):
        lines += wrapped(name.upper(), told)
    if words.versions(data):
        lines += wrapped("VERSIONS", words.versions(data))
    lines += _list("note", words.notes(data), repeated=True)
    return "\n".join(inert(cut(line.rstrip())) for line in lines) + "\n"


def _questions(data: words.Data) -> list[str]:
    lines = []
    for row in words.rows(data):
        figures = f"{row.before:>9} → {row.after:<9} {row.change:>9} {row.limits:<16}" if row.after else ""
        seen = f" ({row.detectable} would be seen)" if row.detectable else ""
        lines.append(f"{row.name:{NAME}}{figures}{'  ' if figures else ''}{row.verdict}{seen}")
        lines += wrapped("", row.more)
    return lines


def _flipped(data: words.Data) -> list[str]:
    if not data["tasks"] and not data["flipped"]:
        return []
    rows = words.likeliest(data)
    lines = wrapped("TASKS", words.flipped_phrase(data) + (", by the chance of a drop over 20 pp:" if rows else ""))
    for row in rows[:_SHOWN]:
        moved = f"{words.solved(row, 'before'):>8} → {words.solved(row, 'after'):<8}"
        lines.append(f"  {words.foreign(row['task'], 50):<52} {moved} {percent(row['chance']):>8}")
    return lines + _more(rows, _SHOWN)


def _labels(data: words.Data) -> list[str]:
    rows = data["grown"]
    if not rows:
        return []
    lines = wrapped("LABELS", "met more often than before, and who must act:")
    for row in rows[:_SHOWN]:
        name = words.foreign(row["label"], 36)
        lines.append(f"  {name:<38} {words.foreign(row['owner'], 14):<14} {words.met(row)}")
        told = words.remedy(row["label"])
        lines += textwrap.wrap(told, WIDTH, initial_indent="    ", subsequent_indent="    ")
    return lines + _more(rows, _SHOWN)


def _list(name: str, told: Sequence[str], *, repeated: bool = False) -> list[str]:
    """The first few of a list, with its name once or before each."""
    lines: list[str] = []
    for place, text in enumerate(told[:_FEW]):
        lines += wrapped(name if repeated or not place else "", text)
    return lines + _more(told, _FEW)


def _more(rows: Sequence[object], shown: int) -> list[str]:
    return [f"{'':{NAME}}and {len(rows) - shown:,} more in check.json"] if len(rows) > shown else []
