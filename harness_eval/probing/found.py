"""What a probe found, as records, as the file `probe.json` of a run's folder, and in a few lines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from harness_eval import recording
from harness_eval.diagnosis.labels import LABELS
from harness_eval.endpoints.probe import Check
from harness_eval.endpoints.probe.check import number_of
from harness_eval.errors import ConfigError
from harness_eval.types import Json, Usage

FILE = "probe.json"
_OF_THE_CELL = ("harness", "serving", "gateway")  # an empty account, the provider's, stops no single harness
_OF_THE_ENDPOINT = "infra.not_openai_shape"  # nor does what stops them all: the endpoint is down then


def impossible(label: str) -> bool:
    """Whether a failure of this label means that its harness, and not the whole endpoint, cannot go on here."""
    known = LABELS.get(label)
    if known is None or label == _OF_THE_ENDPOINT:
        return False
    return known.effect == "config_abort" and known.owner in _OF_THE_CELL


@dataclass(frozen=True, slots=True)
class Void:
    """An axis that compares nothing at this endpoint, and why; `but` names levels that make a difference still."""

    axis: str
    reason: str
    but: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A harness that cannot run at this endpoint, why, and the label of that."""

    harness: str
    reason: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Probe:
    """All that was found out about one endpoint with `calls` calls, of `bound` at most.

    `cost` is in dollars, None where no price is known. `served` has the models and fingerprints that replies named.
    """

    model: str
    checks: tuple[Check, ...]
    void: tuple[Void, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()
    calls: int = 0
    bound: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    served: tuple[str, ...] = ()

    @property
    def settled(self) -> bool:
        """Whether anything was established; otherwise it is worth asking again."""
        return any(check.status != "unknown" for check in self.checks)

    def status(self, check: str) -> str:
        """What a check found; unknown where it was not made."""
        return next((each.status for each in self.checks if each.check == check), "unknown")


_PROBES = TypeAdapter(dict[str, Probe])


def as_record(probes: Mapping[str, Probe]) -> dict[str, Json]:
    """The probes as `probe.json` holds them, by endpoint."""
    return {"endpoints": dict(probes)}


def write(folder: Path, probes: Mapping[str, Probe]) -> None:
    """Put `probe.json` into a run's folder, whole or not at all."""
    temporary = folder / f".{FILE}.{os.getpid()}"
    temporary.write_bytes(recording.dump(as_record(probes), pretty=True))
    temporary.replace(folder / FILE)


def read(folder: Path) -> dict[str, Probe]:
    """The probes of a run's folder by endpoint; none where there is no such file.

    Raises:
        ConfigError: the file is damaged.
    """
    path = folder / FILE
    try:
        return _PROBES.validate_python(recording.load(path.read_bytes())["endpoints"])
    except FileNotFoundError:
        return {}
    except (ValidationError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{path}: is damaged ({type(error).__name__}); remove it to have the probe made anew"
        ) from None


def in_words(name: str, probe: Probe, harnesses: int) -> list[str]:
    """What a run should say of a probe of so many harnesses: how much it took, and what is not as one would want."""
    if not probe.settled:
        return [f"probe of {name}: nothing could be established; {probe.checks[0].detail}"]
    unwanted = [check for check in probe.checks if check.status != "yes"]
    borne = [check for check in probe.checks if check.status == "yes" and check.label.startswith("ok.")]
    price = "" if probe.cost is None else f", ${probe.cost:.2f}"
    spent = f"{number_of(probe.calls, 'call')}, {probe.usage.total:,} tokens{price}"
    wanted = len(probe.checks) - len(unwanted)
    lines = [f"probe of {name}: {wanted} of {len(probe.checks)} checks are as wanted ({spent})"]
    told = [
        check for check in (*unwanted, *borne) if check.check != "harnesses" or not probe.unsupported
    ]  # these stand below
    lines += [f"  {check.check}: {check.status}; {check.detail}{_bracketed(check.label)}" for check in told]
    lines += [f"  {void.reason}" for void in probe.void]
    if probe.unsupported:
        lines.append(f"  {len(probe.unsupported)} of {number_of(harnesses, 'harness', 'harnesses')} cannot run here:")
        lines += [f"    {line}" for line in by_reason(probe.unsupported)]
    return lines


def by_reason(unsupported: Iterable[Unsupported]) -> list[str]:
    """A line for each reason, with all harnesses that share it."""
    shared: dict[tuple[str, str], list[str]] = {}
    for each in unsupported:
        shared.setdefault((each.reason, each.label), []).append(each.harness)
    return [f"{', '.join(names)}: {reason}{_bracketed(label)}" for (reason, label), names in shared.items()]


def _bracketed(label: str) -> str:
    return f" [{label}]" if label else ""
