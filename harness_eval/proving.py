"""Before a run: each task's own solution is proven once in the chosen sandbox, and the proof is remembered."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import anyio

from harness_eval import __version__
from harness_eval.cache import cache_folder
from harness_eval.errors import ConfigError
from harness_eval.judging import Proof
from harness_eval.readiness import PAUSE, RETRIES, Readiness, check_all, may_pass
from harness_eval.sandboxes.base import SandboxProvider
from harness_eval.task import Task

_AT_ONCE = 4  # boxes under way; proofs wait mostly for processes to start
_LIVE = "live"  # what a remembered proof says of a task that is judged with processes alive
_WORDS = {"broken": "broken", "cannot-run": "cannot be run"}
_SHOWN = 5  # broken tasks named in one message


async def require_proven(
    tasks: Sequence[Task], provider: SandboxProvider, watch: Callable[[Task, Proof], None], pause: float = PAUSE
) -> tuple[Task, ...]:
    """The tasks, `live` where they have to be; those whose content was not proven before in this kind of sandbox by
    this version are proven now, up to three times where the machine fails. One without a solution cannot be proven, and
    is taken as it is.

    Raises:
        ConfigError: one of them is broken or cannot run here, which must be known before anything is paid for.
    """
    known = {task.name: _recall(_marker(task, provider)) for task in tasks}
    fresh = [task for task in tasks if known[task.name] is None]
    async with provider:
        found = await _checked(fresh, provider, watch, pause)
    for each in found:
        known[each.task.name] = _proof(each).live
        if each.state == "ok":
            _remember(_marker(each.task, provider), _proof(each).live)
    if unfit := [each for each in found if each.state in ("broken", "cannot-run")]:
        states = " and ".join(words for state, words in _WORDS.items() if any(each.state == state for each in unfit))
        told = "; ".join(f"{each.task.name}: {each.told}" for each in unfit[:_SHOWN])
        more = f"; and {len(unfit) - _SHOWN} more" if len(unfit) > _SHOWN else ""
        raise ConfigError(
            f"{states} in the {provider.name} sandbox, so nothing was run: {told}{more}; "
            "--exclude (in a study tasks.exclude) leaves tasks out"
        )
    return tuple(replace(task, live=bool(known[task.name])) for task in tasks)


async def _checked(
    tasks: Sequence[Task], provider: SandboxProvider, watch: Callable[[Task, Proof], None], pause: float
) -> list[Readiness]:
    """A finding for each task: of several attempts the last one, which alone is told of."""
    found: dict[str, Readiness] = {}
    left = list(tasks)
    for attempt in range(1 + RETRIES):
        again = may_pass if attempt < RETRIES else _never

        def tell(each: Readiness, again: Callable[[Readiness], bool] = again) -> None:
            if not again(each):
                watch(each.task, _proof(each))

        found |= {each.task.name: each for each in await check_all(left, provider, _AT_ONCE, tell)}
        left = [task for task in left if again(found[task.name])]
        if not left:
            break
        await anyio.sleep(pause * 4**attempt)
    return [found[task.name] for task in tasks]


def _never(_: Readiness) -> bool:
    return False


def _proof(found: Readiness) -> Proof:
    return found.proof or Proof(None, None, ok=False, detail=found.reason)


def _marker(task: Task, provider: SandboxProvider) -> Path:
    identity = f"{task.digest}\x1f{provider.name}\x1f{__version__}"
    return cache_folder() / "proofs" / hashlib.sha256(identity.encode()).hexdigest()


def _recall(marker: Path) -> bool | None:
    """Whether the proven task is `live`; None where no proof is remembered."""
    try:
        return marker.read_text(encoding="utf-8") == _LIVE
    except OSError:
        return None


def _remember(marker: Path, live: bool) -> None:
    try:
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.write_text(_LIVE if live else "", encoding="utf-8")
    except OSError:
        return  # without a cache the proof is simply made again
