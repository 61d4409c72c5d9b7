"""The trace of the worst drop in words; every form of a report says it with these."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from harness_eval.report.columns import WIDTH, cut, wrapped
from harness_eval.report.effect_words import effect_figures, level_name, standing_out
from harness_eval.report.wording import count, difference, one_line, p_value, points, share
from harness_eval.types import Json

Section = Mapping[str, Json]

FRESH = (
    "All of these harnesses ran on fresh repeats, both ends too: the worst was chosen on the run's own trials, which "
    "would overstate its drop."
)
MEANING = (
    "What each change costs, as its Shapley value: the mean of what it does alone to the canonical harness and of what "
    "undoing it alone gives back to the worst one. The interaction is how much more it does beside all others than "
    "alone. The values sum to the drop unless three changes or more interact."
)
LEFT_OVER = "three or more together"
_NAMED = 3  # changes that the one line names


def offer(section: Section, run: str = "RUN") -> str | None:
    """How to have the drop traced, and what that takes; None where it was, or where nothing can be.

    `run` is the run's folder as a command line names it.
    """
    found = section["trace_offer"]
    if section["trace"] or not found:
        return None
    number = found["changes"]
    changes = "the one change" if number == 1 else f"each of {count(number, 'change')}"
    return (
        f"not traced: harness-eval trace {run} says what {changes} of "
        f"{one_line(found['harness'], 40)} costs, with {count(found['harnesses'], 'harness')} "
        f"({count(found['trials'], 'fresh trial')})"
    )


def unfinished(trace: Section) -> str | None:
    """What is still owed."""
    if not trace["owed"]:
        return None
    return f"The trace is incomplete: {trace['owed']:,} of {count(trace['planned'], 'trial')} not run yet."


def drop_sentence(trace: Section) -> str:
    """From where to where."""
    lost = f", {trace['lost']:,} lost" if trace["lost"] else ""
    ends = f"From {one_line(trace['canonical'])} to {one_line(trace['harness'])}"
    of = f"({count(trace['trials'], 'trial')} of {count(trace['harnesses'], 'harness')}{lost})"
    if trace["drop"]["estimate"] is None:
        return f"{ends} the drop on fresh repeats is unknown: one of the two has no judged trial {of}."
    change = f"{difference(trace['drop'], signed=True)}, from {share(trace['from'])} to {share(trace['to'])}"
    return f"{ends} the score changes by {change}, on fresh repeats {of}."


def verdict_sentence(trace: Section) -> str:
    """Which changes make the drop, as far as they stand out from noise; "" where none is known."""
    if all(row["effect"] is None for row in trace["axes"]):
        return ""
    sure = [row for row in standing_out(trace) if row["effect"] < 0]
    if not sure:
        tested = any(row["p_adjusted"] is not None for row in trace["axes"])
        return _unsure(trace) if tested else "With so few tasks no change has an interval."
    return f"The cost lies in {' and '.join(f'{level_name(row)} ({value_phrase(row)})' for row in sure)}."


def _unsure(trace: Section) -> str:
    """Nothing is certain; the likeliest place all the same, which a reader of the intervals would look for."""
    tested = [row for row in trace["axes"] if row["p_adjusted"] is not None]
    largest = min(tested, key=lambda row: row["effect"])
    if largest["high"] is None or largest["high"] >= 0:
        return "No single change stands out from noise."
    place = f"{level_name(largest)} ({value_phrase(largest)})"
    many = f"among {count(len(tested), 'change')} looked at it is not beyond doubt (Holm p"
    return f"The likeliest place of the cost is {place}; {many} {p_value(largest['p_adjusted'])})."


def value_phrase(row: Section) -> str:
    """What a change costs, or why that is unknown."""
    if row["effect"] is None:
        return f"unknown: {one_line(row['reason'])}"
    return difference(effect_figures(row), signed=True)


def interaction_phrase(row: Section) -> str:
    """How much more a change does beside all others than alone."""
    low, high = row["interaction_low"], row["interaction_high"]
    return difference({"estimate": row["interaction"], "low": low, "high": high}, signed=True)


def tests_what_is_left(trace: Section) -> bool:
    """Whether there are changes enough for three to interact."""
    return len(trace["axes"]) > 2


def one_line_summary(trace: Section) -> str:
    """The costs of the changes, largest first, the small ones together."""
    known = [row for row in trace["axes"] if row["effect"] is not None]
    if not known:
        return unfinished(trace) or drop_sentence(trace)
    known.sort(key=lambda row: -abs(row["effect"]))
    parts = [f"{one_line(row['axis'])} {value_phrase(row)}" for row in known[:_NAMED]]
    if rest := known[_NAMED:]:
        most = max(abs(row["effect"]) for row in rest)
        parts.append(f"{count(len(rest), 'other')} {f'within ±{points(most)}' if most else 'nothing'}")
    if unknown := len(trace["axes"]) - len(known):
        parts.append(f"{count(unknown, 'change')} unknown")
    said = " · ".join(parts)
    said += f"; {LEFT_OVER} {difference(trace['residual'], signed=True)}" if tests_what_is_left(trace) else ""
    return f"{said}. {left}" if (left := unfinished(trace)) else said


def terminal_lines(section: Section, run: str = "RUN") -> list[str]:
    """The line of the summary: what makes the drop, or how to have it traced."""
    trace = section["trace"]
    told = one_line_summary(trace) if trace else offer(section, run)
    return [] if told is None else wrapped("WORST DROP", told, hyphens=False)


def table_lines(trace: Section) -> list[str]:
    """The whole trace for a terminal: both ends, each change, what is left over."""
    lines = textwrap.wrap(drop_sentence(trace), WIDTH)
    names = [level_name(row) for row in trace["axes"]]
    width = min(60, max(len(name) for name in [*names, LEFT_OVER]))
    for name, row in zip(names, trace["axes"], strict=True):
        p = "" if row["p_adjusted"] is None else f"  Holm p {p_value(row['p_adjusted'])}"
        lines.append(f"  {cut(name, width):<{width}}  {value_phrase(row)}{p}")
    if tests_what_is_left(trace):
        lines.append(f"  {LEFT_OVER:<{width}}  {difference(trace['residual'], signed=True)}")
    lines += textwrap.wrap(verdict_sentence(trace), WIDTH)
    return [*lines, said] if (said := unfinished(trace)) else lines
