"""Where in a report's page something stands, for links from elsewhere."""

from __future__ import annotations

import hashlib
import re

_PLAIN = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,58}[a-z0-9])?")


def endpoint_anchor(place: int) -> str:
    """The part of the endpoint at this place among those of the run."""
    return f"endpoint-{place}"


def harness_anchor(place: int, name: str) -> str:
    """The row of a harness there; a name that is not plain stands in it readably, and unique through its hash."""
    if not _PLAIN.fullmatch(name):
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        name = f"{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')[:40]}.{digest}"
    return f"{endpoint_anchor(place)}-harness-{name}"
