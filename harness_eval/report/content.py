"""The content of a report as plain JSON: what report.json holds, and all that the other forms are made from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness_eval import __version__
from harness_eval.cluster import record as nodes_used
from harness_eval.errors import ConfigError
from harness_eval.report.designed import coverage
from harness_eval.report.method import METHOD
from harness_eval.report.predicted import predicted_of
from harness_eval.report.recorded import Recorded, read
from harness_eval.report.section import section
from harness_eval.report.traced import trace_of
from harness_eval.report.undone import is_left_out
from harness_eval.report.wording import count
from harness_eval.types import Json

_SETTINGS = ("design", "family", "repeats", "canonical_repeats", "order", "sandbox", "limits")


def build(folder: Path) -> dict[str, Json]:
    """The content of report.json for a run's folder.

    With several endpoints `by_endpoint` holds the figures of each; at the top level stand those of the first, but
    `trials`, `lost`, `unsupported` and `incomplete` of the whole run. `remarks` are the notes that concern no single
    endpoint.

    Raises:
        ConfigError: if the folder holds no readable study.json, or one without endpoints or harnesses.
    """
    recorded = read(folder)
    for kind in ("endpoints", "harnesses"):
        if not recorded.named(kind):
            raise ConfigError(f"{folder}: study.json names no {kind}")
    made = [section(recorded, endpoint) for endpoint in recorded.named("endpoints")]
    sections = [{**one, **trace_of(folder, recorded, one), **predicted_of(folder, recorded, one)} for one in made]
    remarks = [*_remarks(recorded), *nodes_used.told(folder)]
    data = {**_study(recorded), **sections[0], "remarks": remarks, "notes": [*remarks, *sections[0]["notes"]]}
    if len(sections) > 1:
        data |= _whole_run(sections) | {"by_endpoint": sections}
    return data


def _whole_run(sections: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    trials: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    unsupported: list[Json] = []
    for one in sections:
        trials.update(one["trials"])
        lost.update(one["lost"])
        unsupported += [entry for entry in one["unsupported"] if entry not in unsupported]
    return {
        "trials": dict(trials),
        "lost": dict(lost),
        "unsupported": unsupported,
        "incomplete": any(one["incomplete"] for one in sections),
    }


def sections_of(data: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    """One mapping an endpoint: those of `by_endpoint`, or the content itself."""
    return list(data.get("by_endpoint") or [data])


def _study(recorded: Recorded) -> dict[str, Json]:
    study = recorded.study
    return {
        "name": study.get("name") or "unnamed study",
        "created": study.get("created"),
        "seed": study.get("seed"),
        "versions": dict(study.get("versions") or {}),
        "reported_by": f"harness-eval {__version__}",
        **{key: study.get(key) for key in _SETTINGS},
        "imported": study.get("imported"),
        "coverage": coverage(recorded),
        "suites": recorded.suites,
        "canonical_harness": study.get("canonical"),
        "n_family": len(recorded.named("harnesses")) + len(study.get("unsupported") or ()),
        "method": [{"what": what, "how": how} for what, how in METHOD.items()],
    }


def _remarks(recorded: Recorded) -> list[str]:
    remarks = [str(note) for note in recorded.study.get("notes") or () if not is_left_out(str(note))]
    if missing := recorded.not_imported():
        remarks.insert(0, f"{missing}.")
    if recorded.strangers:
        number, verb = recorded.strangers, "belongs" if recorded.strangers == 1 else "belong"
        remarks.append(
            f"{count(number, 'recorded trial')} {verb} to no task, harness or endpoint of this study: left out."
        )
    return remarks
