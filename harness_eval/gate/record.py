"""The gate without an endpoint: a recorded run under today's harnesses, and whom a change of one would reach.

A change passes unseen only where it has a new version: then the record is one of another harness, and is made anew.
"""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness_eval import __version__, replaying, store
from harness_eval.axes.truncation import Truncation
from harness_eval.errors import ConfigError, listed, nearest, redact
from harness_eval.gate.checking import exit_code
from harness_eval.gate.document import Check, Figure, Question, Side, Trials, Verdict
from harness_eval.gate.document import Difference as Changed
from harness_eval.harness import Harness, load_harness, named_harnesses
from harness_eval.report.wording import count, one_line
from harness_eval.rerun import Verdicts
from harness_eval.store import Row
from harness_eval.types import Json, Trajectory, TrialKey

_SHOWN, _NAME = 3, 80  # harnesses or trials named in one sentence, and characters of a name
_CELL, _LONGEST = 240, 1_000  # characters of one difference, and of all that is said of a harness
_SENT = frozenset({"harness", "system", "notes", "summary", "request"})


@dataclass(frozen=True, slots=True)
class Impact:
    """What has become of one harness since it was recorded.

    `told` is what is another of the harness itself; `trials` were compared, `sent` of them would send something else,
    `read` would only be read otherwise; `first` is the first difference of any of them. All that follows the results of
    tools as they were recorded: `recut` of the trials hold one that may now be cut otherwise.
    """

    name: str
    was: str | None
    now: str | None
    told: tuple[str, ...]
    trials: int
    sent: int
    read: int
    recut: int
    first: tuple[TrialKey, replaying.Difference] | None

    @property
    def verdict(self) -> Verdict:
        """A change passes for none only with a new version."""
        if not (self.told or self.sent or self.read):
            return "pass"
        return "inconclusive" if self.now is not None and self.now != self.was else "fail"

    @property
    def summary(self) -> str:
        """Whom the change reaches, and where first."""
        reached = f"{self.sent:,} of {count(self.trials, 'recorded trial')} would send something else"
        reached += " after the same results of tools" if self.told and self.sent < self.trials else ""
        reached += f", {self.read:,} would be read otherwise" if self.read else ""
        if self.recut:
            reached += f", {self.recut:,} had results that may be cut otherwise, which only a new run tells"
        parts = [self._version(), *self.told, reached]
        if self.first is not None:
            key, difference = self.first
            turn = f", turn {difference.turn}" if difference.turn else ""
            parts.append(f"first {_place(key)}{turn}, {difference.part}: {difference.detail[:_CELL]}")
        return one_line(redact("; ".join(parts)), _LONGEST)

    def _version(self) -> str:
        if self.now is None:
            return f"version {self.was} cannot be built today"
        return f"its version is still {self.now}" if self.was == self.now else f"version {self.was} is now {self.now}"


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recorded run against today's harnesses: each of them, the trials that are as they were, and those that tell
    nothing: of no harness of the study, or without a record."""

    folder: Path
    study: Mapping[str, Json]
    impacts: tuple[Impact, ...]
    same: frozenset[TrialKey]
    silent: int
    as_recorded: tuple[str, ...] = ()  # harnesses of files that were not given, so that nothing of them can differ


def today(study: Mapping[str, Json], files: Sequence[str]) -> dict[str, Harness | str]:
    """The harnesses of a recorded study as they are today, by name: as in one of these files, else as it travels with
    the package, else as recorded, under today's code; where one cannot be built, the reason.

    Raises:
        ConfigError: a file holds no harness, or one that was not recorded.
    """
    recorded, named = replaying.rebuilt(study), named_harnesses()
    given = {harness.name: harness for harness in map(load_harness, files)}
    for name in given:
        if name not in recorded:
            raise ConfigError(f"--harness: no harness {name!r} was recorded; {nearest(name, recorded)}")
    return {
        name: given.get(name) or (load_harness(name) if name in named else harness)
        for name, harness in recorded.items()
    }


def unfollowed(study: Mapping[str, Json], files: Sequence[str]) -> tuple[str, ...]:
    """The harnesses of a recorded study that neither travel with the package nor are in one of these files.

    None where the study drew on a family, whose harnesses have no files.
    """
    if study.get("family"):
        return ()
    known = {*named_harnesses(), *(load_harness(file).name for file in files)}
    own = [str(entry["name"]) for entry in study["harnesses"] if "external" not in entry]
    return tuple(name for name in own if name not in known)


def compare(folder: Path, study: Mapping[str, Json], harnesses: Mapping[str, Harness | str]) -> Recorded:
    """Derive every recorded trial again. Takes time as all requests of the run are long.

    Raises:
        ConfigError: nothing is recorded that could be compared, or a record is damaged.
    """
    keys: list[TrialKey] = []
    checked = replaying.check(folder, _seen(store.latest(folder), keys), harnesses)
    if checked.empty:
        raise ConfigError(f"{folder}: nothing is recorded of its trials that could be compared")
    differing: dict[TrialKey, list[replaying.Difference]] = {}
    for key, difference in checked.differences:
        differing.setdefault(key, []).append(difference)
    entries = {str(each["name"]): each for each in study["harnesses"]}
    recorded = replaying.rebuilt(study)
    impacts = tuple(
        _impact(entries[name], harness, keys, differing, _recut(folder, keys, recorded[name], harness))
        for name, harness in harnesses.items()
        if harness != replaying.EXTERNAL
    )
    silent = checked.strangers + checked.without_record + checked.external
    derived = {key for key in keys if harnesses.get(key.harness) != replaying.EXTERNAL}
    return Recorded(folder, study, impacts, frozenset(derived - differing.keys()), silent)


def _seen(rows: Iterable[Row], keys: list[TrialKey]) -> Iterator[Row]:
    for row in rows:
        keys.append(store.key_of(row))
        yield row


def _impact(
    entry: Mapping[str, Json],
    harness: Harness | str,
    keys: Iterable[TrialKey],
    differing: Mapping[TrialKey, Sequence[replaying.Difference]],
    recut: int,
) -> Impact:
    name = str(entry["name"])
    own = {key: parts for key, parts in differing.items() if key.harness == name}
    sent = sum(any(part.part in _SENT for part in parts) for parts in own.values())
    first = next(((key, parts[0]) for key, parts in own.items()), None)
    was = None if entry.get("version") is None else str(entry["version"])
    told = [harness] if isinstance(harness, str) else replaying.wire_changes(entry, harness)
    now = None if isinstance(harness, str) else harness.version
    trials = sum(key.harness == name for key in keys)
    return Impact(name, was, now, tuple(told), trials, sent, len(own) - sent, recut, first)


def _recut(folder: Path, keys: Iterable[TrialKey], was: Harness | str, now: Harness | str) -> int:
    """How many trials hold a result that was cut, or would be. Only what was shown of a result is recorded, so that of
    one that was cut it cannot be told what another level would show."""
    if isinstance(was, str) or isinstance(now, str) or was.truncation == now.truncation:
        return 0
    records = (store.read_trajectory(folder, key) for key in keys if key.harness == now.name)
    return sum(record is not None and _may_be_cut(record, now.truncation) for record in records)


def _may_be_cut(record: Trajectory, level: Truncation) -> bool:
    seen = (each for step in record.steps for each in step.observations)
    return any(len(each.shown) != each.full_length or level.cut(each.shown) != each.shown for each in seen)


def judged(found: Recorded, again: Verdicts | None = None, release: bool = False) -> Check:
    """The check that a record makes. `again` are its trials judged once more; `release` fails what is undecided."""
    verdict, said = _verdict(found, again), _said(found, again)
    question = Question(asked="record", verdict=verdict, said=said, before=Figure(), after=Figure(), change=Figure())
    lost = Counter(row["failure"]["owner"] for row in again.lost) if again else Counter[str]()
    changed = [each for each in found.impacts if each.verdict != "pass"]
    meant = found.impacts if lost else changed or found.impacts
    trials, silent = sum(each.trials for each in meant), found.silent
    now = {"harness-eval": __version__, "python": platform.python_version()}
    return Check(
        verdict=verdict,
        exit_code=exit_code(verdict, release),
        said=said,
        harness=_names(meant),
        before=_side(found.study, dict(found.study.get("versions") or {})),
        after=_side({**found.study, "name": "today", "created": None}, now),
        questions=(question,),
        decision=None,
        changed=tuple(
            Changed(kind="harness", what=one_line(each.name, _NAME), detail=each.summary) for each in changed
        ),
        trials=Trials(most=trials + silent, judged=trials - lost.total(), lost=lost.total(), missing=silent),
        lost=dict(lost),
        notes=tuple(_notes(found, again)),
        checked_by=f"harness-eval {__version__}",
    )


def _verdict(found: Recorded, again: Verdicts | None) -> Verdict:
    verdicts = {each.verdict for each in found.impacts}
    if "fail" in verdicts or (again is not None and again.differ):
        return "fail"
    if again is not None and again.lost:
        return "incomplete"
    return "inconclusive" if "inconclusive" in verdicts else "pass"


def _names(harnesses: Sequence[Impact]) -> str:
    return listed([one_line(each.name, _NAME) for each in harnesses], _SHOWN)


def _said(found: Recorded, again: Verdicts | None) -> str:
    trials = sum(each.trials for each in found.impacts)
    parts = []
    for verdict, words in (
        ("fail", "changed what a model receives without a new version (raise it and record anew, or take that back)"),
        ("inconclusive", "changed with a new version, so record anew"),
    ):
        meant = [each for each in found.impacts if each.verdict == verdict]
        parts += [f"{_names(meant)} {words}"] if meant else []
    same = f"{len(found.same):,} of {count(trials, 'recorded trial')} of {count(len(found.impacts), 'harness')}"
    parts.append(f"{same} are derived as they were")
    if again is not None:
        parts.append(f"{again.same:,} verdicts are as recorded and {len(again.changed):,} changed")
        if again.lost:
            parts.append(f"{count(len(again.lost), 'trial')} lost when run again")
    return "; ".join(parts)


def _side(study: Mapping[str, Json], versions: Mapping[str, str]) -> Side:
    endpoints = study.get("endpoints") or [{}]
    names, models = ([str(each.get(key) or "unknown") for each in endpoints] for key in ("name", "model"))
    repeats = max(int(study.get("repeats") or 0), int(study.get("canonical_repeats") or 0))
    return Side(
        name=str(study.get("name") or "unnamed study"),
        created=study.get("created"),
        endpoint=listed(names, _SHOWN),
        model=listed(models, _SHOWN),
        scripted=all(bool(each.get("scripted")) for each in endpoints),
        versions={str(name): str(version) for name, version in versions.items()},
        tasks=len(study.get("tasks") or ()),
        repeats=repeats,
    )


def _notes(found: Recorded, again: Verdicts | None) -> Iterator[str]:
    version = (found.study.get("versions") or {}).get("harness-eval")
    if version != __version__:
        yield one_line(f"recorded by harness-eval {version}, this is {__version__}")
    for each in found.impacts:
        if each.verdict == "pass" and each.was != each.now:
            yield one_line(
                f"{_names([each])}: version {each.was} is now {each.now}, and nothing that was recorded differs"
            )
        if not each.trials:
            yield one_line(f"{_names([each])}: none of its trials is recorded")
    if found.as_recorded:
        names = listed([one_line(name, _NAME) for name in found.as_recorded], _SHOWN)
        yield f"{names}: held against the record's own copy; name the file of today with --harness"
    if found.silent:
        yield f"{count(found.silent, 'trial')} without a record, or of an external or unknown harness, tell nothing"
    for changed in again.changed[:_SHOWN] if again else ():
        yield one_line(f"{_place(changed.key)}: the score was {changed.was}, now {changed.now}")
    for row in again.lost[:_SHOWN] if again else ():
        yield one_line(f"{_place(store.key_of(row))} is lost when run again: {row['failure']['message']}", _CELL)


def _place(key: TrialKey) -> str:
    return "/".join(one_line(part, _NAME) for part in (key.task, key.harness, key.endpoint, key.repeat))
