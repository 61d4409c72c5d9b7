"""What a page shows with one cell a harness: the heat map of scores with the trials behind it, and labels."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence

from harness_eval import recording
from harness_eval.report import figures
from harness_eval.report.embedded import Embedded
from harness_eval.types import Json

Section = Mapping[str, Json]

TABLE_HARNESSES = 30  # above either size the table of cells becomes a picture
_TABLE_TASKS = 60
_NO_VERDICT = 255  # in place of a percentage
_ABSENT = "These trials are not inside this page. To see them step by step:"
_NOT_RECORDED = "No trajectory of this run is recorded beside the report."


def heat_map(section: Section, order: Sequence[str], embedded: Embedded) -> dict[str, Json]:
    """The cells, harnesses from worst to best and tasks from easiest to hardest, as a table or as a picture.

    `data` and `trials` are JSON that the page's script reads: names and scores; the packed trials by row and column.
    """
    cells = section["cells"]
    by_name = dict(zip(cells["harnesses"], cells["score"], strict=True))
    rows = [by_name[name] for name in order]
    columns = range(len(cells["tasks"]))
    means = [_mean([row[column] for row in rows]) for column in columns]
    easiest = sorted(columns, key=lambda column: (means[column] is None, -(means[column] or 0.0), column))
    values = [[row[column] for column in easiest] for row in rows]
    tasks = [cells["tasks"][column] for column in easiest]
    small = len(easiest) <= _TABLE_TASKS and len(rows) <= TABLE_HARNESSES
    judged = any(mean is not None for mean in means)
    return {
        "tasks": tasks,
        "means": [means[column] for column in easiest],
        "rows": list(zip(order, values, strict=True)),
        "small": small,
        "judged": judged,
        "recorded": bool(embedded.recorded),
        "picture": figures.heat_map(values) if judged and not small else None,
        "data": _block(_data(order, tasks, values, embedded)),
        "trials": _block(_trials(order, tasks, embedded)) if embedded.trials else None,
    }


def _data(
    order: Sequence[str], tasks: Sequence[str], values: Sequence[Sequence[float | None]], embedded: Embedded
) -> Json:
    percent = bytes(_NO_VERDICT if value is None else round(100 * value) for row in values for value in row)
    return {
        "harnesses": list(order),
        "tasks": tasks,
        "scores": base64.b64encode(percent).decode(),
        "recorded": bool(embedded.recorded),
        "absent": _ABSENT if embedded.recorded else _NOT_RECORDED,
    }


def _trials(order: Sequence[str], tasks: Sequence[str], embedded: Embedded) -> Json:
    row = {name: place for place, name in enumerate(order)}
    column = {name: place for place, name in enumerate(tasks)}

    def key(cell: tuple[str, str]) -> str:
        return f"{row[cell[1]]},{column[cell[0]]}"

    shown = {cell: found for cell, found in embedded.trials.items() if cell[1] in row}
    return {
        "trials": {key(cell): [[one.title, one.packed] for one in found] for cell, found in shown.items()},
        "pairs": {key(cell): packed for cell, packed in embedded.pairs.items() if cell[1] in row},
    }


def _block(value: Json) -> str:
    """JSON that can stand inside a script element: no text of it can end the element or begin a comment."""
    from markupsafe import Markup  # lazy: slow import

    return Markup(recording.dump(value).decode().replace("<", "\\u003c"))


def labels(section: Section, order: Sequence[str]) -> dict[str, Json]:
    """Labels by harness; a cell is the share of the harness's trials in four steps, None where it was not met."""
    run = {entry["harness"]: entry["judged"] + entry["lost"] for entry in section["harnesses"]}
    run |= {entry["harness"]: entry["run"] for entry in section["unsupported"] if entry["run"]}
    rows = []
    for row in section["labels"]:
        met = {harness: found["trials"] for harness, found in row["harnesses"].items()}
        cells = [_heat(met[name], run[name]) if name in met else None for name in order]
        rows.append((row["label"], row["effect"], cells))
    return {"harnesses": list(order), "rows": rows, "dense": len(order) > TABLE_HARNESSES}


def _heat(trials: int, run: int) -> dict[str, int]:
    return {"trials": trials, "run": run, "step": max(1, math.ceil(4 * trials / max(run, trials)))}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
