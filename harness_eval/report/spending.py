"""What trials used up, in words: tokens, cost and time, of all attempts and by harness."""

from __future__ import annotations

from collections.abc import Mapping

from harness_eval.report.wording import UNKNOWN, count
from harness_eval.types import Json

Section = Mapping[str, Json]


def nothing_used(section: Section) -> bool:
    """Whether nothing at all was recorded of how trials ended and what they used, as in imported results."""
    spent = section["spent"]
    used = sum(spent["tokens"].values()) or spent["seconds"] or spent["steps"] or spent["cost_known"]
    return not used and all(set(entry["stops"]) <= {UNKNOWN} for entry in section["harnesses"])


def spent_phrases(section: Section) -> list[tuple[str, str]]:
    """Tokens, cost and time of all attempts, those of lost trials included."""
    spent = section["spent"]
    tokens = spent["tokens"]
    inner = f"prompt {tokens['prompt']:,} ({tokens['cached']:,} cached), completion {tokens['completion']:,}"
    known, missing = spent["cost_known"], spent["unpriced"]
    cost = f"{known:,.2f}, in the currency of the price list"
    if missing == spent["attempts"]:
        cost = "unknown: no price is configured"
    elif missing:
        cost = f"at least {cost}: {count(missing, 'attempt')} without a price"
    return [
        ("Tokens", f"{inner} ({tokens['reasoning']:,} reasoning)"),
        ("Cost", cost),
        ("Time", f"{spent['seconds'] / 3600:,.2f} hours of trials, added up over those run at once"),
        ("Attempts", f"{count(spent['attempts'], 'attempt')}, {count(spent['steps'], 'step')}"),
    ]


def used(entry: Section) -> tuple[str, str, str]:
    """Tokens, cost and seconds a trial of one harness, lost trials included; a dash where nothing was recorded."""
    run = entry["judged"] + entry["lost"]
    if not run:
        return ("–", "–", "–")
    cost = UNKNOWN if entry["cost"] is None else f"{entry['cost'] / run:,.4f}"
    tokens = f"{entry['tokens'] / run:,.0f}" if entry["tokens"] else "–"
    return (tokens, cost, f"{entry['seconds'] / run:,.1f}" if entry["seconds"] else "–")
