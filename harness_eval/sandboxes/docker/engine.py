"""The way to a Docker engine."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from harness_eval.errors import SandboxFailure

if TYPE_CHECKING:
    from docker import DockerClient

_TIMEOUT = 120  # seconds in which the engine must answer; it may be busy with many boxes


def connect() -> DockerClient:
    """A client of the engine; a DockerException or an OSError if none answers, or `DOCKER_HOST` is no address."""
    import docker  # lazy: slow import
    from docker.constants import DEFAULT_UNIX_SOCKET  # lazy: slow import

    try:
        _require_listening(os.environ.get("DOCKER_HOST") or DEFAULT_UNIX_SOCKET)
        return docker.from_env(timeout=_TIMEOUT)
    except (ValueError, OverflowError) as error:
        raise docker.errors.DockerException(f"DOCKER_HOST is no address: {error}") from error


def _require_listening(address: str) -> None:
    """An OSError if nothing listens at a local address; asked first, since docker would leave a socket open."""
    scheme, _, rest = address.partition("://")
    path = f"/{rest.lstrip('/')}"
    if scheme.endswith("unix"):
        with socket.socket(socket.AF_UNIX) as trial:
            try:
                trial.connect(path)
            except OSError as error:
                raise OSError(f"none listens at {path}: {error.strerror or error}") from error


@contextmanager
def engine() -> Iterator[None]:
    """Turn what the engine, or the way to it, raises into a SandboxFailure."""
    from docker.errors import DockerException  # lazy: slow import

    try:
        yield
    except (DockerException, OSError) as error:
        raise SandboxFailure(f"the Docker engine: {error}") from error


def taken(stream: Any) -> socket.socket:
    """The socket under an attached stream, non-blocking and ours: the response would close its own when collected."""
    sock: socket.socket = stream._sock.dup()
    stream._response.close()
    sock.setblocking(False)
    return sock
