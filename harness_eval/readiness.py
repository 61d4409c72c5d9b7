"""Whether tasks can run and judge on this machine: what `tasks check` finds out, and whose fault it is where not."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import anyio

from harness_eval.errors import SandboxFailure, boundary
from harness_eval.judging import Proof, prove
from harness_eval.sandboxes.base import SandboxProvider
from harness_eval.shapes.inside.repair_check import NO_RUNNER
from harness_eval.task import Task

State: TypeAlias = Literal["ok", "broken", "cannot-run", "unproven"]

RETRIES, PAUSE = 2, 1.0  # attempts after a machine failed, and seconds before the first of them, then 4 times as many
_OFFLINE = re.compile(
    r"(?i)could ?n[o']t resolve|(failure|error) (in name resolution|resolving)|no such host"
    r"|name or service not known|network is unreachable|no route to host|failed to (establish a new connection|fetch)"
    r"|connection timed out|getaddrinfo|unable to access '?https?:"
    r"|pull access denied|manifest (for \S+ )?(not found|unknown)|repository does not exist|toomanyrequests"
)
_UNBUILT = "does not build"  # what a failure says of an image that the engine could not make
_LATE = "its image was not there within"  # and of one that was not pulled in time
_SHOWN_FIRST, _SHOWN_LAST = 150, 300  # characters of a long reason that fit into one line


@dataclass(frozen=True, slots=True)
class Readiness:
    """What was found out about a task in one kind of sandbox.

    `ok`: it judges as it should. `broken`: it does not, by its own fault. `cannot-run`: not here, as `reason` says.
    `unproven`: it runs, but has no solution to prove it with. `seconds` is the time that this took.
    """

    task: Task
    state: State
    reason: str
    proof: Proof | None
    seconds: float

    @property
    def told(self) -> str:
        """The reason in one line: of a long one how it begins, and how it ends, where programs say what matters."""
        text = " ".join(self.reason.split())
        if len(text) <= _SHOWN_FIRST + _SHOWN_LAST:
            return text
        return f"{text[:_SHOWN_FIRST]} ... {text[-_SHOWN_LAST:]}"


async def check_all(
    tasks: Sequence[Task], provider: SandboxProvider, at_once: int, watch: Callable[[Readiness], None]
) -> list[Readiness]:
    """Check all tasks, `at_once` of them at the same time; one finding for each, in their order.

    `watch` gets them in that order too, each as soon as it and all before it are there.
    """
    found: dict[int, Readiness] = {}
    limiter = anyio.CapacityLimiter(at_once)
    told = 0

    async def one(index: int) -> None:
        nonlocal told
        async with limiter:
            found[index] = await check(tasks[index], provider)
        while told in found:
            watch(found[told])
            told += 1

    async with anyio.create_task_group() as group:
        for index in range(len(tasks)):
            group.start_soon(one, index)
    return [found[index] for index in range(len(tasks))]


async def check(task: Task, provider: SandboxProvider) -> Readiness:
    """Prove one task. Whatever breaks that is not the task leaves it as one that cannot run here."""
    if task.broken is not None:
        return Readiness(task, "broken", task.broken, None, 0.0)
    started = time.monotonic()
    proof = None
    try:
        with boundary("sandbox"):
            proof = None if task.unsupported else await prove(task, provider)
        state, reason = _state(task, proof) if proof else ("cannot-run", task.unsupported or "")
    except SandboxFailure as failure:
        state, reason = "cannot-run", str(failure)
    return Readiness(task, state, reason.removeprefix(f"{task.name}: "), proof, time.monotonic() - started)


def may_pass(found: Readiness) -> bool:
    """Whether the machine has failed in a way in which it may not the next time."""
    failed = found.state == "cannot-run" and found.proof is None and found.task.unsupported is None
    return failed and not _OFFLINE.search(found.reason)


def _state(task: Task, proof: Proof) -> tuple[State, str]:
    if proof.ok:
        return "ok", proof.detail
    untouched = proof.untouched
    if NO_RUNNER in f"{proof.detail}{untouched.detail if untouched else ''}":
        return "cannot-run", proof.detail
    if untouched and not untouched.solved and not task.has_solution:
        return "unproven", "no solution: cannot be proven"
    # What could not be fetched says nothing about the task; a task without network that fails has only itself to blame.
    fetches = task.spec.limits.network or _UNBUILT in proof.detail
    if task.spec.image is not None and _LATE in proof.detail:
        return "cannot-run", proof.detail
    if fetches and _OFFLINE.search(proof.detail):
        return "cannot-run", f"asks for the network, which it did not reach: {proof.detail}"
    return "broken", proof.detail
