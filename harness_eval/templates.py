"""Templates of tasks: a module `template.py` beside a committed task that makes such tasks from a seed.

    def instance(draws: Draws) -> dict[str, str]:
        \"""All files of one task: path within its folder -> text.\"""

The committed task is the instance of `committed_draws`; `restore` writes it again. Loading a template runs its Python
on this machine: only bundled ones and paths that the user names are loaded.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from harness_eval.bundled import folder as bundled_folder
from harness_eval.draws import Draws, draw
from harness_eval.errors import BoundaryFailure, ConfigError, boundary, nearest
from harness_eval.shapes.names import wrong_name
from harness_eval.types import Json
from harness_eval.unfinished import settle, unfinished

FILE = "template.py"
_REQUIRED = ("task.toml", "instruction.md", "tests/test.sh")
_ATTEMPTS = 20  # instances drawn for one that no earlier one equals


@dataclass(frozen=True, slots=True)
class Template:
    """What makes tasks from draws; `name` is that of its folder, or of its file if that is not called template.py."""

    name: str
    path: Path
    make: Callable[[Draws], Mapping[str, str]]

    def instance(self, draws: Draws) -> dict[str, str]:
        """All files of one instance, by path.

        Raises:
            ConfigError: the template fails, or what it makes is no task; names its file.
        """
        with _running(f"{self.path}: instance"):
            files = dict(self.make(draws))
        _require_files(files, self.path)
        return files


@dataclass(frozen=True, slots=True)
class Instance:
    """A task folder that `write_instances` has made; `kept` where it stood there before, equal in every byte."""

    template: str
    folder: Path
    kept: bool


@contextmanager
def _running(where: str) -> Iterator[None]:
    """Turn whatever the code of a template raises into a ConfigError, the end of the program too."""
    try:
        with boundary("task"):
            yield
    except BoundaryFailure as failure:
        raise ConfigError(f"{where}: {failure}{_draws_there_are(failure.__cause__)}") from failure
    except (SystemExit, GeneratorExit) as error:
        raise ConfigError(f"{where}: {type(error).__name__}: {error}; a template ends nothing but itself") from error


def _draws_there_are(error: BaseException | None) -> str:
    """What draws has instead, where a template asked it for what it does not have."""
    if not isinstance(error, AttributeError) or not isinstance(error.obj, Draws):
        return ""
    return f"; {nearest(error.name or '', (name for name in vars(Draws) if not name.startswith('_')))}"


def committed_draws(template: Template) -> Draws:
    """What the committed folder of a template is drawn from: no seed of `write_instances` gives the same."""
    return Draws(template.name)


def template_names() -> dict[str, Path]:
    """The templates that travel with the package, by name: the folders of all bundled tasks that hold a template."""
    return {path.parent.name: path for path in sorted(bundled_folder("tasks").glob(f"*/*/{FILE}"))}


def has_template(folder: Path) -> bool:
    """Whether `tasks new` makes more tasks like the one in this folder."""
    return (folder / FILE).is_file()


def load_template(name_or_path: str | Path) -> Template:
    """A bundled template (`request-trace`, `core/request-trace`), or that of a folder or a Python file anywhere.

    Raises:
        ConfigError: there is none, or it cannot be loaded; names the file.
    """
    known, given = template_names(), str(name_or_path)
    bundled = known.get(given.rpartition("/")[2])
    if bundled and given in {bundled.parent.name, f"{bundled.parents[1].name}/{bundled.parent.name}"}:
        return _loaded(bundled)
    path = Path(given).expanduser()
    path = path / FILE if path.is_dir() else path
    if path.suffix == ".py" and path.is_file():
        return _loaded(path)
    if path.name == FILE:
        raise ConfigError(f"{path}: missing; a template is a Python file with a function instance(draws)")
    raise ConfigError(f"{given}: no such template; {nearest(given, known)}; or give the path of a file")


def _loaded(path: Path) -> Template:
    path = path.resolve()
    # The name of the module is that of its file: `inspect` finds the source of its functions by it.
    module: dict[str, Any] = {"__name__": "template", "__file__": str(path)}
    with _running(str(path)):
        exec(compile(path.read_bytes(), str(path), "exec"), module)  # noqa: S102 - the user named this file
    make = module.get("instance")
    if not callable(make):
        raise ConfigError(f"{path}: no function instance(draws), which makes the files of one task")
    return Template(path.parent.name if path.name == FILE else path.stem, path, make)


def _require_files(files: Mapping[str, str], path: Path) -> None:
    for name, text in files.items():
        if not isinstance(name, str) or not isinstance(text, str):
            raise ConfigError(f"{path}: instance: {name!r}: paths and contents are texts")
        parts = PurePosixPath(name).parts
        if not parts or name != "/".join(parts) or name.startswith("/") or ".." in parts or name == FILE:
            raise ConfigError(f"{path}: instance: {name!r} is no path of a file within a task's folder")
        if not _is_unicode(text):
            raise ConfigError(f"{path}: instance: {name!r}: the text has characters that UTF-8 has not")
    if wrong := wrong_name(files):
        raise ConfigError(f"{path}: instance: {wrong}")
    if missing := [name for name in _REQUIRED if name not in files]:
        raise ConfigError(f"{path}: instance: {', '.join(missing)} missing")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def write_instances(template: Template, seed: int, count: int, out: Path) -> list[Instance]:
    """Write `count` different instances as folders `<template>-<seed>-<number>` in `out`, which may exist.

    An instance depends on the template, the seed and its number, so that a second call with a larger count adds to the
    first. A folder appears under its name only when it is complete.

    Raises:
        ConfigError: the template fails, draws too little for so many, or a folder of that name holds something else;
            then nothing is written.
    """
    made = {out / f"{template.name}-{seed}-{at:03d}": each for at, each in enumerate(_different(template, seed, count))}
    standing = {folder for folder in made if folder.exists() or folder.is_symlink()}
    for folder in sorted(standing):
        _require_same(folder, made[folder])
    with unfinished(out) as scratch:
        for folder, files in made.items():
            if folder not in standing:
                _write(folder, files, scratch)
    return [Instance(template.name, folder, folder in standing) for folder in made]


def _different(template: Template, seed: int, count: int) -> list[dict[str, str]]:
    """So many instances whose verifiers differ, each the first one drawn for its number that is new."""
    met: set[tuple[tuple[str, str], ...]] = set()
    instances = []
    for number in range(count):
        for attempt in range(_ATTEMPTS):
            files = template.instance(Draws(template.name, seed, number, attempt))
            verifier = tuple(sorted((name, text) for name, text in files.items() if name.startswith("tests/")))
            if verifier not in met:
                break
        else:
            raise ConfigError(f"{template.path}: only {number} different instances can be drawn from seed {seed}")
        met.add(verifier)
        instances.append(files)
    return instances


def _read(folder: Path) -> dict[str, str] | None:
    """What the folder holds, or None where it is no folder of texts."""
    try:
        paths = [path for path in folder.rglob("*") if not path.is_dir() and "__pycache__" not in path.parts]
        return {path.relative_to(folder).as_posix(): path.read_bytes().decode("utf-8") for path in paths}
    except (OSError, UnicodeDecodeError):
        return None


def _require_same(folder: Path, files: Mapping[str, str]) -> None:
    if _read(folder) != files:
        raise ConfigError(f"{folder}: holds something else than this instance; remove it, or take another seed")


def _write(folder: Path, files: Mapping[str, str], scratch: Path) -> None:
    for name, text in files.items():
        _write_file(scratch / folder.name / name, text)
    if not settle(scratch / folder.name, folder):
        _require_same(folder, files)


def _write_file(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    path.chmod(0o755 if path.suffix == ".sh" else 0o644)


def restore(name: str) -> None:
    """Make the committed folder of a bundled template what the template makes today. Raises ConfigError."""
    template = load_template(name)
    files, folder = template.instance(committed_draws(template)), template.path.parent
    for outdated in (_read(folder) or {}).keys() - files.keys() - {FILE}:
        (folder / outdated).unlink()
    for file, text in files.items():
        _write_file(folder / file, text)


# What templates are made with.


def shared(template_file: str, *names: str) -> dict[str, str]:
    """The files that all instances have in common, read from the template's own folder."""
    return {name: (Path(template_file).parent / name).read_text(encoding="utf-8") for name in names}


def plan_text(done: str, steps: Sequence[Mapping[str, Json]]) -> str:
    """solution/plan.yaml; see `reference.plan`. Texts are written as JSON does, which YAML reads as well."""
    lines = [f"done: {json.dumps(done)}", "steps:"]
    for step in steps:
        for at, (key, value) in enumerate(step.items()):
            lines.append(f"  {' ' if at else '-'} {key}:{_value(value)}")
    return "\n".join(lines) + "\n"


def _value(value: Json) -> str:
    if isinstance(value, Mapping):
        return "".join(f"\n      {key}: {json.dumps(text)}" for key, text in value.items())
    return f" {json.dumps(value)}"


def expected_text(expected: Json) -> str:
    """A file of expected values that a verifier reads, one key a line."""
    rows = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in expected.items()]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def setup_text(lay_out: Callable[[Json], Mapping[str, str]], facts: Json, after: str = "") -> str:
    """environment/setup.sh that writes the files `lay_out(facts)`: large data need not lie in the task's folder.

    The function travels as its source, with `draw` beside it: it refers to nothing else but facts, `hashlib` and what
    it imports itself. `after` is shell that comes after it.
    """
    functions = "\n\n".join(inspect.getsource(function) for function in (draw, lay_out))
    values = "".join(f"    {key!r}: {value!r},\n" for key, value in facts.items())
    return f"""#!/bin/bash
# Lays out this instance: always the same bytes.
set -euo pipefail
python3 -I - <<'PYTHON'
import hashlib
from pathlib import Path


{functions}

FACTS = {{
{values}}}
for name, text in lay_out(FACTS).items():
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_bytes(text.encode())
PYTHON
{after}"""
