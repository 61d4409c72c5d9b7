"""`harness-eval serve --gateway`: a gateway on its own, in front of an endpoint, for other harnesses to talk to."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, TypeAlias

import anyio
import typer

from harness_eval import study
from harness_eval.cli import options
from harness_eval.endpoints.config import EndpointConfig, open_endpoint
from harness_eval.errors import ConfigError, nearest
from harness_eval.gateway import log
from harness_eval.gateway.door import Door
from harness_eval.gateway.exchange import Exchange
from harness_eval.gateway.serving import opened
from harness_eval.reference.server import ReferenceConfig, listening
from harness_eval.reference.wire import MODEL
from harness_eval.types import Json

StudyFile: TypeAlias = Annotated[
    Path | None, typer.Argument(metavar="[STUDY.yaml]", help="With --gateway: whose endpoint.", show_default=False)
]
Gateway: TypeAlias = Annotated[
    bool, typer.Option("--gateway", help="A gateway for real harnesses in front of it, or of another endpoint.")
]
WireLog: TypeAlias = Annotated[
    Path | None, typer.Option(help="With --gateway: write each exchange here, for `diagnose` and `harness draft`.")
]
Which: TypeAlias = Annotated[str | None, typer.Option(help="With --gateway: which of the study's endpoints.")]


@dataclass(frozen=True, slots=True)
class Front:
    """What is served: an endpoint of a study, or the reference endpoint where there is none.

    `wire_log` is where exchanges are written, one a line, as `diagnose` and `harness draft` read them.
    """

    reference: ReferenceConfig
    study: study.Study | None
    endpoint: str | None
    wire_log: Path | None


def asked(file: Path | None, flags: dict[str, Json]) -> study.Study | None:
    """The study of a file or of flags, or None where neither says anything; a ConfigError if it is wrong."""
    if file is None and not any(flags.values()):
        return None
    return study.resolve(options.study_from(file, **flags))


async def run(front: Front, announce: Callable[[Door, str], None]) -> None:
    """Serve until cancelled; `announce` gets the door and the endpoint's name once it listens.

    Raises:
        ConfigError: the study has no such endpoint, the log cannot be written, or the port cannot be had.
    """
    async with AsyncExitStack() as stack:
        keep = _keeper(front.wire_log, stack)
        settings = await _settings(front, stack)
        endpoint = open_endpoint(settings)
        stack.push_async_callback(endpoint.close)
        door = await stack.enter_async_context(opened(endpoint, seed=None, limits=None, where=front.reference.port))
        door.keep = keep
        announce(door, settings.name)
        await anyio.sleep_forever()


def _keeper(path: Path | None, stack: AsyncExitStack) -> Callable[[Exchange], None]:
    if path is None:
        return lambda _: None
    try:
        file = stack.enter_context(path.open("ab"))
    except OSError as error:
        raise ConfigError(f"--wire-log {path}: {error.strerror}") from None

    def keep(exchange: Exchange) -> None:
        file.write(log.line(exchange))
        file.flush()

    return keep


async def _settings(front: Front, stack: AsyncExitStack) -> EndpointConfig:
    """How to reach what answers, started for it where it is served on this machine."""
    if front.study is None:
        if front.endpoint is not None:
            raise ConfigError("--endpoint names one of a study's, and no study is given")
        base_url = await stack.enter_async_context(listening(replace(front.reference, port=0)))
        return EndpointConfig(name="reference", model=MODEL, base_url=base_url, scripted=True)
    names = list(front.study.endpoints)
    if front.endpoint is not None and front.endpoint not in names:
        raise ConfigError(f"--endpoint {front.endpoint!r} is none of the study's; {nearest(front.endpoint, names)}")
    return await study.reach(front.study, front.endpoint or names[0], stack)
