"""The images of boxes: what a task's environment describes, made once and found again by its content."""

from __future__ import annotations

import hashlib
import io
import re
import shlex
import threading
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness_eval.errors import SandboxFailure, TaskFailure
from harness_eval.sandboxes.base import BoxSpec
from harness_eval.sandboxes.environment import LOGS, find_dockerfile

if TYPE_CHECKING:
    from docker import DockerClient

HOME = "/home/agent"
USER = "1000:1000"
LABEL = "harness-eval"
DEFAULT_BASE = "python:3.12-bookworm"  # what the bundled tasks' Dockerfiles name
_TAIL = 2000  # characters of a build's last output that go into a failure
_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


def box_image(client: DockerClient, spec: BoxSpec, base: str | None) -> str:
    """The name of an image in which the box's user owns the working directory; blocks while it is built.

    Raises:
        TaskFailure: the task's Dockerfile does not build; with its last output.
        SandboxFailure: an image is not here and cannot be pulled.
        docker.errors.DockerException: the engine failed otherwise.
    """
    family = f"{LABEL}-box"
    if spec.image is not None:
        image = _require(client, spec.image)
    elif dockerfile := find_dockerfile(spec):
        family = f"{LABEL}-{re.sub(r'[^a-z0-9]+', '-', spec.name.lower()).strip('-') or 'task'}"
        image = _built(client, spec, dockerfile.parent, family, base)
    else:
        image = _require(client, base or DEFAULT_BASE)
    source = _layer(image.removeprefix("sha256:"), spec.workdir)
    context = io.BytesIO(source.encode())
    return _once(client, spec, f"{family}:{_short(source)}", fileobj=context, network_mode="none")


def _built(client: DockerClient, spec: BoxSpec, environment: Path, family: str, base: str | None) -> str:
    """The identity of the image that the task's own Dockerfile makes."""
    parts = [_content(environment)]
    arguments = {}
    if base is not None:
        parts.append(_require(client, base))
        arguments["BASE"] = base
    name = f"{family}:{_short(*parts)}"
    _once(client, spec, name, path=str(environment), buildargs=arguments)
    return _require(client, name)


def _layer(image: str, workdir: str) -> str:
    """A Dockerfile that gives the box's user a home, the working directory, and the folders of the verifier."""
    folders = shlex.join([HOME, "/tests", "/solution", "/logs", *LOGS])
    place = shlex.quote(workdir)
    deep = "" if workdir == "/" else "-R "
    account = f"agent:x:{USER}::{HOME}:/bin/bash"
    return (
        f"FROM {image}\nUSER root\nHEALTHCHECK NONE\n"
        f"RUN mkdir -p {place} {folders} && chown {deep}{USER} {place} && chown {USER} {folders} && "
        f"(grep -q '^[^:]*:[^:]*:1000:' /etc/passwd || echo {account} >> /etc/passwd)\n"
    )


def _once(client: DockerClient, spec: BoxSpec, name: str, **context: Any) -> str:
    """Build the image of this name unless it is there; others who want the same one wait."""
    from docker.errors import APIError, BuildError, ImageNotFound  # lazy: slow import

    with _locks[name]:
        try:
            client.images.get(name)
        except ImageNotFound:
            try:
                client.images.build(
                    tag=name, rm=True, forcerm=True, labels={LABEL: "1"}, timeout=int(spec.build_timeout), **context
                )
            except BuildError as error:
                log = "".join(str(line.get("stream") or line.get("error") or "") for line in error.build_log)
                raise TaskFailure(
                    f"{spec.name}: its image does not build; last output: {log[-_TAIL:].strip()}"
                ) from error
            except APIError as error:
                raise TaskFailure(f"{spec.name}: its image does not build: {error.explanation or error}") from error
    return name


def _require(client: DockerClient, name: str) -> str:
    """The identity of an image, pulled if it is not here."""
    from docker.errors import APIError, ImageNotFound  # lazy: slow import

    with _locks[name]:
        try:
            return str(client.images.get(name).id)
        except ImageNotFound:
            try:
                client.images.pull(name)
                return str(client.images.get(name).id)
            except APIError as error:
                raise SandboxFailure(
                    f"the image {name} is not here and cannot be pulled: {error.explanation}"
                ) from error


def _content(folder: Path) -> str:
    """A hash over names, modes and bytes of all that is in a folder."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        total.update(f"{path.relative_to(folder)}\0{path.lstat().st_mode}\0".encode())
        if path.is_symlink():
            total.update(str(path.readlink()).encode())
        elif path.is_file():
            total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def _short(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
