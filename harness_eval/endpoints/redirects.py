"""Where a redirect leads. None is followed: the key, and headers that are secrets, would go along to another host."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

_LONGEST = 100  # characters


def advice(headers: Mapping[str, str]) -> str:
    """What to do about a redirect with these headers (names in lower case); it repeats no credentials and no query."""
    location = headers.get("location") or ""
    try:
        parts = urlsplit(location.strip())
        host, port = parts.hostname or "", f":{parts.port}" if parts.port else ""
    except ValueError:
        return "redirects to an address that is none"
    if not location.strip():
        return "redirects, and does not say where to"
    if not host:
        return "redirects to another path of the same server"
    if parts.scheme not in ("http", "https", "") or not re.fullmatch(r"[\w.:-]+", host):
        return "redirects to an address that is none"
    where = f"[{host}]" if ":" in host else host
    return f"redirects to {parts.scheme or 'https'}://{where[:_LONGEST]}{port}; give that as base_url"
