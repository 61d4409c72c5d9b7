"""What a task's Dockerfile asks for, read from its instructions."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from typing import Literal

from harness_eval.sandboxes.base import BoxSpec
from harness_eval.sandboxes.environment import find_dockerfile

Origin = Literal["plain", "built", "own"]
"""What a container is made from: any base image as it is, what a Dockerfile makes of any base image, or an image that
the task brings with it."""

_BASE = re.compile(r"\$\{?BASE\}?")
_SETUP = re.compile(r"COPY setup\.sh (\S+)")
_RAN = re.compile(r"RUN bash (\S+)( && rm (?:-f )?(\S+))?")


def origin(spec: BoxSpec) -> Origin:
    """What the container of a task is made from. Only what asks for nothing but its files and setup is plain."""
    if spec.image is not None:
        return "own"
    if spec.workdir == "/":  # where no fresh file system can stand
        return "built"
    path = find_dockerfile(spec)
    if path is None:
        return "plain"
    lines = list(instructions(path.read_text(encoding="utf-8", errors="replace")))
    bases = _bases(lines)
    if not bases or not all(_BASE.fullmatch(base) for base in bases):
        return "own"
    return "plain" if _is_standard(lines, spec.workdir) else "built"


def has_base(spec: BoxSpec) -> bool:
    """Whether what `base_image` names is in the box's image: in all of it, or in a stage of its Dockerfile."""
    path = find_dockerfile(spec)
    if spec.image is not None or path is None:
        return spec.image is None
    lines = instructions(path.read_text(encoding="utf-8", errors="replace"))
    return any(_BASE.fullmatch(base) for base in _bases(lines))


def _bases(lines: Iterable[str]) -> list[str]:
    return [line.split()[1] for line in lines if line.startswith("FROM ") and len(line.split()) > 1]


def instructions(text: str) -> Iterator[str]:
    """The instructions of a Dockerfile, one a line: no comments, names in capitals, single blanks."""
    joined = ""
    for line in text.splitlines():
        if line.lstrip().startswith("#"):
            continue
        joined += line.rstrip()
        if joined.endswith("\\"):
            joined = joined[:-1] + " "
        elif joined:
            yield _tidy(joined)
            joined = ""
    if joined:
        yield _tidy(joined)


def _tidy(instruction: str) -> str:
    name, _, rest = " ".join(instruction.split()).partition(" ")
    return f"{name.upper()} {rest}".strip()


def _is_standard(lines: list[str], workdir: str) -> bool:
    """Whether the instructions do just what is done in a sandbox without images: `files/` into the working directory,
    then `setup.sh`."""
    script, place = "", "/"
    for line in lines:
        if found := _SETUP.fullmatch(line):
            script = found[1]
        elif found := _RAN.fullmatch(line):
            if posixpath.join(place, found[1]) != posixpath.join(place, script) or found[3] not in (None, found[1]):
                return False
        elif line.startswith("WORKDIR "):
            place = posixpath.normpath(line.removeprefix("WORKDIR ").strip("\"'"))
        elif line.startswith(("COPY files/ ", "COPY files ")):
            if posixpath.normpath(posixpath.join(place, line.split(" ", 2)[2])) != workdir:
                return False
        elif not re.fullmatch(r"ARG BASE(=\S+)?|FROM \S+", line):
            return False
    return place in ("/", workdir)
