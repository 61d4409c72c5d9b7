"""What stands behind each figure of report.json: its level, its method, and how much data it rests on."""

from __future__ import annotations

from harness_eval.types import Json

LEVEL = 0.95
_VERSION = "1"  # of the methods below: another formula gets another version
_LEADING = {
    "canonical": "hierarchical-dp",
    "mean": "task-mean-t",
    "mean_family": "two-way-family-t",
    "worst": "hierarchical-dp",
    "floor": "least-wilson-lower-limit",
    "ceiling": "worst-set-upper-limit",
    "gap": "hierarchical-dp",
    "spread": "net-sd-jackknife",
    "spread_family": "net-sd-anova",
    "worst_at_8": "hierarchical-dp",
    "cvar10": "hierarchical-dp",
    "raw_min": "raw-minimum",
}
_OF_THE_FAMILY = {"mean_family": 0, "spread_family": 0, "worst_at_8": 8}  # alone of so many drawn at random, or more
_PASS, _DIFFERENCE, _EFFECT, _SHARE = "symmetric-mean-t", "paired-max-t", "within-task-ols", "first-order-share"
_PLAIN = "plain-mean"  # of scores and differences where the model cannot be used
_MODELLED = _LEADING["worst"]


def stamp(section: dict[str, Json], seed: int | None, adaptive: bool) -> None:
    """Put a basis beside every figure of a section: level, method, sizes, seed, estimand, and whether trials were
    allocated by their results.

    Leading figures and differences hold these keys themselves; rows (harnesses, levels, shares) hold them as `basis`.
    """
    whole = {
        "level": LEVEL,
        "n_tasks": section["n_judged_tasks"],
        "n_clusters": section["n_clusters"],
        "n_harness": section["n_harnesses"],
        "n_valid": section["trials"]["judged"],
        "seed": seed,
        "estimand": "population",
        "adaptive": adaptive,
    }
    plain, drawn = section["worst"]["reason"] is not None, section["wilks"]["sampled"]
    for name, method in _LEADING.items():
        used = _PLAIN if plain and name == "canonical" else method
        apart = drawn is not None and drawn >= _OF_THE_FAMILY.get(name, section["n_harnesses"])
        rests = {**whole, "n_harness": drawn} if apart else whole
        section[name] = {**section[name], **rests, "method": _named(used)}
    for group, method in (("quantiles", _MODELLED), ("pass_k", _PASS)):
        section[group] = {name: {**one, **whole, "method": _named(method)} for name, one in section[group].items()}
    for entry in section["harnesses"]:
        own = {**whole, "n_tasks": entry["tasks"], "n_clusters": entry["clusters"], "n_valid": entry["judged"]}
        entry["basis"] = {**own, "n_harness": 1, "method": _named(_PLAIN if plain else _MODELLED)}
        compared = {**own, "n_harness": 2, "method": _named(_PLAIN if plain else _DIFFERENCE)}
        entry["difference"] = {**entry["difference"], **compared}
    for rows, method in (("axes", _EFFECT), ("shares", _SHARE)):
        for row in section[rows]:
            row["basis"] = {**whole, "method": _named(method)}


def _named(method: str) -> str:
    return f"{method}/{_VERSION}"
