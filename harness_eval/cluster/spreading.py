"""The driver's side: which node plays a trial, and what becomes of it when the node is lost."""

from __future__ import annotations

import asyncio
import itertools
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio import to_thread

from harness_eval.cluster.fitness import here
from harness_eval.cluster.folders import packed
from harness_eval.cluster.joining import ray_module
from harness_eval.cluster.limits import Limits
from harness_eval.cluster.node import CLOSE_SECONDS, Node, Setup, Variables
from harness_eval.endpoints.base import Endpoint
from harness_eval.endpoints.transport import is_local
from harness_eval.errors import ConfigError, redact
from harness_eval.sandboxes.base import SandboxProvider
from harness_eval.trial import Trial
from harness_eval.types import Json, Lost, Result

_MOVES = 4  # nodes that one trial may take with it before it counts as lost
_AT_ONCE = 100_000  # calls under way in one actor
_START_SECONDS = 120.0
_LOOK_SECONDS = 1.0  # between two looks at who is there
_DESERTED_SECONDS = 10.0  # without any node, until the run ends


@dataclass(slots=True, eq=False)
class _Member:
    """A node that plays: `share` is its processors, `brought` the tasks whose folders are there."""

    actor: Any
    identity: str
    address: str
    share: float
    holder: str
    under_way: int = 0
    played: int = 0
    brought: set[str] = field(default_factory=set)


class Spread:
    """The nodes of a cluster as a place where trials run; made by `spread`, which also closes it.

    A trial goes to the node with the least under way for its processors. Nodes without any take no part, so that a
    head can be kept free of trials. A node that comes is used, one that is lost is forgotten.
    """

    def __init__(self, ray: Any, limits: Any, setup: Setup, variables: Variables, told: Callable[[str], None]) -> None:
        self._ray, self._limits, self._setup, self._variables, self._told = ray, limits, setup, variables, told
        self._members: list[_Member] = []
        self._unfit: set[str] = set()
        self._arrived = anyio.Event()
        self._numbers = itertools.count()
        self._folders: dict[str, Any] = {}
        self._packing = anyio.Lock()
        self._most = self._lost = 0
        self._deserted: Callable[[], None] | None = None
        self.swept = 0

    @property
    def used(self) -> dict[str, Json]:
        """For the record of a run: the most nodes at once, and how many were lost."""
        return {"executor": "ray", "nodes": self._most, "lost": self._lost}

    async def begin(self) -> None:
        """Open all nodes that are there.

        Raises:
            ConfigError: one of them cannot take part, or there is none.
        """
        reasons = await self._look()
        if reasons:
            raise ConfigError(f"executor: {'; '.join(reasons)}")
        if not self._members:
            raise ConfigError("executor: no node of the Ray cluster has a processor for trials")
        own = sum(member.address == self._setup.near for member in self._members)
        away = len(self._members) - own
        told = f"nodes: {len(self._members)}, {own} on this machine"
        self._told(told if away else f"nodes: {len(self._members)}, all on this machine")
        for settings in self._setup.endpoints if away else ():
            if is_local(settings.base_url):
                self._told(
                    f"endpoint {settings.name} is at {settings.base_url}, which is another server on each of the "
                    f"{away} nodes that are other machines"
                )

    async def play(self, trial: Trial, endpoint: Endpoint, provider: SandboxProvider) -> Result:
        """Run one trial once, on whichever node; on another one where that is lost. What `run_trial` is elsewhere."""
        del endpoint, provider  # each node has its own
        for _ in range(_MOVES):
            member = await self._next()
            member.under_way += 1
            try:
                result = await self._at(member, trial)
            finally:
                member.under_way -= 1
            if result is not None:
                member.played += 1
                return result
            await self._drop(member)
        why = f"{_MOVES} nodes in a row were lost while they played this trial"
        return Result(trial.key, trial.harness.id, failure=Lost("sandbox", why))

    async def carry(self, run: Callable[[], Awaitable[object]]) -> str | None:
        """Do this for as long as there are nodes; why it was ended, or None."""
        with anyio.CancelScope() as scope:
            self._deserted = scope.cancel
            await run()
        return "no node of the Ray cluster is left" if scope.cancelled_caught else None

    async def watch(self) -> None:
        """Look again and again which nodes are there."""
        empty = 0.0
        while True:
            await anyio.sleep(_LOOK_SECONDS)
            for reason in await self._look():
                self._told(f"not used: {reason}")
            empty = 0.0 if self._members else empty + _LOOK_SECONDS
            if empty >= _DESERTED_SECONDS and self._deserted is not None:
                self._deserted()

    async def close(self) -> None:
        """Close all that is open on the nodes."""
        for member in self._members:
            if member.played:
                self._told(f"node {member.address}: {member.played} trials played")
        async with anyio.create_task_group() as group:
            for member in self._members:
                group.start_soon(self._close, member)

    async def _close(self, member: _Member) -> None:
        with anyio.move_on_after(CLOSE_SECONDS), suppress(self._ray.exceptions.RayError):
            self.swept += await member.actor.close.remote()
        self._kill(member)

    async def _next(self) -> _Member:
        """The node for the next trial; waits where there is none."""
        while not self._members:
            await self._arrived.wait()
        return min(self._members, key=lambda member: (member.under_way + 1) / member.share)

    async def _at(self, member: _Member, trial: Trial) -> Result | None:
        """What a node makes of a trial; None where it is lost. Where we are stopped, the trial is there too."""
        number, digest = next(self._numbers), trial.task.digest
        errors = self._ray.exceptions
        try:
            folder = None if digest in member.brought else await self._folder(trial)
            answer = member.actor.play.remote(number, trial, folder)
            result: Result | None = await self._stoppable(member, number, answer)
        except errors.RayTaskError as error:
            words = redact(str(error).strip().rpartition("\n")[2])
            return Result(trial.key, trial.harness.id, failure=Lost("harness", f"on its node: {words}"))
        except errors.RayError:
            return None
        if result is not None and (result.failure is None or result.failure.owner != "sandbox"):
            member.brought.add(digest)  # else it may be that it could not be unpacked
        return result

    async def _stoppable(self, member: _Member, number: int, answer: Awaitable[Result | None]) -> Result | None:
        waiting = asyncio.ensure_future(_awaited(answer))
        try:
            return await asyncio.shield(waiting)
        except asyncio.CancelledError:
            if (result := await self._stopped(member, number, waiting)) is not None:
                return result  # it was judged before it could be stopped
            raise

    async def _stopped(self, member: _Member, number: int, answer: asyncio.Future[Result | None]) -> Result | None:
        errors = self._ray.exceptions
        with anyio.CancelScope(shield=True), anyio.move_on_after(CLOSE_SECONDS), suppress(errors.RayError):
            member.actor.stop.remote(number)
            return await answer
        return None

    async def _folder(self, trial: Trial) -> Any:
        digest = trial.task.digest
        async with self._packing:
            if digest not in self._folders:
                content = await to_thread.run_sync(packed, trial.task.folder)
                self._folders[digest] = self._ray.put(content)
        return self._folders[digest]

    async def _look(self) -> list[str]:
        """Let nodes in that have come, and forget those that are gone; why some cannot take part."""
        alive = {node["NodeID"]: node for node in await to_thread.run_sync(self._ray.nodes) if node["Alive"]}
        for member in [member for member in self._members if member.identity not in alive]:
            await self._drop(member)
        known = self._unfit | {member.identity for member in self._members}
        new = [node for name, node in alive.items() if name not in known and node["Resources"].get("CPU", 0) > 0]
        reasons: list[str] = []
        async with anyio.create_task_group() as group:
            for node in new:
                group.start_soon(self._let_in, node, reasons)
        return reasons

    async def _let_in(self, node: Mapping[str, Json], reasons: list[str]) -> None:
        identity, address = str(node["NodeID"]), str(node["NodeManagerAddress"])
        holder = f"harness-eval-{uuid.uuid4().hex}"
        placed = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(identity, soft=False)
        options = {"num_cpus": 0, "max_concurrency": _AT_ONCE, "lifetime": "detached", "name": holder}
        actor = self._ray.remote(Node).options(scheduling_strategy=placed, **options).remote(self._limits, holder)
        member = _Member(actor, identity, address, float(node["Resources"]["CPU"]), holder)
        reason: str | None = "it was not waited for"
        try:
            reason = await self._unready(member)
        finally:
            if reason is not None:
                self._kill(member)
        if reason is not None:
            self._unfit.add(identity)
            reasons.append(f"node {address}: {reason}")
            return
        self._members.append(member)
        self._most = max(self._most, len(self._members))
        self._arrived.set()
        self._arrived = anyio.Event()
        if self._deserted is not None:
            self._told(f"node {address} has joined; nodes: {len(self._members)}")

    async def _unready(self, member: _Member) -> str | None:
        """Why a node cannot take part, or None once it is open."""
        try:
            with anyio.fail_after(_START_SECONDS):
                if (difference := (await member.actor.fitness.remote()).other_than(here())) is not None:
                    return f"{difference}; install the same everywhere"
                reason: str | None = await member.actor.open.remote(self._setup, self._variables)
                return reason
        except TimeoutError:
            return f"it was not ready within {_START_SECONDS:g} s"
        except self._ray.exceptions.RayError as error:
            lines = [line.strip() for line in redact(str(error)).splitlines() if "Error:" in line] or [""]
            return f"harness-eval {here().version} cannot be started there; install the same everywhere ({lines[-1]})"

    async def _drop(self, member: _Member) -> None:
        """Forget a node that is lost, with the places that it holds at endpoints; once."""
        if member not in self._members:
            return
        self._members.remove(member)
        self._lost += 1
        self._kill(member)
        self._limits.forget.remote(member.holder)
        self._told(f"node {member.address} is lost; its trials are played elsewhere; nodes: {len(self._members)}")

    def _kill(self, member: _Member) -> None:
        with suppress(self._ray.exceptions.RayError):
            self._ray.kill(member.actor, no_restart=True)


async def _awaited(answer: Awaitable[Result | None]) -> Result | None:
    return await answer


@asynccontextmanager
async def spread(setup: Setup, variables: Variables, told: Callable[[str], None]) -> AsyncIterator[Spread]:
    """The nodes of the cluster that this process has joined, closed when the context ends.

    Raises:
        ConfigError: a node cannot take part, or there is none.
    """
    ray = ray_module()
    placed = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
        ray.get_runtime_context().get_node_id(), soft=False
    )
    most = {settings.name: settings.concurrency for settings in setup.endpoints}
    limits = ray.remote(Limits).options(num_cpus=0, max_concurrency=_AT_ONCE, scheduling_strategy=placed).remote(most)
    nodes = Spread(ray, limits, setup, variables, told)
    watching: asyncio.Task[None] | None = None
    try:
        await nodes.begin()
        watching = asyncio.create_task(nodes.watch())
        yield nodes
    finally:
        with anyio.CancelScope(shield=True):
            if watching is not None:
                watching.cancel()
                await asyncio.wait([watching])
            await nodes.close()
            ray.kill(limits)
