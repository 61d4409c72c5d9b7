"""Rows of a matrix: which model it was, in which version, and how it was served."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from urllib.parse import urlsplit

from harness_eval import recording
from harness_eval.compat.document import Subject
from harness_eval.endpoints.named import of_kind
from harness_eval.errors import redact
from harness_eval.probing import Probe
from harness_eval.report.wording import one_line
from harness_eval.types import Json

_LENGTH = 200
_PLAIN_PROFILE = "generic"


def digest_of(value: Json) -> str:
    """Twelve hexadecimal digits that stand for a value."""
    return hashlib.sha256(recording.dump(value)).hexdigest()[:12]


def subject_of(entry: Mapping[str, Json], probe: Probe | None, imported: bool) -> Subject:
    """The row of an endpoint, from its entry in study.json and what the probe heard it call itself.

    What the entry says of `version` and `serving` goes before what was seen.
    """
    model = _told(entry.get("model")) or _told(entry["name"]) or "unnamed"
    version = _told(entry.get("version")) or _heard(probe, model)
    serving = _told(entry.get("serving")) or (None if imported else _served(entry))
    made = digest_of([model, version, serving])
    return Subject(id=made, model=model, version=version, serving=serving, scripted=bool(entry.get("scripted")))


def _told(value: Json) -> str | None:
    return one_line(redact(str(value)), _LENGTH) or None if value else None


def _heard(probe: Probe | None, model: str) -> str | None:
    """The models that replies to the probe named, where that is not the one asked for; else their fingerprints."""
    said = probe.served if probe else ()
    return _told(", ".join(sorted(of_kind(said, "model") - {model}) or sorted(of_kind(said, "fingerprint"))))


def _served(entry: Mapping[str, Json]) -> str | None:
    """Profile and host name: neither port nor path, which may differ each time or hold who asks."""
    address, profile = str(entry.get("base_url") or ""), str(entry.get("profile") or _PLAIN_PROFILE)
    try:
        host = urlsplit(address).hostname if "://" in address else address
    except ValueError:
        host = None
    known = [None if profile == _PLAIN_PROFILE else profile, host or entry.get("kind")]
    return _told(" at ".join(str(each) for each in known if each))
