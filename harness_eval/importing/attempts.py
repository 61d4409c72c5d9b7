"""What every source comes down to: attempts at tasks, one a trial, and what the user wishes to be done with them."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from harness_eval import recording
from harness_eval.errors import ConfigError, redact
from harness_eval.importing.cells import blank, shown
from harness_eval.report.wording import one_line
from harness_eval.types import Json, Lost, Owner, Trajectory, Usage

_LONGEST_NAME = 200
_LONGEST_MESSAGE = 300
_SHOWN_VALUE = 24  # characters of an argument that may stand in a harness's name


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user says about sources: names for all their trials, renamed columns (ours to theirs), choices."""

    model: str | None = None
    harness: str | None = None
    canonical: str | None = None
    scorer: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)

    def named(self) -> Wishes:
        """The same with names as they are written: on one line, and not empty.

        Raises:
            ConfigError: one is no name.
        """
        names = (self.model, self.harness, self.canonical)
        model, harness, canonical = map(_given, names, ("--model", "--harness", "--canonical"))
        return replace(self, model=model, harness=harness, canonical=canonical)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One trial of somebody else's run: a score 0..1, or a failure with its owner.

    `repeat` is None where the source does not number them. `levels` are those of its harness, by axis; `group` is the
    cluster that its task belongs to. `cost` is in the source's currency, None where it is unknown.
    """

    model: str
    harness: str
    task: str
    repeat: int | None = None
    score: float | None = None
    failure: Lost | None = None
    stop: str | None = None
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    seconds: float = 0.0
    steps: int = 0
    trajectory: Trajectory | None = None
    levels: Mapping[str, str] = field(default_factory=dict)
    suite: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What sources hold: their attempts, and remarks that a reader of the report should know."""

    attempts: tuple[Attempt, ...]
    notes: tuple[str, ...] = ()


def lost(owner: Owner, said: str) -> Lost:
    """A failure that another program told of: shortened, and without credentials."""
    return Lost(owner, redact(said)[:_LONGEST_MESSAGE])


def name_of(value: Json, where: str) -> str:
    """A name from outside on one line and without control characters.

    Raises:
        ConfigError: there is none, or it is too long to be one.
    """
    if isinstance(value, list | dict):
        raise ConfigError(f"{where}: {shown(value)} is no name")
    name = "" if blank(value) else one_line(value)
    if not name:
        raise ConfigError(f"{where}: is empty; a name is needed")
    if len(name) > _LONGEST_NAME:
        raise ConfigError(f"{where}: {shown(name)} has {len(name):,} characters; a name has at most {_LONGEST_NAME}")
    return name


def _given(name: str | None, flag: str) -> str | None:
    return None if name is None else name_of(name, flag)


def distinct_names(agents: Iterable[tuple[str, Mapping[str, Json]]]) -> dict[tuple[str, str], str]:
    """A name for each agent (its name, and the text of its arguments): arguments are added only where they differ."""
    variants: dict[str, dict[str, Mapping[str, Json]]] = defaultdict(dict)
    for name, arguments in agents:
        variants[name][text_of(arguments)] = arguments
    names: dict[tuple[str, str], str] = {}
    for name, found in variants.items():
        keys = sorted({key for each in found.values() for key in each})
        differing = [key for key in keys if len({text_of({"": each.get(key)}) for each in found.values()}) > 1]
        for text, arguments in found.items():
            told = ", ".join(f"{key}={_short(arguments[key])}" for key in differing if key in arguments)
            names[name, text] = f"{name}({told})" if told else name
    return names


def text_of(arguments: Mapping[str, Json]) -> str:
    """Arguments as one canonical text."""
    return recording.dump(dict(sorted(arguments.items()))).decode()


def digest_of(value: Json) -> str:
    """Twelve hexadecimal digits that stand for a value."""
    return hashlib.sha256(recording.dump(value)).hexdigest()[:12]


def _short(value: Json) -> str:
    text = one_line(value) if isinstance(value, str | int | float | bool | None) else ""
    return text if text and len(text) <= _SHOWN_VALUE else f"#{digest_of(value)[:6]}"
