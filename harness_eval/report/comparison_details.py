"""The details of a comparison in words: levels, tasks, labels, losses, what was used, what is not compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness_eval.report.comparison_pairing import left_out_phrase
from harness_eval.report.why import significant
from harness_eval.report.wording import UNKNOWN, count, one_line, p_value
from harness_eval.types import Json

Data = Mapping[str, Json]


def moved_levels(data: Data) -> Sequence[Data]:
    """The levels whose effect surely changed."""
    return [row for row in data["levels"]["rows"] if surely(row)]


def levels_phrase(data: Data) -> str:
    """Why no level is compared, or how many moved."""
    rows = data["levels"]["rows"]
    if not rows:
        return f"not compared: {one_line(data['levels']['reason'] or UNKNOWN)}"
    moved = len(moved_levels(data))
    return f"{moved or 'none'} of {count(len(rows), 'level')} surely changed its effect"


def tasks_phrase(data: Data) -> str:
    """How many cells flipped, and in how many tasks more than chance would."""
    tasks = data["tasks"]
    beyond = flipped(data)
    cells = f"{count(tasks['up'], 'cell')} flipped to solved, {tasks['down']:,} to unsolved"
    return f"{cells}; {count(len(beyond), 'task') if beyond else 'no task'} moved beyond chance"


def flipped(data: Data) -> Sequence[Data]:
    """The tasks that surely moved."""
    return [row for row in data["tasks"]["rows"] if surely(row)]


def top_tasks(data: Data, most: int) -> Sequence[Data]:
    """The tasks that fell furthest, then those that rose furthest, so many of either."""
    rows = data["tasks"]["rows"]
    falls = [row for row in rows if row["change"]["estimate"] < 0][:most]
    rises = [row for row in rows[::-1] if row["change"]["estimate"] > 0][:most]
    return [*falls, *rises]


def surely(row: Data) -> bool:
    """Whether chance alone would rarely show so much, after all that was looked at."""
    return significant(row["p_adjusted"])


def p_phrase(row: Data) -> str:
    """An adjusted p."""
    return "" if row["p_adjusted"] is None else f"p {p_value(row['p_adjusted'])}"


def label_word(row: Data) -> str:
    """Whether a label grew or shrank."""
    if row["p_adjusted"] is None:
        return "no interval"
    if not row["moved"]:
        return "no difference seen"
    return "grew" if row["change"]["estimate"] > 0 else "shrank"


def met_phrase(row: Data) -> str:
    """In how many trials a label was met in both runs."""
    before, after = (f"{row[side]['trials']:,} of {row[side]['of']:,}" for side in ("before", "after"))
    return f"{before} trials, then {after}"


def lost_phrase(side: Data) -> str:
    """Lost trials of one run by owner."""
    if not side["lost"]:
        return f"none of {count(side['trials'], 'trial')}"
    owners = ", ".join(f"{one_line(owner)} {number:,}" for owner, number in side["owners"].items())
    return f"{side['lost']:,} of {count(side['trials'], 'trial')} ({owners})"


def amount(what: str, value: float) -> str:
    """Tokens, seconds or cost of one trial."""
    return {"tokens": f"{value:,.0f}", "seconds": f"{value:,.1f}"}.get(what, f"{value:,.4f}")


def spent_phrase(row: Data) -> str:
    """What a judged trial used in both runs, and the ratio."""
    before, after = (amount(row["what"], row[side]) for side in ("before", "after"))
    return f"{row['what']} {before}, then {after} ({ratio_phrase(row)})"


def ratio_phrase(row: Data) -> str:
    """The second over the first, with its interval."""
    found = row["ratio"]
    if found["estimate"] is None:
        return UNKNOWN
    limits = "" if found["low"] is None else f" [{found['low']:.2f}, {found['high']:.2f}]"
    return f"× {found['estimate']:.2f}{limits}"


def left_out(data: Data) -> list[str]:
    """What is not compared, each with the reason."""
    return [left_out_phrase(entry) for entry in data["left_out"]]
