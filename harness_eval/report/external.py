"""What the wire showed of each external harness at one endpoint, over its trials, and what changed since its lock."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness_eval import recording
from harness_eval.errors import redact
from harness_eval.external.locked import Seen, lock_file, read_seen
from harness_eval.report.external_shown import Shown
from harness_eval.report.leading import leading
from harness_eval.report.recorded import Recorded
from harness_eval.types import Json

if TYPE_CHECKING:
    from harness_eval.stats.summary import Origin

_MOST = 12  # values of one setting, or words of one kind, that are kept
_LONGEST = 200
_FATES = ("kept", "moved", "dropped")
_SUMMED = ("all", "main", "again", "summaries", "beside", "refused", "undelivered")
_LEADING = ("worst", "mean", "spread")


def shown_by(recorded: Recorded, endpoint: str, origin: Origin, arrays: tuple[Any, Any]) -> dict[str, Json]:
    """`externals` and `families` at one endpoint; `arrays` are the scores and which of them are valid, by task, harness
    and repeat."""
    return {"externals": externals(recorded, endpoint), "families": families(recorded, origin, arrays)}


def externals(recorded: Recorded, endpoint: str) -> list[dict[str, Json]]:
    """One entry for each external harness, in the study's order. What differs between trials is a range (`least`,
    `most`) or a count of trials by value; `trials` had at least one request, `silent` had none.
    """
    harnesses = [each for each in recorded.named("harnesses") if "external" in each]
    locked = read_seen(lock_file()) if harnesses else {}
    return [
        _entry(each, list(recorded.shown.get((endpoint, each["name"]), {}).values()), locked.get(each["name"]))
        for each in harnesses
    ]


def families(recorded: Recorded, origin: Origin, arrays: tuple[Any, Any]) -> list[dict[str, Json]]:
    """WORST, MEAN, SPREAD and the lowest plain mean of the external harnesses alone, and of those of levels; empty
    without external ones.
    """
    score, valid = arrays
    harnesses = recorded.named("harnesses")
    outside = [place for place, each in enumerate(harnesses) if "external" in each]
    if not outside:
        return []
    others = [place for place in range(len(harnesses)) if place not in outside]
    found = []
    for kind, places in (("external", outside), ("levels", others)):
        run = [place for place in places if valid[:, place].any()]
        if run:
            names = [harnesses[place]["name"] for place in run]
            seed = int(recorded.study.get("seed") or 0)
            found.append({"kind": kind, **_family(origin, names, (score[:, run], valid[:, run]), seed)})
    return found


def _family(origin: Origin, names: Sequence[str], arrays: tuple[Any, Any], seed: int) -> dict[str, Json]:
    levels: list[dict[str, str] | None] = [{}, *[None] * (len(names) - 1)]  # nothing is asked of levels
    summary = replace(origin, sampled=None).summarise(*arrays, 0, levels, seed=seed)
    figures = leading(summary, names, None)
    lowest = min((one.raw for one in summary.harnesses if one.raw is not None), default=None)
    return {"harnesses": list(names), "lowest": lowest, **{key: figures[key] for key in _LEADING}}


def _entry(harness: Mapping[str, Json], every: Sequence[Shown], locked: Seen | None) -> dict[str, Json]:
    asked = [each for each in every if each.requests.all]
    tools = Counter(each.tools.hash for each in asked)
    return {
        "harness": harness["name"],
        "version": harness.get("version"),
        "versions_found": _counted(each.version_found for each in every),
        "wires": _distinct(wire for each in asked for wire in each.asked.wires),
        "trials": len(asked),
        "silent": len(every) - len(asked),
        "tools": {
            "count": _range(len(each.tools.names) for each in asked),
            "names": _distinct((name for each in asked for name in each.tools.names), 200),
            "schema_bytes": _range(each.tools.bytes for each in asked),
            "hashes": dict(tools.most_common()),
            "changed_within": sum(each.tools.changed for each in asked),
        },
        "prompt": {
            "system_chars": _range(each.prompt.system_chars for each in asked),
            "beside_chars": _range(each.prompt.beside_chars for each in asked),
            "first_request_bytes": _range(each.prompt.first_request_bytes for each in asked),
        },
        "thinking": _thinking(asked),
        "results": _results(asked),
        "requests": {name: sum(getattr(each.requests, name) for each in asked) for name in _SUMMED}
        | {"a_trial": _range(each.requests.all for each in asked)}
        | {"sides": _distinct(side for each in asked for side in each.requests.sides)},
        "compactions": sum(each.compactions for each in asked),
        "ended": _counted(each.stop for each in asked),
        "exit_codes": _counted("none" if each.exit_code is None else str(each.exit_code) for each in every),
        "turned_away": _summed(each.turned_away or {} for each in every),
        "asked": {
            "models": _distinct(model for each in asked for model in each.asked.models),
            "streamed": _range(each.asked.streamed for each in asked),
            "settings": _settings(asked),
            "untranslated": _counted(text for each in asked for text in each.asked.untranslated),
        },
        "lock": _since_locked(harness, every, list(tools), locked),
    }


def _thinking(asked: Sequence[Shown]) -> dict[str, Json]:
    """Over all trials: replies with thinking; of so many of these that later requests showed, what became of it.

    `reason` says why it is not measured, where it is not.
    """
    told = [each.thinking for each in asked]
    replies, due = sum(each.replies for each in told), sum(each.due for each in told)
    fates = {name: sum(getattr(each, name) for each in told) for name in _FATES}
    reason = None
    if not asked:
        reason = "no trial made a request"
    elif not due:
        reason = "no later request showed a reply that had thinking" if replies else "no reply had thinking"
    measured = sum(each.due > 0 for each in told)
    policy = next((name for name in _FATES if fates[name] == due), "partly") if due else "unknown"
    policies = dict(Counter(each.policy for each in told if each.due).most_common())
    return {"replies": replies, "due": due, **fates, "policy": policy} | {
        "trials": measured,
        "policies": policies,
        "reason": reason,
    }


def _results(asked: Sequence[Shown]) -> dict[str, Json]:
    told = [each.results for each in asked]
    together = [each.together for each in told if each.together is not None]
    return {
        **{name: sum(getattr(each, name) for each in told) for name in ("shown", "shortened", "failed", "never_shown")},
        "longest_chars": max((each.longest_chars for each in told), default=0),
        "most_calls": max((each.most_calls for each in told), default=0),
        "together": all(together) if together else None,
    }


def _settings(asked: Sequence[Shown]) -> dict[str, list[Json]]:
    """What was asked of sampling and thinking: the values of each key over all trials."""
    found: dict[str, dict[bytes, Json]] = {}
    for each in asked:
        for key, value in (each.asked.settings or {}).items():
            found.setdefault(key, {}).setdefault(recording.dump(value), value)
    return {key: list(values.values())[:_MOST] for key, values in sorted(found.items())}


def _since_locked(
    harness: Mapping[str, Json], every: Sequence[Shown], hashes: Sequence[str], locked: Seen | None
) -> dict[str, Json]:
    """What changed since it was locked, in words; `state` is changed, same, or why nothing is known."""
    version = str(harness.get("version") or "")
    if locked is None:
        state = "not-locked"
    elif locked.version != version:
        state = "other-version"
    elif locked.id != harness.get("id"):
        state = "other-adapter"
    else:
        state = "same" if hashes else "no-request"
    words = list(_odd(version, every, hashes))
    if locked is not None and state == "same" and (other := [one for one in hashes if one != locked.tools]):
        now = sorted({len(each.tools.names) for each in every if each.tools.hash in other})
        numbers = f"{locked.tool_count} then, {' or '.join(map(str, now))} now"
        words.append(f"the tools it offers changed since it was locked ({numbers}), without a new version")
    return {"state": "changed" if words else state, "version": locked.version if locked else None, "changes": words}


def _odd(version: str, every: Sequence[Shown], hashes: Sequence[str]) -> Iterator[str]:
    found = _distinct(each.version_found for each in every if each.version_found)
    if other := [one for one in found if version.removeprefix("v") not in one]:
        yield f"says that its version is {other[0]}, not {version}"
    if len(hashes) > 1:
        yield f"offered {len(hashes)} different sets of tools in its trials"


def tools_of(recorded: Recorded, endpoint: str, harness: str) -> str | None:
    """A hash over the tools that an external harness offered in its trials; None where none is known."""
    every = recorded.shown.get((endpoint, harness), {}).values()
    hashes = sorted({each.tools.hash for each in every if each.requests.all})
    if not any(hashes):
        return None
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("+".join(hashes).encode()).hexdigest()[:16]


def _range(values: Iterable[float]) -> dict[str, Json]:
    known = list(values)
    return {"least": min(known, default=None), "most": max(known, default=None)}


def _distinct(values: Iterable[str], most: int = _MOST) -> list[str]:
    return [_told(value) for value in list(dict.fromkeys(values))[:most]]


def _counted(values: Iterable[str]) -> dict[str, int]:
    return {_told(value): number for value, number in Counter(values).most_common(_MOST) if value}


def _summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return {_told(key): number for key, number in total.most_common(_MOST)}


def _told(text: str) -> str:
    return redact(text)[:_LONGEST]
