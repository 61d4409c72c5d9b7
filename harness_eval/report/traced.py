"""The trace of the worst drop as plain JSON: what each change between canonical and the worst harness costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from harness_eval import store, tracing
from harness_eval.config import parse
from harness_eval.errors import ConfigError
from harness_eval.report import counts, support
from harness_eval.report.leading import figures
from harness_eval.report.recorded import Recorded, read
from harness_eval.report.wording import one_line
from harness_eval.types import Json

if TYPE_CHECKING:
    from harness_eval.stats.shapley import Attribution

Section = Mapping[str, Json]


class _Change(BaseModel):
    axes: list[str]
    level: str
    canonical_level: str
    added: str
    reverted: str
    reason: str


class _About(BaseModel):
    """What every reader of a trace's study.json relies on."""

    harness: str
    canonical: str
    changes: list[_Change]


def target(section: Section) -> tuple[str | None, str]:
    """The harness to take apart at an endpoint and in what sense it is the worst; or None, and why there is none.

    It is the likeliest of the worst set; below 20 tasks, where there is no such set, the one with the lowest plain mean
    (of several the one that differs least from the canonical one).
    """
    scored = [entry for entry in section["harnesses"] if entry["estimate"] is not None]
    usual = next((entry for entry in scored if entry["canonical"]), None)
    if usual is None:
        return None, "the canonical harness has no judged trial here, so there is no drop to take apart"
    if len(scored) == 1:
        return None, "no other harness than the canonical one has a judged trial here"
    members, tested = section["worst"]["set"], section["n_harnesses"]
    if members and len(members) == tested:
        return None, f"these trials cannot tell any of the {tested} harnesses from the worst; more tasks or repeats can"
    if members:
        why = "the worst" if len(members) == 1 else f"the likeliest of {len(members)} that may be the worst"
        return _unless_canonical(members[0], why, usual)
    lowest = min(entry["estimate"] for entry in scored)
    tied = sorted((e for e in scored if e["estimate"] == lowest), key=lambda e: (not e["canonical"], len(e["differs"])))
    alike = f", as low as {len(tied) - 1} more" if len(tied) > 1 else ""
    return _unless_canonical(tied[0]["harness"], f"the lowest plain mean{alike}", usual)


def _unless_canonical(name: str, why: str, usual: Section) -> tuple[str | None, str]:
    if name == usual["harness"]:
        return None, f"the canonical harness itself is {why}: there is no drop below it"
    return name, why


def trace_of(folder: Path, recorded: Recorded, section: Section) -> dict[str, Json]:
    """What report.json says of the worst drop at one endpoint.

    `trace` is None where none was run; `trace_offer` then says what one would take, or is None where there is nothing
    to take apart. A trace's own folder has the same `trace` as the run that it belongs to.

    Raises:
        ConfigError: the trace's folder is damaged.
    """
    inner, path = recorded, folder
    if not recorded.study.get("trace"):
        path = tracing.place(folder, recorded.names("endpoints"), section["endpoint"]["name"])
        if not (path / store.STUDY).is_file():
            return {"trace": None, "trace_offer": _offer(recorded, section)}
        inner = read(path)
    if not isinstance(inner.study.get("trace"), Mapping):
        return {"trace": None, "trace_offer": None}
    _check(inner, path / store.STUDY)
    return {"trace": _trace(inner, section["endpoint"]["name"]), "trace_offer": None}


def _check(inner: Recorded, path: Path) -> None:
    about = parse(_About, inner.study["trace"], f"{path}: trace")
    named = [about.canonical, about.harness, *(name for each in about.changes for name in (each.added, each.reverted))]
    known = set(inner.names("harnesses"))
    if strange := [name for name in named if name not in known]:
        raise ConfigError(f"{path}: trace: {one_line(strange[0])} is none of its harnesses")


def _offer(recorded: Recorded, section: Section) -> dict[str, Json] | None:
    harness, _ = target(section)
    if harness is None:
        return None
    try:
        layout = tracing.layout_of(recorded.study, harness)
    except ConfigError:  # of an import, or of levels that today's code no longer knows
        return None
    number, repeats = len(layout.harnesses), int(recorded.study.get("repeats") or 1)
    trials = number * section["n_tasks"] * repeats
    return {"harness": harness, "changes": len(layout.changes), "harnesses": number, "trials": trials}


def _trace(inner: Recorded, endpoint: str) -> dict[str, Json]:
    about, names = inner.study["trace"], inner.names("harnesses")
    refused = support.unsupported(inner, endpoint, inner.outcomes)
    outcomes = inner.outcomes.where(lambda outcome: outcome.harness not in refused)
    found = _attributed(inner, outcomes, names)
    judged, planned = sum(outcome.judged for outcome in outcomes), int(inner.study.get("planned") or 0)
    skipped = support.planned_trials(inner, refused, inner.outcomes)
    rows = [_row(found, place, change) for place, change in enumerate(about["changes"])]
    for row in rows:
        row["reason"] = _why_unknown(row, refused)
    return {
        "harness": about["harness"],
        "canonical": about["canonical"],
        "harnesses": len(names),
        "trials": judged,
        "planned": planned,
        "lost": len(outcomes) - judged,
        "owed": max(0, planned - len(outcomes) - skipped),
        "tasks": found.tasks,
        "repeats": inner.study.get("repeats"),
        "seed": inner.study.get("seed"),
        "from": figures(found.canonical),
        "to": figures(found.worst),
        "drop": figures(found.drop),
        "axes": sorted(rows, key=lambda row: (row["effect"] is None, row["effect"] or 0.0)),
        "residual": figures(found.residual),
    }


def _attributed(inner: Recorded, outcomes: Sequence[Any], names: Sequence[str]) -> Attribution:
    from harness_eval.stats.cells import cell_means  # lazy: slow import
    from harness_eval.stats.shapley import Places, attribute  # lazy: slow import

    about = inner.study["trace"]
    tasks = inner.names("tasks")
    columns = {name: place for place, name in enumerate(names)}
    added, reverted = ([columns[change[key]] for change in about["changes"]] for key in ("added", "reverted"))
    places = Places(columns[about["canonical"]], columns[about["harness"]], added, reverted)
    return attribute(cell_means(*counts.arrays(outcomes, tasks, names)).mean_TH, places)


def _row(found: Attribution, place: int, change: Section) -> dict[str, Json]:
    value, interaction = found.shapley[place], found.interaction[place]
    return {
        "axis": " + ".join(change["axes"]),
        "level": change["level"],
        "canonical_level": change["canonical_level"],
        "effect": value.estimate,
        "low": value.low,
        "high": value.high,
        "p_adjusted": found.p_adjusted[place],
        "interaction": interaction.estimate,
        "interaction_low": interaction.low,
        "interaction_high": interaction.high,
        "added": change["added"],
        "reverted": change["reverted"],
        "tied": change["reason"] or None,
    }


def _why_unknown(row: Section, refused: Mapping[str, Section]) -> str | None:
    if row["effect"] is not None:
        return None
    stopped = [name for name in (row["added"], row["reverted"]) if name in refused]
    return f"{stopped[0]} cannot run here" if stopped else "a harness that it needs has no judged trial"
