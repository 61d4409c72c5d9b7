"""The images of boxes: what a task's environment describes, made once and found again by its content."""

from __future__ import annotations

import hashlib
import io
import os
import re
import shlex
import threading
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness_eval.errors import SandboxFailure, TaskFailure, last_words
from harness_eval.sandboxes.base import BoxSpec
from harness_eval.sandboxes.docker.dockerfile import Origin, has_base, origin
from harness_eval.sandboxes.docker.shell import layer
from harness_eval.sandboxes.environment import LOGS, find_dockerfile

if TYPE_CHECKING:
    from docker import DockerClient

HOME = "/home/agent"
USER = "1000:1000"
LABEL = "harness-eval"
DEFAULT_BASE = "python:3.12-bookworm"  # what the bundled tasks' Dockerfiles name
_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


@dataclass(frozen=True, slots=True)
class Image:
    """An image that is here: how the task names it, what the engine knows it by, and what it says of itself."""

    name: str
    identity: str
    origin: Origin
    user: str = ""
    workdir: str = ""
    architecture: str = ""
    tools: bool = False  # whether the programs are in it that a box without python3 needs


def box_image(client: DockerClient, spec: BoxSpec, base: str | None) -> Image:
    """The image of a task's box; blocks while it is built or pulled. Of a plain one only the base is needed.

    In an image that its Dockerfile makes of any base, the box's user has a home and owns the working directory.

    Raises:
        TaskFailure: the task's Dockerfile does not build; with its last output.
        SandboxFailure: an image is not here and cannot be pulled.
        docker.errors.DockerException: the engine failed otherwise.
    """
    kind = origin(spec)
    if spec.image is not None:
        return _require(client, spec.image, kind)
    dockerfile = find_dockerfile(spec)
    if kind == "plain" or dockerfile is None:
        image = base_image(client, base)
    else:
        image = _built(client, spec, dockerfile.parent, base if has_base(spec) else None)
    if kind != "built":
        return image
    source = _layer(image.identity.removeprefix("sha256:"), spec.workdir)
    name = f"{_family(spec)}:{_short(source)}"
    _once(client, spec, name, fileobj=io.BytesIO(source.encode()), network_mode="none")
    return _require(client, name, kind)


def base_image(client: DockerClient, base: str | None) -> Image:
    """What tasks are built on, pulled if it is not here.

    Raises:
        SandboxFailure: it cannot be had; with what to do about it.
        docker.errors.DockerException: the engine failed otherwise.
    """
    try:
        return _require(client, base or DEFAULT_BASE, "plain")
    except SandboxFailure as failure:
        raise SandboxFailure(f"{failure}; --base-image NAME names one that is here to build tasks on") from failure


def with_tools(client: DockerClient, image: Image) -> Image:
    """The image with the programs that a box without python3 needs; the same errors as `box_image`."""
    source = f"FROM {image.identity.removeprefix('sha256:')}\nUSER 0\nRUN {layer()}\n"
    name = f"{LABEL}-box:{_short(source)}"
    _once(client, BoxSpec(image.name), name, fileobj=io.BytesIO(source.encode()), network_mode="none")
    return replace(image, identity=_require(client, name, image.origin).identity, tools=True)


def _family(spec: BoxSpec) -> str:
    return f"{LABEL}-{re.sub(r'[^a-z0-9]+', '-', spec.name.lower()).strip('-') or 'task'}"


def _built(client: DockerClient, spec: BoxSpec, environment: Path, base: str | None) -> Image:
    """What the task's own Dockerfile makes."""
    parts = [_content(environment)]
    arguments = {}
    if base is not None:
        parts.append(base_image(client, base).identity)
        arguments["BASE"] = base
    name = f"{_family(spec)}:{_short(*parts)}"
    _once(client, spec, name, path=str(environment), buildargs=arguments)
    return _require(client, name, "own")


def _layer(image: str, workdir: str) -> str:
    """A Dockerfile that gives the box's user a home, the working directory, and the folders of the verifier."""
    folders = shlex.join([HOME, "/tests", "/solution", "/logs", *LOGS])
    place = shlex.quote(workdir)
    deep = "" if workdir == "/" else "-R "
    account = f"agent:x:{USER}::{HOME}:/bin/bash"
    return (
        f"FROM {image}\nUSER root\n"
        f"RUN mkdir -p {place} {folders} && chown {deep}{USER} {place} && chown {USER} {folders} && "
        f"(grep -q '^[^:]*:[^:]*:1000:' /etc/passwd || echo {account} >> /etc/passwd)\n"
    )


def _once(client: DockerClient, spec: BoxSpec, name: str, **context: Any) -> None:
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
                raise TaskFailure(f"{spec.name}: its image does not build; last output: {last_words(log)}") from error
            except APIError as error:
                raise TaskFailure(f"{spec.name}: its image does not build: {error.explanation or error}") from error


def _require(client: DockerClient, name: str, kind: Origin) -> Image:
    """What is known of an image, pulled if it is not here."""
    from docker.errors import APIError, ImageNotFound  # lazy: slow import

    with _locks[name]:
        try:
            found = client.images.get(name)
        except ImageNotFound:
            try:
                client.images.pull(name)
                found = client.images.get(name)
            except APIError as error:
                raise SandboxFailure(
                    f"the image {name} is not here and cannot be pulled: {error.explanation}"
                ) from error
    said = found.attrs.get("Config") or {}
    machine = str(found.attrs.get("Architecture") or "")
    return Image(name, str(found.id), kind, said.get("User") or "", said.get("WorkingDir") or "", machine)


def _content(folder: Path) -> str:
    """A hash over names, modes and bytes of all that is in a folder."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        total.update(os.fsencode(f"{path.relative_to(folder)}\0{path.lstat().st_mode}\0"))
        if path.is_symlink():
            total.update(os.fsencode(path.readlink()))
        elif path.is_file():
            total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def _short(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
