"""Joining a Ray cluster that is there already, as the driver of a run, and leaving it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from harness_eval.cluster.node import reach_directly
from harness_eval.errors import BoundaryFailure, ConfigError, boundary
from harness_eval.study_file import ExecutorConfig

INSTALL = "pip install 'harness-eval[ray]'"
LOOPBACK = "127.0.0.1"
_START = "start one with `ray start --head`, and let other machines join it with `ray start --address HOST:6379`"
_PATIENCE = 5.0  # seconds until an address counts as one where nothing listens
_TRY_SECONDS = 15.0  # for joining in a process of its own
_TRY = "import ray, sys; ray.init(sys.argv[1], namespace='harness-eval', configure_logging=False, log_to_driver=False)"
_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",  # nodes have their own installation
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


def ray_module() -> Any:
    """Ray itself, without its statistics of usage.

    Raises:
        ConfigError: it is not installed.
    """
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        import ray  # lazy: slow import
    except ImportError:
        raise ConfigError(f"executor: ray is not installed: {INSTALL}") from None
    return ray


@asynccontextmanager
async def joined(executor: ExecutorConfig) -> AsyncIterator[str]:
    """Part of the cluster until the context ends; yields the address under which nodes reach this machine.

    A process that is part of a cluster already stays so. With the executor `local` there is nothing to join.

    Raises:
        ConfigError: Ray is not installed, or no cluster is at that address.
    """
    if executor.kind == "local":
        yield LOOPBACK
        return
    ray = ray_module()
    ours = not ray.is_initialized()
    if ours:
        _check(executor.address)
        await _try(executor.address)
        _join(ray, executor.address)
    try:
        host = str(ray.util.get_node_ip_address())
        reach_directly(host)
        yield host
    finally:
        if ours:
            ray.shutdown()


def _join(ray: Any, address: str) -> None:
    terminated = signal.getsignal(signal.SIGTERM)
    try:
        with boundary("harness"):
            ray.init(address=address, namespace="harness-eval", configure_logging=False, log_to_driver=False)
    except BoundaryFailure as failure:
        said = str(failure).partition(": ")[2].partition("\n")[0]
        raise _unjoined(address, said) from None
    finally:
        signal.signal(signal.SIGTERM, terminated)  # Ray's own way would end the process where it stands
    # What Ray's machines say of themselves would go to standard output, where results belong.
    ray._private.worker.print_to_stdstream = lambda *_, **__: None


def _unjoined(address: str, said: str) -> ConfigError:
    return ConfigError(f"executor.address: no Ray cluster can be joined at {address!r} ({said}); {_START}")


async def _try(address: str) -> None:
    """Join in another process first: where something else listens Ray tries for minutes and cannot be stopped.

    Raises:
        ConfigError: it failed, or took too long.
    """
    command = [sys.executable, "-P", "-c", _TRY, address]
    try:
        with anyio.fail_after(_TRY_SECONDS):
            done = await anyio.run_process(command, stdin=subprocess.DEVNULL, check=False)
    except TimeoutError:
        raise _unjoined(address, f"what listens there did not answer as Ray within {_TRY_SECONDS:g} s") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise _unjoined(address, said or f"exit code {done.returncode}")


def _check(address: str) -> None:
    """Refuse an address where nothing listens at once.

    Raises:
        ConfigError: nothing listens there, or it is no HOST:PORT.
    """
    named = os.environ.get("RAY_ADDRESS", "") if address == "auto" else address
    if named in ("", "auto"):
        return
    host, colon, port = named.rpartition(":")
    if not (host and colon and port.isdigit()) or "/" in host:
        raise ConfigError(f"executor.address: must be auto or the HOST:PORT of a cluster's head, not {named!r}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise ConfigError(f"executor.address: no Ray cluster answers at {named} ({error}); {_START}") from None
