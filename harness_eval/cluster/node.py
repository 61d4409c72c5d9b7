"""What a node of the cluster does: it opens boxes and endpoints once, and plays the trials that it is sent."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import tempfile
import threading
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from harness_eval.cluster.fitness import Fitness, here
from harness_eval.cluster.folders import moved, unpack
from harness_eval.cluster.limits import SharedLimit
from harness_eval.endpoints.base import Endpoint
from harness_eval.endpoints.config import EndpointConfig, open_endpoint
from harness_eval.endpoints.served import ServedEndpoint
from harness_eval.errors import BoundaryFailure, ConfigError, HarnessEvalError, boundary
from harness_eval.external.adapter import External
from harness_eval.external.installing import Installed, installed
from harness_eval.external.sharing import digest_of
from harness_eval.sandboxes import local, owner, provider
from harness_eval.sandboxes.base import SandboxProvider
from harness_eval.trial import Trial, run_trial
from harness_eval.types import Lost, Result

CLOSE_SECONDS = 60.0
"""How long a node may take to close the boxes that are open."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a node needs beside trials. `near` is the driver's address, which is reached without a proxy."""

    sandbox: str
    base_image: str | None
    endpoints: tuple[EndpointConfig, ...]
    near: str
    externals: tuple[External, ...] = ()


@dataclass(frozen=True, slots=True)
class Variables:
    """Environment variables with credentials; never shown."""

    values: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(cls, endpoints: Iterable[EndpointConfig]) -> Variables:
        """Those that these endpoints name."""
        names = {name for each in endpoints for name in (each.api_key_env, *each.headers_env.values()) if name}
        return cls({name: os.environ[name] for name in names if name in os.environ})


def reach_directly(host: str) -> None:
    """Let no proxy stand between this process and a machine of the cluster."""
    known = os.environ.get("no_proxy") or os.environ.get("NO_PROXY") or ""
    if host not in known.split(","):
        os.environ["no_proxy"] = f"{known},{host}".strip(",")


class Node:
    """One machine's part in a run; an actor of its own that nobody but the driver's end ends unasked.

    Ray kills what belongs to a driver that dies, and boxes would be left. So this outlives it, notices, closes its
    boxes and ends by itself.
    """

    def __init__(self, limits: Any, name: str) -> None:
        self._limits, self._name = limits, name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._trials: dict[int, anyio.CancelScope] = {}
        self._stopped: set[int] = set()
        self._endpoints: dict[str, Endpoint] = {}
        self._programs: dict[str, Installed] = {}
        self._boxes: SandboxProvider | None = None
        self._swept = 0
        self._closing, self._idle = asyncio.Event(), asyncio.Event()
        self._unpacking = asyncio.Lock()
        self._folder: Path | None = None
        self._stay: asyncio.Task[None] | None = None
        threading.Thread(target=self._outlive_driver, daemon=True).start()

    async def fitness(self) -> Fitness:
        """What runs here."""
        return here()

    async def open(self, setup: Setup, variables: Variables) -> str | None:
        """Get ready for trials; why that cannot be, or None. The variables are kept in this process alone."""
        self._loop = asyncio.get_running_loop()
        os.environ.update(variables.values)
        reach_directly(setup.near)
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        self._swept = await to_thread.run_sync(local.sweep)
        ready: asyncio.Future[str | None] = self._loop.create_future()
        self._stay = asyncio.create_task(self._stay_open(setup, ready))
        return await ready

    async def play(self, number: int, trial: Trial, folder: bytes | None) -> Result | None:
        """Run one trial once; None where it was stopped. `folder` is the task's, needed when it is the first here."""
        if self._closing.is_set() or number in self._stopped or self._boxes is None:
            return None
        with anyio.CancelScope() as scope:
            self._trials[number] = scope
            try:
                with boundary("sandbox"):
                    task = moved(trial.task, await self._placed(trial, folder))
                    program = self._programs.get(trial.key.harness, trial.installed)
                    trial = replace(trial, task=task, installed=program)
                return await run_trial(trial, self._endpoints[trial.key.endpoint], self._boxes)
            except HarnessEvalError as error:
                label = error.owner if isinstance(error, BoundaryFailure) else "harness"
                return Result(trial.key, trial.harness.id, failure=Lost(label, str(error)))
            finally:
                del self._trials[number]
                if self._closing.is_set() and not self._trials:
                    self._idle.set()
        return None

    async def stop(self, number: int) -> None:
        """Cancel a trial; its box is closed before `play` returns."""
        self._stopped.add(number)
        if (scope := self._trials.get(number)) is not None:
            scope.cancel()

    async def close(self) -> int:
        """Stop all trials and close everything; how much of dead runs was found and removed here."""
        self._closing.set()
        for number in list(self._trials):
            await self.stop(number)
        if self._stay is not None:
            await self._stay
        return self._swept

    async def _stay_open(self, setup: Setup, ready: asyncio.Future[str | None]) -> None:
        # One task enters and leaves what is open here, as structured concurrency wants it.
        async with AsyncExitStack() as opened:
            try:
                with boundary("sandbox"):
                    await self._open_all(setup, opened)
            except HarnessEvalError as error:
                ready.set_result(str(error))
                return
            ready.set_result(None)
            await self._closing.wait()
            if self._trials:
                await self._idle.wait()
        if self._boxes is not None:
            self._swept += self._boxes.swept

    async def _open_all(self, setup: Setup, opened: AsyncExitStack) -> None:
        options = {"base_image": setup.base_image} if setup.base_image else {}
        boxes = await to_thread.run_sync(lambda: provider(setup.sandbox, **options))
        self._programs = await to_thread.run_sync(lambda: {each.name: _here(each) for each in setup.externals})
        self._folder = Path(tempfile.mkdtemp(prefix=f"{local.PREFIX}{owner.token()}-"))
        opened.callback(shutil.rmtree, self._folder, ignore_errors=True)
        for settings in setup.endpoints:
            endpoint = open_endpoint(settings)
            opened.push_async_callback(endpoint.close)
            assert isinstance(endpoint, ServedEndpoint), "all that open_endpoint opens is behind a network"
            endpoint.limit = SharedLimit(self._limits, settings.name, self._name)
            self._endpoints[settings.name] = endpoint
        self._boxes = await opened.enter_async_context(boxes)

    async def _placed(self, trial: Trial, content: bytes | None) -> Path:
        """The task's folder on this machine."""
        assert self._folder is not None, "trials come once this is open"
        place = self._folder / trial.task.digest / trial.task.name
        async with self._unpacking:
            if not place.exists():
                assert content is not None, "the first trial of a task brings its folder"
                await to_thread.run_sync(unpack, content, place)
        return place

    def _outlive_driver(self) -> None:
        import ray  # lazy: slow import

        try:
            with suppress(ray.exceptions.RayError):
                ray.get(self._limits.outlive.remote())
            if self._loop is not None:
                asyncio.run_coroutine_threadsafe(self.close(), self._loop).result(CLOSE_SECONDS)
        finally:
            os._exit(0)


def _here(external: External) -> Installed:
    """Where an external harness is on this machine.

    Raises:
        ConfigError: it is not installed, or a folder that it shares with boxes is not the driver's.
    """
    if external.share and digest_of([Path(each) for each in external.share], external.name) != external.shared:
        raise ConfigError(f"{external.name}: share: the folders are not those of the driver")
    return installed(external)
