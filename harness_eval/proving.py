"""Before a run: each task's own solution is proven once in the chosen sandbox, and the proof is remembered."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio

from harness_eval import __version__
from harness_eval.errors import ConfigError, HarnessEvalError, boundary
from harness_eval.judging import Proof, prove
from harness_eval.sandboxes.base import SandboxProvider
from harness_eval.task import Task

_AT_ONCE = 4  # boxes under way; proofs wait mostly for processes to start
_SHOWN = 5  # broken tasks named in one message


def cache_folder() -> Path:
    """Where proofs are remembered: `$XDG_CACHE_HOME/harness-eval`, by default `~/.cache/harness-eval`."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".cache") / "harness-eval"


async def prove_all(
    tasks: Sequence[Task], provider: SandboxProvider, watch: Callable[[Task, Proof], None]
) -> list[Proof]:
    """Prove all tasks, several at once; one proof for each, in their order. A broken sandbox gives a failed proof."""
    proofs: dict[int, Proof] = {}
    limiter = anyio.CapacityLimiter(_AT_ONCE)

    async def one(index: int) -> None:
        async with limiter:
            proofs[index] = await _prove(tasks[index], provider)
        watch(tasks[index], proofs[index])

    async with provider, anyio.create_task_group() as group:
        for index in range(len(tasks)):
            group.start_soon(one, index)
    return [proofs[index] for index in range(len(tasks))]


async def _prove(task: Task, provider: SandboxProvider) -> Proof:
    try:
        with boundary("task"):
            return await prove(task, provider)
    except HarnessEvalError as error:
        return Proof(None, None, ok=False, detail=str(error))


async def require_proven(
    tasks: Sequence[Task], provider: SandboxProvider, watch: Callable[[Task, Proof], None]
) -> None:
    """Prove those tasks whose content was not proven before in this kind of sandbox by this version.

    Raises:
        ConfigError: one of them is broken, which must be known before anything is paid for.
    """
    fresh = [task for task in tasks if not _marker(task, provider).exists()]
    proofs = await prove_all(fresh, provider, watch)
    broken = []
    for task, proof in zip(fresh, proofs, strict=True):
        if proof.ok:
            _remember(_marker(task, provider))
        else:
            broken.append(f"{task.name}: {' '.join(proof.detail.split())[:300]}")
    if broken:
        more = f"; and {len(broken) - _SHOWN} more" if len(broken) > _SHOWN else ""
        told = "; ".join(broken[:_SHOWN])
        raise ConfigError(f"broken in the {provider.name} sandbox, so nothing was run: {told}{more}")


def _marker(task: Task, provider: SandboxProvider) -> Path:
    identity = f"{task.digest}\x1f{provider.name}\x1f{__version__}"
    return cache_folder() / "proofs" / hashlib.sha256(identity.encode()).hexdigest()


def _remember(marker: Path) -> None:
    try:
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()
    except OSError:
        return  # without a cache the proof is simply made again
