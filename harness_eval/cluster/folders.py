"""Folders of tasks on their way to a node: packed by the driver, unpacked there once, under their digest."""

from __future__ import annotations

import io
import tarfile
from dataclasses import replace
from pathlib import Path

from harness_eval.task import Task

_LEFT_OUT = "__pycache__"


def packed(folder: Path) -> bytes:
    """All of a task's folder. What links at its top lead to goes along; other links stay links.

    Raises:
        OSError: something cannot be read.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", format=tarfile.PAX_FORMAT, compresslevel=1) as archive:
        for path in sorted(folder.iterdir()):
            shared = path.is_symlink() and path.is_dir()  # a suite may share a folder such as `tests`
            archive.add(path.resolve() if shared else path, arcname=path.name, filter=_kept)
    return buffer.getvalue()


def _kept(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    if member.name.rpartition("/")[2] == _LEFT_OUT:
        return None
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def unpack(content: bytes, place: Path) -> None:
    """Put what was packed into `place`, which appears when it is complete.

    Raises:
        OSError: the disk is full, for instance.
    """
    unfinished = place.with_name(f"{place.name}.unfinished")
    unfinished.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
        archive.extractall(unfinished, filter="fully_trusted")
    unfinished.rename(place)


def moved(task: Task, place: Path) -> Task:
    """The same task, whose folder is now here."""
    environment = task.spec.environment
    spec = task.spec if environment is None else replace(task.spec, environment=place / "environment")
    return replace(task, folder=place, spec=spec)
