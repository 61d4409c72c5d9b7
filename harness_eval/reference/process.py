"""The reference endpoint for other parts of the package: as a process of its own, or in the foreground."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager

import anyio

from harness_eval.endpoints.child import child_server
from harness_eval.errors import ConfigError
from harness_eval.reference.faults import FAULTS
from harness_eval.reference.server import ReferenceConfig, listening

_START_SECONDS = 60.0


def parse_couplings(given: Iterable[str]) -> dict[str, float]:
    """Strengths by name from words such as `needs-todo=0.5`; a bare name has strength 1.

    Raises:
        ConfigError: a strength that is no number. Names are checked when the couplings are made.
    """
    return {name: 1.0 if strength is None else strength for name, strength in _strengths("coupling", given)}


def parse_faults(given: Iterable[str]) -> dict[str, float]:
    """Strengths by name from words such as `rate-limited=0.5`; a bare name has the strength that is usual for it.

    Raises:
        ConfigError: a strength that is no number. Names are checked when the faults are made.
    """
    usual = {name: kind.usual for name, kind in FAULTS.items()}
    return {
        name: usual.get(name, 1.0) if strength is None else strength for name, strength in _strengths("fault", given)
    }


def _strengths(what: str, given: Iterable[str]) -> Iterator[tuple[str, float | None]]:
    for word in given:
        name, sign, strength = word.partition("=")
        try:
            yield name, float(strength) if sign else None
        except ValueError:
            raise ConfigError(f"{what} {word!r}: expected NAME=STRENGTH with a number from 0 to 1") from None


@asynccontextmanager
async def serve(config: ReferenceConfig) -> AsyncIterator[str]:
    """Serve in a process of its own until the context ends; yields the base URL.

    Raises:
        ConfigError: whatever that process says is wrong with the configuration.
    """
    config.player()  # errors are raised here, with their type, and not only told by the other process
    arguments = _arguments(config)
    async with child_server("the reference endpoint", arguments, quiet=False, patience=_START_SECONDS) as base_url:
        yield base_url


async def foreground(config: ReferenceConfig, announce: Callable[[str], None]) -> None:
    """Serve in this process until it is cancelled; `announce` is called with the base URL once it listens.

    Raises:
        ConfigError: the configuration is wrong, or the port cannot be had.
    """
    async with listening(config) as base_url:
        announce(base_url)
        await anyio.sleep_forever()


def _arguments(config: ReferenceConfig) -> list[str]:
    planted = (("--coupling", config.couplings), ("--fault", config.faults))
    flags = [word for flag, given in planted for name, by in given.items() for word in (flag, f"{name}={by}")]
    tasks = [str(folder) for folder in config.tasks]
    place = ["--host", config.host, "--port", str(config.port), "--seed", str(config.seed)]
    return ["harness_eval.reference", *place, *flags, "--tasks", *tasks]
