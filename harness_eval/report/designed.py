"""How the harnesses of a run were chosen, what pairs of levels they cover, and in which order trials ran."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from harness_eval.report.recorded import Recorded
from harness_eval.report.wording import UNKNOWN, count, one_line
from harness_eval.types import Json

_INTERLEAVED = "repeat by repeat and task by task, the harnesses shuffled within each task by the seed"


def coverage(recorded: Recorded) -> dict[str, Json]:
    """Pairs of levels of two varied axes: how many some harness has, and how many these levels could form at most."""
    levels = [recorded.levels(harness) for harness in recorded.named("harnesses")]
    met: dict[str, set[str]] = {}
    for chosen in levels:
        for axis, level in chosen.items():
            met.setdefault(axis, set()).add(level)
    axes = [axis for axis, names in met.items() if len(names) > 1]
    pairs = list(combinations(axes, 2))
    covered = {
        (one, chosen[one], two, chosen[two]) for chosen in levels for one, two in pairs if {one, two} <= chosen.keys()
    }
    possible = sum(len(met[one]) * len(met[two]) for one, two in pairs)
    return {"axes": axes, "pairs": len(covered), "pairs_possible": possible}


def design_phrase(data: Mapping[str, Json]) -> str:
    """The design of a run, its harnesses and the pairs of levels that they cover."""
    if data["imported"]:
        return f"{UNKNOWN}: the trials were made elsewhere, and no design came with them"
    design, found = data["design"], data["coverage"]
    kind = design.get("kind") if isinstance(design, Mapping) else design
    if not data["family"] or not kind:
        told = "harnesses named one by one"
    else:
        array = design.get("array") if isinstance(design, Mapping) else None
        told = f"{one_line(kind)}{f', {one_line(array)}' if array else ''}, on the family {one_line(data['family'])}"
    told += f"; {count(data['n_family'], 'harness')}"
    if len(found["axes"]) > 1:
        told += (
            f"; {count(len(found['axes']), 'axis')} vary, {found['pairs']:,} of {found['pairs_possible']:,} pairs of "
            "their levels stand together in some harness"
        )
    elif found["axes"]:
        told += f"; {one_line(found['axes'][0])} alone varies"
    return told


def order_of(study: Mapping[str, Json]) -> str | None:
    """The order of a run's trials in a few words, from its study.json; None where it was made elsewhere."""
    if study.get("imported"):
        return None
    order = study.get("order")
    if not isinstance(order, Mapping):
        return "interleaved"
    return f"{one_line(order.get('kind'))} in blocks of {count(int(order.get('block') or 0), 'task')}"


def order_phrase(data: Mapping[str, Json]) -> str:
    """In which order the trials ran."""
    order = data.get("order")
    if data["imported"]:
        return UNKNOWN
    blocks = "block by block of the hunt, and within each " if data.get("hunt") else ""
    if not isinstance(order, Mapping):
        return blocks + _INTERLEAVED
    return (
        f"{blocks}{one_line(order.get('kind'))}, for the cache of a server: repeat by repeat in blocks of "
        f"{count(int(order.get('block') or 0), 'task')}, which each harness runs in a row; the harnesses are shuffled "
        "by the seed for one block and reversed for the next"
    )


def again_phrases(data: Mapping[str, Json], run: str = "RUN") -> list[tuple[str, str]]:
    """Commands that make the run, the check of its record, and this report again; each with what it does.

    `run` is the run's folder as a command line names it.
    """
    report = (f"harness-eval report {run}", "makes this report again from the recorded results")
    if data["imported"]:
        return [(f"harness-eval import FILE --out {run}", "imports the same file again"), report]
    seed = "" if data["seed"] is None else f" --seed {data['seed']}"
    return [
        (f"harness-eval run STUDY.yaml{seed} --out NEW", "makes the same matrix from the same study file"),
        (f"harness-eval replay {run}", "checks the record against what today's code derives from it"),
        report,
    ]
