"""What the probe found before the first trial, as a run's folder keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, Field

from harness_eval import config, recording
from harness_eval.errors import ConfigError, redact
from harness_eval.types import Json

FILE = "probe.json"


class Check(BaseModel):
    """One question to the endpoint, and its answer."""

    check: str
    status: str  # yes, no or unknown
    detail: str = ""
    label: str = ""


class Void(BaseModel):
    """An axis that compares nothing at this endpoint."""

    axis: str
    reason: str = ""


class Refused(BaseModel):
    """A harness that this endpoint refuses."""

    harness: str
    reason: str = ""
    label: str = ""


class Probe(BaseModel):
    """All that was established about one endpoint; `calls` is None where they were not counted."""

    checks: list[Check] = Field(default_factory=list)
    void: list[Void] = Field(default_factory=list)
    unsupported: list[Refused] = Field(default_factory=list)
    calls: int | None = None

    def as_json(self) -> dict[str, Json]:
        """The checks, the void axes and the number of calls, without what looks like a credential."""
        return {
            "checks": [
                {"check": one.check, "status": one.status, "detail": redact(one.detail), "label": one.label}
                for one in self.checks
            ],
            "void": [{"axis": one.axis, "reason": redact(one.reason)} for one in self.void],
            "calls": self.calls,
        }


class _File(BaseModel):
    endpoints: dict[str, Probe] = Field(default_factory=dict)


def read(folder: Path) -> Mapping[str, Probe]:
    """What was found, by endpoint; nothing where no probe was made.

    Raises:
        ConfigError: the file is damaged.
    """
    path = folder / FILE
    try:
        data = recording.load(path.read_bytes())
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise ConfigError(f"{path}: is not JSON: {error}") from None
    return config.parse(_File, data, str(path)).endpoints
