"""Several endpoints beside each other: the leading figures of each on one line."""

from __future__ import annotations

from collections.abc import Mapping

from harness_eval.report import findings
from harness_eval.types import Json

Section = Mapping[str, Json]

columns = ("WORST", "MEAN", "SPREAD", "GAP", "FLOOR", "CANONICAL", "Judged", "Verdicts")


def cells(section: Section, data: Section) -> list[tuple[str, str]]:
    """What stands under each of `columns` for one endpoint: a value, and its interval or more about it."""
    figures = [(one.value, "" if one.name == "FLOOR" else one.interval) for one in findings.headlines(section, data)]
    trials = section["trials"]
    judged = (f"{trials['judged']:,}", f"of {trials['planned']:,}")
    return [*figures, judged, (findings.verdict_counts(section), "")]
