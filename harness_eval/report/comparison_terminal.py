"""A comparison as plain text for a terminal: what moved, in some forty lines."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from harness_eval.report import comparison_details as details
from harness_eval.report import comparison_words as words
from harness_eval.report.columns import NAME, WIDTH, cut, inert, wrapped
from harness_eval.report.effect_words import level_name
from harness_eval.report.wording import UNKNOWN, count, difference, one_line, percent, points
from harness_eval.types import Json

Data = Mapping[str, Json]

_SHOWN = 4
_HARNESSES_SHOWN = 6


def comparison_text(data: Data) -> str:
    """The content of comparison.json as plain text for a terminal."""
    lines = [
        *wrapped("BEFORE", f"{words.title(data['before'])}"),
        *wrapped("AFTER", f"{words.title(data['after'])}"),
        *wrapped("COMPARED", words.compared_phrase(data)),
        "",
        *_table(words.leading(data)),
        *_table(words.secondary(data)[:1]),
        "",
        words.headline(data),
    ]
    for sentence in words.sentences(data):
        lines += textwrap.wrap(sentence, WIDTH)
    lines += ["", *_harnesses(data), *_levels(data), *_tasks(data), *_labels(data)]
    lost = data["lost"]
    lines += wrapped("LOST", f"{details.lost_phrase(lost['before'])}, then {details.lost_phrase(lost['after'])}")
    for place, row in enumerate(data["spent"]):
        lines += wrapped("" if place else "A TRIAL", details.spent_phrase(row))
    for place, told in enumerate(details.left_out(data)):
        lines += wrapped("" if place else "LEFT OUT", told)
    for note in data["notes"]:
        lines += wrapped("note", one_line(note))
    return "\n".join(inert(cut(line)) for line in lines) + "\n"


def _table(lines: Sequence[words.Line]) -> list[str]:
    return [
        f"{one.name:{NAME}}{one.before:>9} → {one.after:<9} {one.change:>9} {one.interval:<16} {_said(one)}".rstrip()
        for one in lines
    ]


def _said(line: words.Line) -> str:
    """The verdict, with what would have been seen where nothing was; of an unknown figure what it is."""
    if line.verdict == UNKNOWN:
        return line.meaning
    if line.verdict == "no difference seen" and line.detectable:
        return f"no difference seen ({line.detectable} would be)"
    return line.verdict


def _harnesses(data: Data) -> list[str]:
    lines = wrapped("HARNESSES", words.harness_counts(data))
    rows = [row for row in data["harnesses"] if row["change"]["estimate"] is not None]
    half = _HARNESSES_SHOWN // 2
    shown = rows if len(rows) <= _HARNESSES_SHOWN else [*rows[:half], *rows[-half:]]
    for row in shown:
        before, after = (percent(row[side]["estimate"]) for side in ("before", "after"))
        moved = difference(row["change"], signed=True)
        lines.append(f"  {one_line(row['harness'], 34):<36}{before:>8} → {after:<8} {moved:<26} {words.verdict(row)}")
    if len(rows) > len(shown):
        lines.append(f"  {count(len(rows) - len(shown), 'harness')} between these in the report (--out)")
    return lines


def _levels(data: Data) -> list[str]:
    lines = wrapped("LEVELS", details.levels_phrase(data))
    for row in details.moved_levels(data)[:_SHOWN]:
        effects = " → ".join(points(row[side]["estimate"], signed=True) for side in ("before", "after"))
        moved = difference(row["change"], signed=True)
        lines.append(f"  {one_line(level_name(row), 44):<46}{effects:<22} {moved:<26} Holm {details.p_phrase(row)}")
    return lines


def _tasks(data: Data) -> list[str]:
    lines = wrapped("TASKS", details.tasks_phrase(data))
    for row in details.top_tasks(data, 2):
        before, after = percent(row["before"]), percent(row["after"])
        name = one_line(row["task"], 34)
        lines.append(f"  {name:<36}{before:>8} → {after:<8} {row['up']} up, {row['down']} down of {row['cells']}")
    return lines


def _labels(data: Data) -> list[str]:
    if not data["labels"]:
        return []
    moved = [row for row in data["labels"] if row["moved"]]
    lines = wrapped("LABELS", f"{len(moved) or 'none'} of {count(len(data['labels']), 'label')} grew or shrank")
    for row in moved[:_SHOWN]:
        share = difference(row["change"], signed=True)
        told = details.label_word(row)
        lines.append(f"  {one_line(row['label'], 34):<36}{told:<7} {details.met_phrase(row):<42} {share}")
    return lines
