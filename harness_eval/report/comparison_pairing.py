"""Which trials of two runs can be compared, and which cannot, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness_eval.errors import ConfigError, listed, nearest
from harness_eval.report import hunted, support
from harness_eval.report.designed import order_of
from harness_eval.report.external import tools_of
from harness_eval.report.outcomes import Outcomes
from harness_eval.report.recorded import Recorded, read
from harness_eval.report.wording import count, one_line
from harness_eval.types import Json

Entry = Mapping[str, Json]

_NAMES_SHOWN = 4
_SETTINGS = {
    "repeats": "repeats",
    "canonical_repeats": "repeats of the canonical harness",
    "sandbox": "sandbox",
    "limits": "limits of a trial",
    "recovery": "where leaked calls are looked for",
}
_CONTENT = {
    "tasks": (("digest", "its content differs"),),
    "harnesses": (
        ("id", "its levels differ (another id)"),
        ("version", "its version differs"),
        ("wire", "what a model receives of it differs"),
    ),
}


@dataclass(frozen=True, slots=True)
class Side:
    """One endpoint of one run: what was recorded of it. `refused` are the harnesses that cannot run there."""

    folder: Path
    recorded: Recorded
    endpoint: Entry
    outcomes: Outcomes
    refused: Mapping[str, Entry]

    def named(self, kind: str) -> dict[str, Entry]:
        """The study's `tasks` or `harnesses` by name, in its order; of an external one `wire` is what trials showed."""
        found = {entry["name"]: entry for entry in self.recorded.named(kind)}
        for name, entry in found.items():
            if "external" in entry:
                found[name] = {**entry, "wire": tools_of(self.recorded, self.endpoint["name"], name)}
        return found


@dataclass(frozen=True, slots=True)
class Pairing:
    """The names that both sides have and that mean the same; `left_out` are the others, each with a reason."""

    before: Side
    after: Side
    tasks: tuple[str, ...]
    harnesses: tuple[str, ...]
    left_out: tuple[dict[str, Json], ...]
    notes: tuple[str, ...]

    @property
    def sides(self) -> tuple[Side, Side]:
        """Both runs, the earlier first."""
        return self.before, self.after

    def outcomes(self) -> tuple[Outcomes, Outcomes]:
        """The trials of either side on the tasks and harnesses that are compared."""
        tasks, harnesses = set(self.tasks), set(self.harnesses)
        before, after = (
            side.outcomes.where(lambda one: one.task in tasks and one.harness in harnesses) for side in self.sides
        )
        return before, after


def chosen(run: str, endpoint: str | None) -> Side:
    """The side that is meant by `RUN` or `RUN:ENDPOINT`; without the latter, by the endpoint that is given for both.

    Raises:
        ConfigError: as `side`.
    """
    folder, name = folder_and_endpoint(run)
    return side(folder, endpoint if name is None else name)


def folder_and_endpoint(run: str) -> tuple[Path, str | None]:
    """The two parts of `RUN:ENDPOINT`, either of which may have colons in its name; no endpoint where none is named."""
    parts = run.split(":")
    for length in range(len(parts) - 1, 0, -1):
        folder, name = ":".join(parts[:length]), ":".join(parts[length:])
        if folder and not Path(run).is_dir() and Path(folder).is_dir():
            return Path(folder), name
    return Path(run), None


def side(folder: Path, endpoint: str | None) -> Side:
    """One endpoint of a run's folder; None: the only one.

    Raises:
        ConfigError: no readable run, no endpoint of that name, or several and none was named.
    """
    recorded = read(folder)
    found = {entry["name"]: entry for entry in recorded.named("endpoints")}
    if not found or not recorded.named("harnesses"):
        raise ConfigError(f"{folder}: study.json names no {'harnesses' if found else 'endpoints'}")
    if endpoint is None and len(found) > 1:
        choices = ", ".join(one_line(name) for name in found)
        raise ConfigError(f"{folder}: has {len(found)} endpoints ({choices}); name one: RUN:NAME, or --endpoint NAME")
    name = next(iter(found)) if endpoint is None else endpoint
    if name not in found:
        raise ConfigError(f"{folder}: no endpoint {name!r}; {nearest(name, (one_line(known) for known in found))}")
    return side_of(folder, recorded, found[name])


def side_of(folder: Path, recorded: Recorded, endpoint: Entry) -> Side:
    """The side of an endpoint, by its entry in study.json."""
    name = endpoint["name"]
    outcomes = recorded.outcomes.whose("endpoint", lambda one: one == name)
    return Side(folder, recorded, endpoint, outcomes, support.unsupported(recorded, name, outcomes))


def pair(before: Side, after: Side, *, ignore_versions: bool = False) -> Pairing:
    """Pair two sides by the names of their tasks and harnesses.

    What has the same name and another content is left out, unless `ignore_versions`.

    Raises:
        ConfigError: no task or no harness is in both, or no cell has a verdict in both.
    """
    tasks, odd_tasks = _common(before, after, "tasks", ignore_versions)
    harnesses, odd_harnesses = _common(before, after, "harnesses", ignore_versions)
    runnable = [name for name in harnesses if name not in before.refused and name not in after.refused]
    left_out = [*odd_tasks, *odd_harnesses, *_refused(before, after, harnesses)]
    found = Pairing(before, after, tuple(tasks), tuple(runnable), tuple(left_out), tuple(_notes(before, after)))
    if not _judged(before, found) & _judged(after, found):
        raise ConfigError(_nothing(found))
    return found


def _common(before: Side, after: Side, kind: str, ignore_versions: bool) -> tuple[list[str], list[dict[str, Json]]]:
    one, other = before.named(kind), after.named(kind)
    noun = {"tasks": "task", "harnesses": "harness"}[kind]
    odd = [
        _left_out(noun, [name for name in one if name not in other], "only in the first run"),
        _left_out(noun, [name for name in other if name not in one], "only in the second run"),
    ]
    same = [name for name in one if name in other]
    by_name = kind == "harnesses" and any(side.recorded.study.get("imported") for side in (before, after))
    for key, reason in () if ignore_versions else _CONTENT[kind]:
        differing = [name for name in same if not by_name and differs(one[name].get(key), other[name].get(key))]
        odd.append(_left_out(noun, differing, f"the same name, but {reason}"))
        same = [name for name in same if name not in differing]
    return same, [entry for entry in odd if entry["names"]]


def differs(one: Json, other: Json) -> bool:
    """Whether both are known and not the same: an imported run knows no digests of tasks."""
    return one is not None and other is not None and one != other


def _left_out(what: str, names: list[str], reason: str) -> dict[str, Json]:
    return {"what": what, "names": names, "reason": reason}


def _refused(before: Side, after: Side, harnesses: Sequence[str]) -> list[dict[str, Json]]:
    groups: dict[str, dict[str, Json]] = {}
    for order, one in (("first", before), ("second", after)):
        for name in harnesses:
            if name in one.refused:
                reason = f"cannot run at the endpoint of the {order} run: {one.refused[name]['reason']}"
                groups.setdefault(reason, _left_out("harness", [], reason))["names"].append(name)
    return list(groups.values())


def _judged(one: Side, found: Pairing) -> set[tuple[str, str]]:
    tasks, harnesses = set(found.tasks), set(found.harnesses)
    cells = {(each.task, each.harness) for each in one.outcomes if each.judged}
    return {(task, harness) for task, harness in cells if task in tasks and harness in harnesses}


def _nothing(found: Pairing) -> str:
    what = "tasks" if not found.tasks else "harnesses" if not found.harnesses else "cells with a verdict"
    told = [left_out_phrase(entry) for entry in found.left_out]
    versions = any("the same name" in str(entry["reason"]) for entry in found.left_out)
    hint = "; --ignore-versions pairs by name alone" if versions else ""
    sides = f"{found.before.folder} and {found.after.folder}"
    return f"{sides}: nothing to compare, no common {what}{hint}" + "".join(f"; {one}" for one in told)


def left_out_phrase(entry: Entry) -> str:
    """What is not compared, how many, which, and why."""
    names = entry["names"]
    shown = listed([one_line(name, 60) for name in names], _NAMES_SHOWN)
    return f"{count(len(names), entry['what'])} ({shown}): {one_line(entry['reason'], 200)}"


def _notes(before: Side, after: Side) -> list[str]:
    """Where the two runs were not made alike; that their endpoints differ is what they are compared for."""
    one, other = before.recorded.study, after.recorded.study
    notes = [
        f"Different {what}: {_told(one.get(key))} in the first run, {_told(other.get(key))} in the second."
        for key, what in _SETTINGS.items()
        if differs(one.get(key), other.get(key))
    ]
    orders = [order_of(study) for study in (one, other)]
    if differs(*orders):
        notes.append(
            f"Different orders of trials: {orders[0]} in the first run, {orders[1]} in the second: a server "
            "that drifts or caches meets them differently, in scores, seconds and cached tokens."
        )
    suites = [sorted({str(task.get("suite")) for task in each.recorded.named("tasks")}) for each in (before, after)]
    if suites[0] != suites[1]:
        notes.append(
            f"Different suites: {', '.join(suites[0])} in the first run, {', '.join(suites[1])} in the second."
        )
    if _same_trials(before, after):
        notes.append("Both are the same endpoint of the same run.")
    return [one_line(note) for note in [*notes, *_states(before, "first"), *_states(after, "second")]]


def _told(value: Json) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {each}" for key, each in value.items())
    return str(value)


def _same_trials(before: Side, after: Side) -> bool:
    return before.folder.resolve() == after.folder.resolve() and before.endpoint["name"] == after.endpoint["name"]


def _states(one: Side, order: str) -> list[str]:
    study, notes = one.recorded.study, []
    planned, _ = hunted.planned(one.recorded, one.endpoint["name"], one.refused, one.outcomes)
    owed = planned - len(one.outcomes)
    if study.get("adaptive"):
        notes.append(
            f"The {order} run is a hunt: its results decided which harness met further tasks, so harnesses rest on "
            "different tasks. Only cells of both runs are compared, but what a hunt dropped early had good luck and "
            "tends to look worse elsewhere, and where it ended, better, though nothing changed. Only the canonical "
            "harness met all tasks."
        )
    if owed > 0 and not one.refused:
        notes.append(f"The {order} run is incomplete: {count(owed, 'trial')} of {planned:,} not run yet.")
    if missing := one.recorded.not_imported():
        notes.append(f"The {order} run is incomplete: {missing}.")
    if study.get("imported"):
        known = any(entry.get("labels") for entry in one.recorded.named("harnesses"))
        axes = "" if known else "its axes are unknown, and "
        notes.append(f"The {order} run is imported: {axes}names alone say what belongs together.")
    return notes
