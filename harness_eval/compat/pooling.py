"""The trials of one row, put together: which of them are of one harness, one task, one canonical harness."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness_eval.compat.targets import Part
from harness_eval.compat.versions import Current, Measured
from harness_eval.errors import listed
from harness_eval.report.outcomes import Outcome
from harness_eval.report.wording import count, one_line
from harness_eval.types import Json

_SHOWN = 4  # tasks that one note names
_LENGTH = 60

Pools = dict[tuple[Measured | None, Measured], "Pool"]


@dataclass(frozen=True, slots=True)
class Pool:
    """All trials of one row with one harness, as it was then, in runs with the same canonical harness.

    `parts` are in the order of their runs. `refused` says why the harness cannot run there, as the newest run found;
    then none of its trials counts.
    """

    canonical: Measured | None
    harness: Measured
    parts: tuple[Part, ...]
    refused: Mapping[str, Json] | None
    trials: Sequence[tuple[Part, Outcome]]

    @property
    def measured(self) -> str:
        """When the newest of its runs was begun; "" where that is not known."""
        return max(part.created for part in self.parts)


def pools(parts: Iterable[Part]) -> Pools:
    """The pools of one row that hold anything: trials, or the finding that the harness cannot run."""
    found: dict[tuple[Measured | None, Measured], list[Part]] = defaultdict(list)
    for part in parts:
        tried = part.tried
        for name, harness in part.harnesses.items():
            if name in tried:
                found[part.canonical, harness].append(part)
    return {key: _pool(*key, tuple(same)) for key, same in found.items()}


def _pool(canonical: Measured | None, harness: Measured, parts: Sequence[Part]) -> Pool:
    name = harness.name
    refused = parts[-1].side.refused.get(name)
    usable = [part for part in parts if refused is None and name not in part.side.refused]
    trials = [(part, outcome) for part in usable for outcome in part.outcomes.get(name, ())]
    return Pool(canonical, harness, tuple(parts), refused, trials)


def chosen(all_pools: Pools, current: Current) -> dict[str, Pool]:
    """The pool that a row shows of each harness: of the current version, else the newest; then that of most trials."""
    best: dict[str, tuple[tuple[object, ...], Pool]] = {}
    for pool in all_pools.values():
        now = current.stale(pool.harness) is None
        against = pool.canonical is not None and current.stale(pool.canonical) is None
        newest = "" if now else pool.measured
        order = (pool.harness.order, () if pool.canonical is None else pool.canonical.order)
        rank = (now, against, pool.canonical is not None, newest, len(pool.trials), pool.measured, order)
        name = pool.harness.name
        if name not in best or rank > best[name][0]:
            best[name] = rank, pool
    return {name: pool for name, (_, pool) in best.items()}


@dataclass(frozen=True, slots=True)
class Table:
    """Trials to be judged together. `groups` has the group of each task, `outcomes` their place among its repeats."""

    tasks: tuple[str, ...]
    groups: tuple[Hashable, ...]
    outcomes: Sequence[Outcome]
    notes: tuple[str, ...]


def table(all_pools: Sequence[Pool]) -> Table:
    """The trials of these pools on tasks of one content each, repeats of all runs behind one another."""
    trials = sorted(((part, one) for pool in all_pools for part, one in pool.trials), key=_order)
    parts = sorted({id(part): part for part, _ in trials}.values(), key=lambda part: part.order)
    contents = {id(part): {name: _content(entry) for name, entry in part.tasks.items()} for part in parts}
    usual = _usual((one.task, contents[id(part)][one.task]) for part, one in trials)
    kept, dropped = [], Counter[tuple[str, str]]()
    for part, one in trials:
        if contents[id(part)][one.task] in (None, usual.get(one.task)):
            kept.append(one)
        else:
            dropped[part.name, one.task] += 1
    run = {one.task for one in kept}
    tasks = [name for name in dict.fromkeys(name for part in parts for name in part.tasks) if name in run]
    return Table(tuple(tasks), tuple(_group(name, parts) for name in tasks), _stacked(kept), tuple(_left_out(dropped)))


def _group(task: str, parts: Iterable[Part]) -> Hashable:
    """The group of a task, as the first run that knows one has it; else it stands alone."""
    known = (part.tasks[task].get("group") for part in parts if task in part.tasks)
    return next((str(group) for group in known if group), ("alone", task))


def _order(trial: tuple[Part, Outcome]) -> tuple[object, ...]:
    part, one = trial
    return *part.order, one.task, one.harness, one.repeat


def _content(task: Mapping[str, Json]) -> str | None:
    digest = task.get("digest")
    return None if digest is None else str(digest)


def _usual(seen: Iterable[tuple[str, str | None]]) -> dict[str, str]:
    """The content of each task that most trials were of; of contents that are unknown nothing is said."""
    counted = Counter((task, digest) for task, digest in seen if digest is not None)
    return {task: digest for (task, digest), _ in sorted(counted.items(), key=lambda item: (item[1], item[0]))}


def _stacked(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """The same trials, those of a cell numbered through."""
    next_of: Counter[tuple[str, str]] = Counter()
    stacked = []
    for one in outcomes:
        cell = one.task, one.harness
        stacked.append(one if one.repeat == next_of[cell] else one._replace(repeat=next_of[cell]))
        next_of[cell] += 1
    return stacked


def _left_out(dropped: Mapping[tuple[str, str], int]) -> Iterable[str]:
    by_run: dict[str, list[str]] = defaultdict(list)
    trials: Counter[str] = Counter()
    for (run, task), number in sorted(dropped.items()):
        by_run[run].append(one_line(task, _LENGTH))
        trials[run] += number
    for run, tasks in by_run.items():
        what = f"{count(len(tasks), 'task')} ({listed(tasks, _SHOWN)})"
        yield f"{run}: {count(trials[run], 'trial')} of {what} are left out: other runs had more of another content."
