"""What a user plants in the reference endpoint, by name and strength."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from harness_eval.errors import ConfigError, nearest

T = TypeVar("T")


def planted(what: str, known: Mapping[str, Callable[[float], T]], strengths: Mapping[str, float]) -> tuple[T, ...]:
    """Those of the known ones that are named, each made with its strength; `what` is the word for one of them.

    Raises:
        ConfigError: an unknown name (with the nearest known), or a strength outside of 0..1.
    """
    for name, strength in strengths.items():
        if name not in known:
            raise ConfigError(f"no {what} {name!r}; {nearest(name, known)}")
        if not 0 <= strength <= 1:
            raise ConfigError(f"{what} {name}: strength {strength:g} is outside of 0..1")
    return tuple(known[name](strength) for name, strength in strengths.items())
