"""A task: a folder with an instruction, an environment, a verifier and mostly a solution, in Harbor's format.

    task.toml  instruction.md  environment/  tests/test.sh  solution/solve.sh

A task that is well formed but cannot run here is loaded all the same, and `Task.unsupported` says why. One that is not
well formed is refused, but by `load_even_broken`, which keeps it among the others: then `Task.broken` says why.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness_eval.bundled import folder as bundled_folder
from harness_eval.errors import ConfigError, nearest
from harness_eval.rows import Unusable, cached, is_mapping
from harness_eval.sandboxes.base import BoxSpec
from harness_eval.task_files import digest, is_task, looks_like_a_task, reading
from harness_eval.task_toml import TaskToml, box_spec, expand, read_task_toml, unsupported

_FIRST_GENERATION = "it is of the first generation of the format (task.yaml), which Harbor can convert"


@dataclass(frozen=True, slots=True)
class Task:
    """What a trial works on. Times are in seconds; `agent_timeout` None means that the task sets no limit.

    `digest` is the SHA-256 over all files of the folder. The variables may hold credentials and are never printed.
    `live` says that its verifier needs the processes that the agent left, as its proof has shown in this sandbox.
    `broken` says why it could not be loaded, if it could not. Tasks of one `group` are alike, such as issues of one
    repository: statistics take the group as the unit of sampling.
    """

    name: str
    suite: str
    folder: Path
    instruction: str
    stresses: tuple[str, ...]
    difficulty: str
    spec: BoxSpec = field(repr=False)
    agent_timeout: float | None
    verifier_timeout: float
    verifier_env: Mapping[str, str] = field(repr=False)
    digest: str
    solution_env: Mapping[str, str] = field(default_factory=dict, repr=False)
    unsupported: str | None = None
    live: bool = False
    broken: str | None = None
    group: str | None = None

    @property
    def has_solution(self) -> bool:
        """Whether there is something to prove it with."""
        return (self.folder / "solution" / "solve.sh").is_file()


def load_task(folder: Path) -> Task:
    """The task in this folder.

    Raises:
        ConfigError: a part is missing, empty or broken; names the file, and the key with what is expected there.
    """
    with reading(folder):
        if not (folder / "task.toml").exists() and (folder / "task.yaml").is_file():
            return _task(folder.resolve(), TaskToml(), _FIRST_GENERATION)
        config = read_task_toml(folder / "task.toml")
        reason = unsupported(folder, config)
        if reason is None:
            _require_parts(folder)
        return _task(folder.resolve(), config, reason)


def _task(folder: Path, config: TaskToml, reason: str | None) -> Task:
    instruction = folder / "instruction.md"
    return Task(
        name=folder.name,
        suite=folder.parent.name,
        folder=folder,
        instruction=instruction.read_text(encoding="utf-8", errors="replace") if instruction.is_file() else "",
        stresses=tuple(config.metadata.stresses),
        difficulty=str(config.metadata.difficulty),
        spec=box_spec(folder, config),
        agent_timeout=config.agent.timeout_sec,
        verifier_timeout=config.verifier.timeout_sec,
        verifier_env=expand(config.verifier.env),
        digest=digest(folder),
        solution_env=expand(config.solution.env),
        unsupported=reason,
        group=None if config.metadata.group is None else str(config.metadata.group),
    )


def _require_parts(folder: Path) -> None:
    for part in ("instruction.md", "tests/test.sh"):
        path = folder / part
        if not path.is_file():
            raise ConfigError(f"{path}: missing; a task needs task.toml, instruction.md and tests/test.sh")
    instruction = folder / "instruction.md"
    try:
        empty = not instruction.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{instruction}: not UTF-8 text ({error.reason})") from error
    if empty:
        raise ConfigError(f"{instruction}: empty; say there what the agent must do")


def load_suite(name_or_path: str | Path) -> tuple[Task, ...]:
    """All tasks of a bundled suite (`core`), one bundled task (`core/log-root-cause`), or those of a folder, by name.

    A bundled name wins over a folder of the same name; `./core` means the folder. Folders in a suite that have no part
    of a task are passed over. The path of a mapping file (`MAPPING.yaml`, see `harness_eval.rows`) means the tasks that
    the rows of a data set become; a row that becomes none stands among them with the reason as one that cannot run.

    Raises:
        ConfigError: nothing of that name exists, it holds no task, or a task in it is wrong.
    """
    if _means_rows(name_or_path):
        return _from_rows(Path(name_or_path))
    return tuple(load_task(path) for path in _task_folders(name_or_path))


def load_even_broken(name_or_path: str | Path) -> tuple[Task, ...]:
    """As `load_suite`, with the tasks that are wrong among the others: `Task.broken` is the error of each.

    Raises:
        ConfigError: nothing of that name exists, or it holds no task.
    """
    if _means_rows(name_or_path):
        return _from_rows(Path(name_or_path))
    return tuple(_loaded_or_broken(path) for path in _task_folders(name_or_path))


def _loaded_or_broken(folder: Path) -> Task:
    try:
        return load_task(folder)
    except ConfigError as error:
        return _placeholder(folder.resolve(), folder.resolve().parent.name, broken=str(error))


def _means_rows(name_or_path: str | Path) -> bool:
    return is_mapping(name_or_path) and not Path(name_or_path).is_dir()


def _task_folders(name_or_path: str | Path) -> list[Path]:
    place = _suite_folder(name_or_path)
    with reading(place):
        if is_task(place):
            return [place]
        folders = sorted(path for path in place.iterdir() if not path.name.startswith((".", "__")) and path.is_dir())
        found = [path for path in folders if looks_like_a_task(path)]
    if not found:
        raise ConfigError(f"{place}: holds no task; each task is a folder with a task.toml")
    return found


def _from_rows(mapping: Path) -> tuple[Task, ...]:
    made = cached(_expanded(mapping))
    return (*(load_task(folder) for folder in made.tasks), *(_no_task(each, mapping) for each in made.unusable))


def _no_task(row: Unusable, mapping: Path) -> Task:
    """What stands for a row that became no task, so that nobody overlooks it."""
    reason = f"row {row.number} cannot become a task: {row.reason}"
    return _placeholder(mapping.parent / row.name, mapping.stem, unsupported=reason)


def _placeholder(folder: Path, suite: str, broken: str | None = None, unsupported: str | None = None) -> Task:
    return Task(
        name=folder.name,
        suite=suite,
        folder=folder,
        instruction="",
        stresses=(),
        difficulty="unknown",
        spec=BoxSpec(folder.name),
        agent_timeout=None,
        verifier_timeout=0.0,
        verifier_env={},
        digest=hashlib.sha256((broken or unsupported or "").encode("utf-8", "surrogateescape")).hexdigest(),
        unsupported=unsupported,
        broken=broken,
    )


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ConfigError(f"{path}: no such user") from error


def _suite_folder(name_or_path: str | Path) -> Path:
    bundled = bundled_folder("tasks")
    if isinstance(name_or_path, str) and name_or_path and not name_or_path.startswith((".", "/", "~")):
        inside = bundled / name_or_path
        named = sorted(bundled.glob(f"*/{name_or_path}/task.toml")) if name_or_path.replace("-", "").isalnum() else []
        if inside.is_dir() or named:
            return inside if inside.is_dir() else named[0].parent
    path = _expanded(Path(name_or_path))
    if path.is_dir():
        return path
    if beside := _tasks_beside(path):
        raise ConfigError(f"{path.parent}: holds no task {path.name!r}; {nearest(path.name, beside)}")
    given = str(name_or_path)
    raise ConfigError(f"{given}: no such suite, task or folder; {nearest(given, _bundled_like(given))}")


def _tasks_beside(path: Path) -> list[str]:
    """The tasks in the folder of the user's in which this path would be, if there is one."""
    if path.parent == Path() or not path.parent.is_dir():
        return []
    with reading(path.parent):
        return [each.name for each in path.parent.iterdir() if each.is_dir() and is_task(each)]


def _bundled_like(name: str) -> list[str]:
    """The bundled suites and the tasks whose names are like this one, or those of all suites for `suite/task`."""
    bundled = bundled_folder("tasks")
    suites = [suite.name for suite in bundled.iterdir() if suite.is_dir()]
    tasks = [task.parent for task in bundled.glob("*/*/task.toml")]
    if "/" in name:
        return [f"{task.parent.name}/{task.name}" for task in tasks]
    return [*suites, *difflib.get_close_matches(name, [task.name for task in tasks], n=5)]
