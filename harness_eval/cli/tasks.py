"""`harness-eval tasks`: list tasks, make new ones, and check that they can judge here."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Annotated

import anyio
import typer

from harness_eval import bundled
from harness_eval.cli.output import JsonFlag, print_json, print_table, say
from harness_eval.cli.tasks_new import new
from harness_eval.errors import ConfigError, nearest
from harness_eval.readiness import Readiness, check_all
from harness_eval.reference.plan import load_plan
from harness_eval.report.wording import count, one_line, printable
from harness_eval.sandboxes import provider
from harness_eval.sandboxes.base import SandboxProvider
from harness_eval.sandboxes.docker.provider import DockerProvider
from harness_eval.task import Task, load_even_broken
from harness_eval.templates import has_template
from harness_eval.types import Json

app = typer.Typer(add_completion=False, no_args_is_help=True, help="List tasks, and check that they can judge.")
_Suites = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SUITE]...",
        help="Bundled suites or tasks, folders, or mapping files of data sets (MAPPING.yaml).",
        show_default=False,
    ),
]
_STATES = ("ok", "broken", "cannot-run", "unproven")
_WORDS = {"cannot-run": "cannot run here"}
_NO_BASE = "the base image is missing"

app.command()(new)


@app.command("list")
def list_all(
    suites: _Suites = None,
    stress: Annotated[str | None, typer.Option(help="Only tasks that stress this.")] = None,
    difficulty: Annotated[str | None, typer.Option(help="Only tasks of this difficulty.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """List tasks with what they stress; without a suite, all bundled ones."""
    tasks = _tasks(suites or bundled_suites())
    if stress is not None:
        _require_known("stress", stress, (each for task in tasks for each in task.stresses))
        tasks = [task for task in tasks if stress in task.stresses]
    if difficulty is not None:
        _require_known("difficulty", difficulty, (task.difficulty for task in tasks))
        tasks = [task for task in tasks if task.difficulty == difficulty]
    if as_json:
        print_json({"tasks": [_summary(task) for task in tasks], **_counts(tasks)})
        return
    columns = ("suite", "task", "difficulty", "stresses", "template", "cannot run here because")
    print_table(columns, map(_row, tasks))
    print(_closing(tasks))


def _row(task: Task) -> tuple[str, ...]:
    stresses, template = ", ".join(task.stresses), "yes" if has_template(task.folder) else ""
    cells = (task.suite, task.name, task.difficulty, stresses, template, _trouble(task))
    return tuple(map(one_line, cells))


def _trouble(task: Task) -> str:
    return f"broken: {task.broken}" if task.broken else task.unsupported or ""


def bundled_suites() -> list[str]:
    """The names of the suites that travel with the package."""
    return sorted(path.name for path in bundled.folder("tasks").iterdir() if path.is_dir())


def _tasks(suites: Sequence[str]) -> list[Task]:
    """All tasks of the suites, those that cannot be loaded too; each once, however often it is named."""
    return list({(task.folder, task.name): task for name in suites for task in load_even_broken(name)}.values())


def _require_known(flag: str, value: str, known: Iterable[str]) -> None:
    choices = set(known)
    if value not in choices:
        raise ConfigError(f"--{flag}: no task has {value!r}; {nearest(value, choices)}")


def _counts(tasks: Sequence[Task]) -> dict[str, Json]:
    order = {"easy": 0, "medium": 1, "hard": 2}
    difficulties = Counter(task.difficulty for task in tasks)
    stresses = Counter(stress for task in tasks for stress in task.stresses)
    return {
        "T": len(tasks),
        "by_difficulty": dict(sorted(difficulties.items(), key=lambda pair: order.get(pair[0], 3))),
        "by_stress": dict(sorted(stresses.items())),
    }


def _closing(tasks: Sequence[Task]) -> str:
    counts = _counts(tasks)
    parts = [f"T = {counts['T']}"]
    parts += [f"{broken} of them broken"] if (broken := sum(task.broken is not None for task in tasks)) else []
    parts += [", ".join(f"{name} {number}" for name, number in counts["by_difficulty"].items())]
    parts += [", ".join(f"{name} {number}" for name, number in counts["by_stress"].items())]
    return printable("; ".join(part for part in parts if part))


@app.command()
def check(
    suites: _Suites = None,
    sandbox: Annotated[str, typer.Option(help="auto, docker, bubblewrap or local.")] = "auto",
    base_image: Annotated[str | None, typer.Option(help="What docker builds on.")] = None,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Tasks at once.")] = 4,
    strict: Annotated[bool, typer.Option("--strict", help="Exit code 1 also for tasks that cannot run here.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Prove each task: untouched it is not solved, after its own solution it is. Without a suite, the suite core.

    `ok`; `broken`: the task's own fault; `cannot run here`, with the reason; `unproven`: it has no solution.

    Exit code 1 if a task is broken, 3 if none of them could be proven.
    """
    tasks = _tasks(suites or ["core"])
    chosen = provider(sandbox, **({"base_image": base_image} if base_image else {}))
    show = say if as_json else _print_line
    show(f"{count(len(tasks), 'task')} in the {chosen.name} sandbox")
    tasks = _without_base(tasks, chosen, show)
    found = anyio.run(_check, tasks, chosen, jobs, _teller(tasks, show))
    counts = {state: sum(each.state == state for each in found) for state in _STATES}
    failed = counts["broken"] + (counts["cannot-run"] if strict else 0)
    if as_json:
        rows = [_finding(each) for each in found]
        print_json({"sandbox": chosen.name, "tasks": rows, "counts": counts, "ok": not failed})
    else:
        print(", ".join(f"{number} {_WORDS.get(state, state)}" for state, number in counts.items() if number))
    raise typer.Exit(1 if failed else 0 if counts["ok"] else 3)


def _without_base(tasks: list[Task], chosen: SandboxProvider, show: Callable[[str], None]) -> list[Task]:
    """The tasks; those that need a base image that cannot be had are such that cannot run, which is said once."""
    if not isinstance(chosen, DockerProvider):
        return tasks
    waiting = {
        task.folder for task in tasks if not (task.unsupported or task.broken) and chosen.is_built_on_base(task.spec)
    }
    reason = chosen.missing_base() if waiting else None
    if reason is None:
        return tasks
    show(f"{count(len(waiting), 'task')} cannot run here: {' '.join(reason.split())}")
    return [replace(task, unsupported=_NO_BASE) if task.folder in waiting else task for task in tasks]


def _teller(tasks: Sequence[Task], show: Callable[[str], None]) -> Callable[[Readiness], None]:
    """What tells each finding in one line; on a terminal with how many of all are told."""
    width = max(len(f"{task.suite}/{task.name}") for task in tasks)
    stream = sys.stderr if show is say else sys.stdout
    told = 0

    def tell(found: Readiness) -> None:
        nonlocal told
        told += 1
        number = f"{told:{len(str(len(tasks)))}}/{len(tasks)}"
        show(f"{number}  {_line(found, width)}" if stream.isatty() else _line(found, width))
        if sys.stderr.isatty() and not stream.isatty():
            print(f"\r{number} ", end="\n" if told == len(tasks) else "", file=sys.stderr, flush=True)

    return tell


async def _check(
    tasks: Sequence[Task], chosen: SandboxProvider, jobs: int, watch: Callable[[Readiness], None]
) -> list[Readiness]:
    found: list[Readiness] = []

    def look(each: Readiness) -> None:
        found.append(_with_plan(each))
        watch(found[-1])

    async with chosen:
        await check_all(tasks, chosen, jobs, look)
    return found


def _with_plan(found: Readiness) -> Readiness:
    """The finding, unless the plan of the scripted agent is what is broken."""
    plan = found.task.folder / "solution" / "plan.yaml"
    try:
        if plan.exists():
            load_plan(plan)
    except ConfigError as error:
        return replace(found, state="broken", reason=str(error))
    return found


def _print_line(text: str) -> None:
    print(text, flush=True)


def _line(found: Readiness, width: int) -> str:
    """One task in one line, and its reason below it."""
    name = f"{found.task.suite}/{found.task.name}"
    line = f"{_WORDS.get(found.state, found.state):15}  {name:{width}}  {found.seconds:6.1f} s"
    notes = [found.told] if found.reason not in ("", _NO_BASE) else []
    if found.task.spec.limits.network and found.state != "cannot-run":
        notes.append("asks for the network")
    return printable(line) + "".join(f"\n    {printable(note)}" for note in notes)


def _finding(found: Readiness) -> dict[str, Json]:
    untouched = found.proof.untouched if found.proof else None
    solved = found.proof.solved if found.proof else None
    return {
        "task": found.task.name,
        "suite": found.task.suite,
        "state": found.state,
        "ok": found.state == "ok",
        "untouched": untouched.score if untouched else None,
        "solved": solved.score if solved else None,
        "detail": found.reason,
        "network": found.task.spec.limits.network,
        "seconds": round(found.seconds, 3),
    }


def _summary(task: Task) -> dict[str, Json]:
    return {
        "name": task.name,
        "suite": task.suite,
        "digest": task.digest,
        "stresses": task.stresses,
        "difficulty": task.difficulty,
        "unsupported": task.unsupported,
        "broken": task.broken,
        "template": has_template(task.folder),
    }
