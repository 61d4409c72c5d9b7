"""What a baseline and a new run have in common, and where they differ in what a comparison rests on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness_eval import recording
from harness_eval.endpoints.named import of_kind
from harness_eval.errors import ConfigError, listed, nearest
from harness_eval.gate.asked import Asked, look_order
from harness_eval.gate.document import Difference
from harness_eval.gate.kept import Answering, Snapshot, SnapshotHarness
from harness_eval.report.wording import count, one_line
from harness_eval.types import Json

_NAMES_SHOWN = 4
_VALUE_LENGTH = 60
_HASH = re.compile(r"[0-9a-f]{32,}")


@dataclass(frozen=True, slots=True)
class Matched:
    """Two sides of a check: `tasks` both have, in look order, `harness` is the gated one, `harnesses` all to compare.

    `changed` are the differences that were accepted.
    """

    before: Snapshot
    after: Snapshot
    tasks: tuple[str, ...]
    harness: str
    harnesses: tuple[str, ...]
    changed: tuple[Difference, ...]

    @property
    def gated(self) -> tuple[SnapshotHarness, SnapshotHarness]:
        """The gated harness on both sides."""
        return _harness(self.before, self.harness), _harness(self.after, self.harness)


def match(before: Snapshot, after: Snapshot, asked: Asked) -> Matched:
    """Find what both sides have; nothing that differs is accepted unless it was asked for.

    Raises:
        ConfigError: they differ, or have no task in common, or one has no such harness.
    """
    gated = _gated(before, after, asked)
    compared = _compared(before, after) if asked.matrix and not (before.adaptive or after.adaptive) else ()
    harnesses = tuple(dict.fromkeys((gated, *compared)))
    found = [*_suite(before, after), *_harnesses(before, after, harnesses)]
    found += [*_endpoint(before.endpoint, after.endpoint), *_limits(before, after)]
    refused = [each for each in found if each.kind not in asked.changed]
    if refused:
        raise ConfigError(_refusal(refused))
    differing = set(_differing_tasks(before, after))
    known = {task.name for task in after.tasks} - differing
    tasks = look_order((task.name for task in before.tasks if task.name in known), after.seed)
    if not tasks:
        raise ConfigError(f"{_title(before)} and {_title(after)} have no task in common")
    return Matched(before, after, tuple(tasks), gated, harnesses, tuple(found))


def _gated(before: Snapshot, after: Snapshot, asked: Asked) -> str:
    """The name of the gated harness, which both sides have and the baseline has run."""
    name = asked.harness or before.canonical
    if name is None:
        choices = listed([one_line(each.name) for each in before.harnesses], _NAMES_SHOWN)
        raise ConfigError(f"{_title(before)} has no canonical harness: name the gated one with --harness ({choices})")
    for title, side in (("the baseline", before), ("the new run", after)):
        if side.harness(name) is None:
            known = (one_line(each.name) for each in side.harnesses)
            raise ConfigError(f"--harness: {title} has no harness {one_line(name)!r}; {nearest(name, known)}")
        if side.adaptive and name != side.canonical:
            raise ConfigError(
                f"{title} is a hunt, which stopped asking the harness {one_line(name)!r} once it looked good, or kept "
                "it since it looked bad: luck decided, and the other run would look changed. Gate the canonical "
                "harness, or use a run with `allocate: uniform`"
            )
    if not _harness(before, name).judged:
        refused = _harness(before, name).refused
        why = f": it could not run there, {one_line(refused, 300)}" if refused else ""
        raise ConfigError(f"the baseline has no verdict of the harness {one_line(name)!r}{why}")
    return name


def _harness(side: Snapshot, name: str) -> SnapshotHarness:
    found = side.harness(name)
    assert found is not None, f"no harness {name!r}"
    return found


def _compared(before: Snapshot, after: Snapshot) -> tuple[str, ...]:
    """The harnesses that were run on both sides."""
    run = {harness.name for harness in after.harnesses if harness.run}
    return tuple(harness.name for harness in before.harnesses if harness.run and harness.name in run)


def _differing_tasks(before: Snapshot, after: Snapshot) -> Iterator[str]:
    digests = {task.name: task.digest for task in after.tasks}
    for task in before.tasks:
        if task.name in digests and _differs(task.digest, digests[task.name]):
            yield task.name


def _differs(one: Json, other: Json) -> bool:
    """Whether both are known and not the same."""
    return not _blank(one) and not _blank(other) and one != other


def _blank(value: Json) -> bool:
    return value is None or value in ("", {}, [])


def _suite(before: Snapshot, after: Snapshot) -> Iterator[Difference]:
    one, other = ({task.name: str(task.digest)[:12] for task in side.tasks} for side in (before, after))
    groups = {
        "only in the baseline": [name for name in one if name not in other],
        "only in the new run": [name for name in other if name not in one],
        "with other content": [f"{name} was {one[name]}, is {other[name]}" for name in _differing_tasks(before, after)],
    }
    for what, names in groups.items():
        if names:
            detail = listed([one_line(name, 120) for name in names], _NAMES_SHOWN)
            yield Difference(kind="suite", what=f"{count(len(names), 'task')} {what}", detail=detail)


def _harnesses(before: Snapshot, after: Snapshot, names: Sequence[str]) -> Iterator[Difference]:
    for name in names:
        one, other = _harness(before, name), _harness(after, name)
        keys = [key for key in ("version", "id", "wire") if _differs(getattr(one, key), getattr(other, key))]
        if keys:
            same = f"still version {_value(one.version)}; " if one.version and one.version == other.version else ""
            detail = same + _told(one, other, keys, getattr)
            yield Difference(kind="harness", what=one_line(name, _VALUE_LENGTH), detail=detail)


def _endpoint(before: Answering, after: Answering) -> Iterator[Difference]:
    one: dict[str, Json] = {"model": before.model, "scripted": before.scripted, **dict(_flat(before.settings))}
    other: dict[str, Json] = {"model": after.model, "scripted": after.scripted, **dict(_flat(after.settings))}
    known = bool(before.settings and after.settings)  # of results from elsewhere the names alone are known
    compared = sorted(one.keys() | other.keys()) if known else ["model"]
    keys = [key for key in compared if _plain(one.get(key)) != _plain(other.get(key))]
    if keys:
        told = _told(one, other, keys, lambda side, key: side.get(key))
        yield Difference(kind="endpoint", what="configuration", detail=told)
    for kind in ("model", "fingerprint"):
        said = [of_kind(side.served_as, kind) for side in (before, after)]
        if all(said) and not said[0] & said[1]:
            names = [listed([one_line(each, _VALUE_LENGTH) for each in sorted(each_side)], 3) for each_side in said]
            detail = f"{kind} {names[0]} -> {names[1]}"
            yield Difference(kind="endpoint", what="what the server says of itself", detail=detail)


def _flat(settings: Mapping[str, Json], path: str = "") -> Iterator[tuple[str, Json]]:
    """Settings with the keys of inner ones after a dot."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


def _plain(value: Json) -> Json:
    return None if _blank(value) else value


def _limits(before: Snapshot, after: Snapshot) -> Iterator[Difference]:
    keys = [key for key in before.limits if _differs(before.limits[key], after.limits.get(key))]
    if keys:
        told = _told(before.limits, after.limits, keys, lambda side, key: f"{side[key]:g}")
        yield Difference(kind="limits", what="of a trial", detail=told)


def _told(one: Mapping[str, Json] | SnapshotHarness, other: Json, keys: Sequence[str], get: Callable[..., Json]) -> str:
    """What differs, with the value of the baseline and that of now."""
    return "; ".join(f"{key} {_value(get(one, key))} -> {_value(get(other, key))}" for key in keys)


def _value(value: Json) -> str:
    text = value if isinstance(value, str) else recording.dump(value).decode()
    if _HASH.fullmatch(text):
        return text[:12]
    return "unset" if _blank(value) else one_line(text, _VALUE_LENGTH)


def _refusal(refused: Sequence[Difference]) -> str:
    flags = " ".join(f"--changed {kind}" for kind in dict.fromkeys(each.kind for each in refused))
    told = "; ".join(f"{each.kind} ({each.what}: {each.detail})" for each in refused)
    return f"differs from the baseline: {told}. Make the baseline anew, or accept this with {flags}"


def _title(side: Snapshot) -> str:
    return f"{one_line(side.name, _VALUE_LENGTH)!r} ({one_line(side.created or 'undated', 40)})"
