"""A recorded trial under today's code: each request derived again from the record, each reply read again.

Nothing runs and nothing is asked. What is compared: the system prompt; what the harness says between the turns; the
hash of each request; what each reply is taken for; where a trial counts as finished; what a summary covers. Each is
derived from the events as they were recorded, so that one difference does not bring others after it. Only hashes of
requests are recorded, so of a request that differs the cause can be narrowed down but not shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from harness_eval import recording, store
from harness_eval.agent import summary_of, summary_view
from harness_eval.axes.stopping import Stop
from harness_eval.dialogue import requests_of, wire_hash
from harness_eval.errors import ConfigError, HarnessEvalError, boundary
from harness_eval.harness import Harness, load_harness, make_harness, named_harnesses
from harness_eval.types import Compaction, Event, Json, Note, Reply, Request, Step, StopReason, Trajectory, TrialKey

Part = Literal["harness", "system", "notes", "summary", "request", "action", "stop"]
EXTERNAL = "it is an external harness: what it sends is its own, and nothing of it is derived"
_SHOWN = 60  # characters of a text that differs


@dataclass(frozen=True, slots=True)
class Difference:
    """What of a trial is not as it was recorded.

    `turn` counts from 1 and is the first that differs, 0 where the whole trial does; in `later` more turns the same
    part differs.
    """

    part: Part
    turn: int
    detail: str
    later: int = 0


@dataclass(slots=True)
class Compared:
    """One trial: how many requests were derived again and how many replies read again, what was not kept, and what
    differs, each part once."""

    requests: int = 0
    replies: int = 0
    unkept: int = 0
    parts: dict[Part, Difference] = field(default_factory=dict)

    @property
    def differences(self) -> tuple[Difference, ...]:
        """What differs, in the order in which it was met."""
        return tuple(self.parts.values())

    def add(self, part: Part, turn: int, detail: str) -> None:
        """Keep the first difference of a part, and count the later ones."""
        known = self.parts.get(part)
        self.parts[part] = (
            Difference(part, turn, detail)
            if known is None
            else Difference(part, known.turn, known.detail, known.later + 1)
        )


@dataclass(slots=True)
class Checked:
    """A whole run: trials compared, those of them that differ, those without a record, and what was compared.

    `strangers` are trials of no harness of this study, `external` those of which nothing is derived; `recovered` are
    trials that were also read on from a leaked call, of which only the strict reading is compared.
    """

    trials: int = 0
    differing: int = 0
    without_record: int = 0
    strangers: int = 0
    external: int = 0
    recovered: int = 0
    requests: int = 0
    replies: int = 0
    unkept: int = 0
    differences: list[tuple[TrialKey, Difference]] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        """Whether nothing was recorded that could be compared."""
        return not (self.requests or self.replies or self.differences)

    def add(self, key: TrialKey, found: Compared) -> None:
        """Count one trial; at most one difference of each part is kept of it."""
        self.trials += 1
        self.differing += bool(found.parts)
        self.requests += found.requests
        self.replies += found.replies
        self.unkept += found.unkept
        self.differences += [(key, difference) for difference in found.differences]


def check(folder: Path, rows: Iterable[store.Row], harnesses: Mapping[str, Harness | str]) -> Checked:
    """Compare the trials of these lines of results.jsonl, one in memory at a time.

    Raises:
        ConfigError: a record is damaged; names its file.
    """
    total = Checked()
    for row in rows:
        key = store.key_of(row)
        harness = harnesses.get(key.harness)
        record = store.read_trajectory(folder, key)
        total.recovered += row.get("recovered") is not None
        if harness is None:
            total.strangers += 1
        elif harness == EXTERNAL:
            total.external += 1
        elif record is None:
            total.without_record += 1
        else:
            total.add(key, compare(harness, record) if isinstance(harness, Harness) else _unbuilt(harness))
    return total


def _unbuilt(reason: str) -> Compared:
    found = Compared()
    found.add("harness", 0, reason)
    return found


def rebuilt(study: Mapping[str, Json]) -> dict[str, Harness | str]:
    """The harnesses of a recorded study as today's code has them, by name; where one cannot be, the reason.

    Raises:
        ConfigError: the study holds no harnesses.
    """
    records = study.get("harnesses")
    named = isinstance(records, list) and all(isinstance(e, dict) and isinstance(e.get("name"), str) for e in records)
    if not isinstance(records, list) or not named:
        raise ConfigError("study.json: harnesses: a list of recorded harnesses is wanted")
    return {each["name"]: _rebuilt(each) for each in records}


def _rebuilt(record: Mapping[str, Json]) -> Harness | str:
    spec = record.get("spec")
    if "external" in record:
        return EXTERNAL
    if not isinstance(spec, dict):
        return f"harness {record['name']}: its levels were not recorded"
    try:
        return make_harness(spec, f"harness {record['name']}")
    except ConfigError as error:
        return str(error)


def changes(study: Mapping[str, Json], harnesses: Mapping[str, Harness | str]) -> dict[str, tuple[str, ...]]:
    """What has become of the harnesses since they were recorded, by name: those that are as they were are left out."""
    recorded = {each["name"]: each for each in study["harnesses"]}
    named = named_harnesses()
    found = {}
    for name, harness in harnesses.items():
        if harness == EXTERNAL:
            continue
        told = [harness] if isinstance(harness, str) else wire_changes(recorded[name], harness)
        if name in named and (today := load_harness(name)).version != recorded[name].get("version"):
            told.append(f"version {recorded[name].get('version')} was recorded, today's is {today.version}")
        if told:
            found[name] = tuple(told)
    return found


def wire_changes(record: Mapping[str, Json], harness: Harness) -> list[str]:
    """How what a model receives from a harness, in the fixed dialogue, is not what was recorded of it; a line each."""
    was, now = str(record.get("wire")), wire_hash(requests_of(harness))
    told = [] if was == now else [f"what a model receives from it has changed: wire {was[:12]}, now {now[:12]}"]
    return told if record.get("id") == harness.id else [f"its id is {harness.id} today, {record.get('id')} then", *told]


def compare(harness: Harness, record: Trajectory) -> Compared:
    """Walk a record from its first event to its last under this harness; takes time as all its requests are long."""
    found = Compared()
    if harness.system != record.system:
        found.add("system", 0, differing(record.system, harness.system))
    turn, begins, events = 1, 0, list[Event]()  # where the events of this turn begin, and all before this one
    for event in record.events:
        if not isinstance(event, Note):
            before = Trajectory(record.system, record.prompt, tuple(events))
            _compare_asked(found, harness, before, event, turn)
            if isinstance(event, Step):
                _compare_said(found, harness, before, begins, turn)
                turn, begins = turn + 1, len(events) + 1
        events.append(exact(harness, event))
    if turn > 1:
        _compare_stop(found, harness, record, begins, turn - 1)
    return found


def exact(harness: Harness, event: Event) -> Event:
    """A step with its action as it was: JSON keeps no NaN and no infinity, which a request can hold as text."""
    if not isinstance(event, Step) or event.reply is None:
        return event
    with suppress(HarnessEvalError), boundary("harness"):
        action = harness.decode(event.reply)
        if recording.dump(action) == recording.dump(event.action):
            return replace(event, action=action)
    return event


@contextmanager
def _into(found: Compared, part: Part, turn: int) -> Iterator[None]:
    """What cannot be derived at all is a difference too."""
    try:
        with boundary("harness"):
            yield
    except HarnessEvalError as error:
        found.add(part, turn, f"cannot be derived: {error}")


def _compare_asked(found: Compared, harness: Harness, before: Trajectory, event: Step | Compaction, turn: int) -> None:
    """The request that brought this event, and what its reply means."""
    found.requests += bool(event.digest)
    found.replies += event.reply is not None
    found.unkept += event.reply is None
    with _into(found, "request", turn):
        request = requested(harness, before, event)
        if event.digest and (digest := request.digest) != event.digest:
            hashes = f"{event.digest[:12]}, now {digest[:12]}, of {len(request.messages)} messages"
            found.add("request", turn, f"{hashes}; {_cause(event, turn)}")
    part: Part = "action" if isinstance(event, Step) else "summary"
    with _into(found, part, turn):
        told = _misread(harness, event, event.reply) if event.reply is not None else ""
        if isinstance(event, Compaction) and (covers := harness.context.covers(before)) != event.covers:
            told = f"covers {event.covers} events, now {covers}"
        if told:
            found.add(part, turn, told)


def requested(harness: Harness, before: Trajectory, event: Step | Compaction) -> Request:
    """The request to which this event was the answer, where the record had come so far."""
    return harness.encode(summary_view(harness, before) if isinstance(event, Compaction) else harness.view(before))


def _cause(event: Step | Compaction, turn: int) -> str:
    """What can be said of a request that differs, of which only the hash is known."""
    if isinstance(event, Compaction):
        return "how a summary is asked for, or how history is shown"
    return "tools, options or the first messages" if turn == 1 else "how the turns before it are shown"


def _misread(harness: Harness, event: Step | Compaction, reply: Reply) -> str:
    """How what is read in a reply differs from what was; "" where it does not."""
    if isinstance(event, Compaction):
        return differing(event.notes, summary_of(reply))
    was, now = (recording.dump(action).decode() for action in (event.action, harness.decode(reply)))
    return differing(was, now)


def _compare_said(found: Compared, harness: Harness, before: Trajectory, begins: int, turn: int) -> None:
    """What the harness said between the step before and this one."""
    recorded = [event for event in before.events[begins:] if isinstance(event, Note)]
    record = Trajectory(before.system, before.prompt, before.events[:begins])
    with _into(found, "notes", turn):
        verdict = harness.stopping.judge(record) if record.events else None
        if verdict is Stop.FINISHED:
            found.add("stop", turn - 1, "went on, would now be finished")
            return
        said = [verdict] if isinstance(verdict, Note) else []
        said += harness.notes(record.append(*said))
        if said != recorded:
            was, now = (" / ".join(f"{note.role}: {note.text}" for note in notes) for notes in (recorded, said))
            found.add("notes", turn, differing(was, now) or "of another kind")


def _compare_stop(found: Compared, harness: Harness, record: Trajectory, ends: int, turn: int) -> None:
    """Whether the last step still is, or is not, the end of the work."""
    with _into(found, "stop", turn):
        last = Trajectory(record.system, record.prompt, record.events[:ends])
        finished = harness.stopping.judge(last) is Stop.FINISHED
        if finished != (record.stop is StopReason.FINISHED):
            found.add("stop", turn, f"{record.stop or 'cut off'}, would now {'' if finished else 'not '}be finished")


def differing(was: str, now: str) -> str:
    """Two texts from shortly before the first character in which they differ; "" where they are equal."""
    if was == now:
        return ""
    place = next((i for i, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)))
    start = max(0, place - _SHOWN // 3)
    dots = "..." if start else ""
    return f"{dots}{was[start : start + _SHOWN]!r}, now {dots}{now[start : start + _SHOWN]!r}"
