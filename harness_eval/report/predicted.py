"""The configuration that was predicted to be the worst and then run, as plain JSON."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from harness_eval import hunt, store
from harness_eval.config import parse
from harness_eval.report import counts, support
from harness_eval.report.leading import figures
from harness_eval.report.outcomes import Outcome
from harness_eval.report.recorded import Recorded, read
from harness_eval.types import Json


class _About(BaseModel):
    harness: str
    against: str
    expected: float
    differs: dict[str, str]


def predicted_of(folder: Path, recorded: Recorded, section: Mapping[str, Json]) -> dict[str, Json]:
    """What report.json says of the predicted worst configuration at one endpoint: None where none was run, and why.

    It is in no other figure: it was chosen by these very results. `expected` is what main effects predicted, `against`
    the harness at which the hunt ended, with the `difference` to it over the tasks that both have met.

    Raises:
        ConfigError: its folder is damaged.
    """
    endpoint = section["endpoint"]["name"]
    path = hunt.place(folder, recorded.names("endpoints"), endpoint)
    if not section["hunt"] or not (path / store.STUDY).is_file():
        return {"predicted": None, "unpredicted": hunt.unpredicted(folder).get(endpoint) if section["hunt"] else None}
    inner = read(path)
    about = parse(_About, inner.study.get("predicted"), f"{path / store.STUDY}: predicted")
    tasks, at_once = recorded.names("tasks"), ((inner, about.harness), (recorded, about.against))
    own, other = (_means(_outcomes_of(one, endpoint, name), tasks, name) for one, name in at_once)
    refused = support.unsupported(inner, endpoint, inner.outcomes)
    judged = sum(outcome.judged for outcome in inner.outcomes)
    return {
        "unpredicted": None,
        "predicted": {
            **about.model_dump(),
            **_figures(own, other, [task.get("group") or ("alone", task["name"]) for task in recorded.named("tasks")]),
            "reason": refused[about.harness]["reason"] if about.harness in refused else None,
            "judged": judged,
            "lost": len(inner.outcomes) - judged,
            "owed": 0 if refused else max(0, inner.planned - len(inner.outcomes)),
        },
    }


def _outcomes_of(recorded: Recorded, endpoint: str, harness: str) -> list[Outcome]:
    """What was recorded of one harness at one endpoint."""
    return [one for one in recorded.outcomes if one.endpoint == endpoint and one.harness == harness]


def _means(outcomes: Sequence[Outcome], tasks: Sequence[str], harness: str) -> Any:
    from harness_eval.stats.cells import cell_means  # lazy: slow import

    own = [one for one in outcomes if one.task in tasks]
    return cell_means(*counts.arrays(own, tasks, [harness])).mean_TH[:, 0]


def _figures(own: Any, other: Any, named: Sequence[Hashable]) -> dict[str, Json]:
    """Of one mean a task (NaN: none): with the group that each task names as the unit of sampling."""
    from harness_eval.stats.groups import Groups, enough  # lazy: slow import
    from harness_eval.stats.intervals import clustered_mean, mean_over_tasks  # lazy: slow import
    from harness_eval.stats.paired import paired_difference  # lazy: slow import

    groups, apart = Groups.of(named), own - other
    both = apart == apart  # not NaN
    if groups is None:
        difference = paired_difference(own, other)
    else:
        difference = clustered_mean(apart[both], groups.rows(both))
        difference = difference if enough(both, groups) else difference.without_interval()
    return {
        "score": figures(mean_over_tasks(own, groups)),
        "difference": figures(difference),
        "tasks": int((own == own).sum()),  # not NaN
    }
