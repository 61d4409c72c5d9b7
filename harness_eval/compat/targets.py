"""What a matrix is asked to be made from: endpoints of runs, each trial once, and earlier documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from harness_eval import config, recording
from harness_eval.compat.document import SCHEMA, Matrix, Subject
from harness_eval.compat.subjects import digest_of, subject_of
from harness_eval.compat.versions import Measured, measured
from harness_eval.errors import ConfigError, nearest, redact
from harness_eval.report import counts, hunted
from harness_eval.report.comparison_pairing import Side, folder_and_endpoint, side_of
from harness_eval.report.outcomes import Outcome
from harness_eval.report.recorded import Recorded, read
from harness_eval.report.wording import count, one_line
from harness_eval.types import Json

_LENGTH = 100
REPORT = "report.html"


@dataclass(frozen=True)
class Part:
    """One endpoint of one run. `source` stands for the run, `place` is the endpoint's among those of the run.

    `outcomes` has its trials by harness.
    """

    source: str
    side: Side
    place: int
    subject: Subject
    harnesses: Mapping[str, Measured]
    outcomes: Mapping[str, Sequence[Outcome]]

    @property
    def study(self) -> Mapping[str, Json]:
        """study.json."""
        return self.side.recorded.study

    @cached_property
    def tasks(self) -> Mapping[str, Mapping[str, Json]]:
        """The entries of its tasks by name."""
        return self.side.named("tasks")

    @cached_property
    def name(self) -> str:
        """The run's name, for notes."""
        return one_line(redact(str(self.study.get("name") or "unnamed study")), _LENGTH)

    @cached_property
    def created(self) -> str:
        """When the run was begun; "" where that is not known."""
        return one_line(self.study.get("created") or "", _LENGTH)

    @property
    def canonical(self) -> Measured | None:
        """The harness that its others are compared with."""
        return self.harnesses.get(str(self.study.get("canonical")))

    @property
    def tried(self) -> set[str]:
        """The harnesses that it has trials of, or that cannot run there."""
        return self.outcomes.keys() | self.side.refused.keys()

    @cached_property
    def order(self) -> tuple[str, str, str]:
        """The earliest run first."""
        return self.created, self.source, str(self.side.endpoint["name"])

    @property
    def notes(self) -> list[str]:
        """What is not there of it."""
        recorded, refused = self.side.recorded, self.side.refused
        run = [outcome for outcome in self.side.outcomes if outcome.harness not in refused]
        endpoint = str(self.side.endpoint["name"])
        planned, skipped = hunted.planned(recorded, endpoint, refused, self.side.outcomes)
        owed = planned - skipped - len(run)
        notes = [f"{self.name} is unfinished: {count(owed, 'trial')} of {planned:,} not run yet."] if owed > 0 else []
        if self.study.get("adaptive"):
            notes.append(
                f"{self.name} is a hunt: its results decided which harness met further tasks. What was dropped early "
                "had good luck and met few tasks; where it ended there was bad luck."
            )
        missing = recorded.not_imported()
        return [*notes, *([f"{self.name} is unfinished: {missing}."] if missing else [])]


@dataclass(frozen=True, slots=True)
class Targets:
    """What was given; `documents` with their folders, from which their links lead."""

    parts: tuple[Part, ...]
    documents: tuple[tuple[Path, Matrix], ...]
    notes: tuple[str, ...]


def targets(given: Iterable[str]) -> Targets:
    """Read runs (RUN or RUN:ENDPOINT; without an endpoint all of them) and documents.

    The same run given twice counts once; of two states of one run the longer.

    Raises:
        ConfigError: something is neither a run nor a document that can be read.
    """
    parts: list[Part] = []
    documents = []
    for target in given:
        if Path(target).is_file():
            documents.append((Path(target).parent, document(Path(target))))
        else:
            parts += _parts(*folder_and_endpoint(target))
    best, notes = _once(parts)
    return Targets(tuple(sorted(best, key=lambda part: part.order)), tuple(documents), tuple(notes))


def document(path: Path) -> Matrix:
    """An earlier document.

    Raises:
        ConfigError: it is none, or of another schema.
    """
    try:
        data = recording.load(path.read_bytes())
    except ValueError as error:
        told = f"{path}: is not JSON: {error}; a table becomes a run by `harness-eval import`"
        raise ConfigError(told) from None
    schema = data.get("schema") if isinstance(data, Mapping) else None
    if schema != SCHEMA:
        told = one_line(f"schema {schema!r}" if schema else "no schema", _LENGTH)
        raise ConfigError(f"{path}: has {told}; a compatibility matrix that can be read here has {SCHEMA!r}")
    made = config.parse(Matrix, data, str(path))
    known = {subject.id for subject in made.subjects}
    for number, cell in enumerate(made.cells):
        if cell.subject not in known:
            raise ConfigError(f"{path}: cells.{number}.subject names none of `subjects`")
        if cell.source_trials and len(cell.source_trials) != len(cell.sources):
            raise ConfigError(f"{path}: cells.{number}.source_trials must have one number for each of `sources`")
    return made


def _parts(folder: Path, wanted: str | None) -> Iterator[Part]:
    recorded = read(folder)
    entries = recorded.named("endpoints")
    for kind in ("endpoints", "harnesses"):
        if not recorded.named(kind):
            raise ConfigError(f"{folder}: study.json names no {kind}")
    names = [entry["name"] for entry in entries]
    if wanted is not None and wanted not in names:
        raise ConfigError(f"{folder}: no endpoint {wanted!r}; {nearest(wanted, map(one_line, names))}")
    source = _identity(recorded)
    harnesses = {entry["name"]: measured(entry) for entry in recorded.named("harnesses")}
    for place, entry in enumerate(entries):
        name = entry["name"]
        if wanted in (None, name):
            side = side_of(folder, recorded, entry)
            subject = subject_of(entry, recorded.probes.get(name), bool(recorded.study.get("imported")))
            yield Part(source, side, place, subject, harnesses, counts.grouped(side.outcomes))


def _identity(recorded: Recorded) -> str:
    """What stands for a run, wherever its folder is: when it was planned and of what; of an import, its trials."""
    study = recorded.study
    imported = study.get("imported")
    if isinstance(imported, Mapping) and imported.get("digest"):
        return digest_of(["imported", imported["digest"]])
    planned = {
        "endpoints": ("name", "model", "base_url"),
        "tasks": ("name", "digest"),
        "harnesses": ("name", "version", "id", "wire"),
    }
    content = [[[each.get(key) for key in keys] for each in recorded.named(kind)] for kind, keys in planned.items()]
    return digest_of([study.get("name"), study.get("created"), study.get("seed"), content])


def _once(parts: Sequence[Part]) -> tuple[list[Part], list[str]]:
    """Each endpoint of each run once, in its longest state."""
    states: dict[tuple[str, str], list[Part]] = {}
    for part in parts:
        states.setdefault((part.source, part.side.endpoint["name"]), []).append(part)
    notes = {}
    for (source, _), same in states.items():
        if len(same) > 1:
            state = ", in its longest state" if len({len(part.side.outcomes) for part in same}) > 1 else ""
            notes[source] = f"{same[0].name} was given {len(same)} times: it counts once{state}."
    longest = [same[0] if len(same) == 1 else max(same, key=_length) for same in states.values()]
    return longest, sorted(notes.values())


def _length(part: Part) -> tuple[Json, ...]:
    outcomes = part.side.outcomes
    judged = sum(outcome.judged for outcome in outcomes)
    told = sorted((one.task, one.harness, one.repeat, repr(one.score)) for one in outcomes)
    reported = (part.side.folder / REPORT).is_file()
    return judged, len(outcomes), part.canonical is not None, digest_of(told), reported, str(part.side.folder)
