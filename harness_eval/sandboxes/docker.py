"""Boxes as Docker containers: for tasks with an image of their own, and where bubblewrap cannot be used.

The supervisor is the container's first process, and the engine gives it our connection as standard input: when we are
gone, however that came, the connection ends, the supervisor with it, and the engine removes the container.
"""

from __future__ import annotations

import shlex
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, closing, suppress
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread

from harness_eval.errors import SandboxFailure, TaskFailure
from harness_eval.sandboxes import inside, owner
from harness_eval.sandboxes.base import BoxSpec, Sandbox, SandboxProvider
from harness_eval.sandboxes.box import Channel, SupervisedBox
from harness_eval.sandboxes.docker_engine import connect, engine, taken
from harness_eval.sandboxes.docker_exec import ExecBox
from harness_eval.sandboxes.docker_images import HOME, LABEL, USER, box_image
from harness_eval.sandboxes.environment import find_dockerfile, prepare

if TYPE_CHECKING:
    from docker import APIClient

_OWNER = f"{LABEL}.owner"
_UNDER_WAY = 409  # status of a request to remove what is being removed
_ATTACH = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}


class DockerProvider(SandboxProvider):
    """Containers of the engine that `DOCKER_HOST` names, or of this machine's; tasks are built on `base_image`."""

    name = "docker"
    promises = (
        "commands see only their own container, have no network unless the task asks for it, no privileges, and limits "
        "on time, output, memory, processes, processor time and the size of a file, but not on all files together; the "
        "kernel is shared"
    )

    def __init__(self, base_image: str | None = None) -> None:
        self._base = base_image
        self._reaped = False

    def unavailable(self) -> str | None:
        """Why this kind cannot be used here, or None."""
        try:
            with engine(), closing(connect()) as client:
                client.ping()
        except SandboxFailure as failure:
            return (
                f"{failure}; start Docker, for instance with `systemctl start docker` or `dockerd`, or say with "
                "DOCKER_HOST where its engine is"
            )
        return None

    @asynccontextmanager
    async def open(self, spec: BoxSpec) -> AsyncIterator[Sandbox]:
        """A fresh container; see `SandboxProvider.open`. The first one waits until the task's image is built."""
        if not self._reaped:
            self._reaped = True
            await reap()
        image = await self._image(spec)
        async with _container(spec, image) as (api, identity, channel):
            supervised = SupervisedBox(channel, spec.workdir)
            plain = await supervised.start() == b"plain"
            box = ExecBox(api, identity, spec.workdir) if plain else supervised
            if spec.image is None and find_dockerfile(spec) is None:
                await prepare(box, spec)
            yield box

    async def _image(self, spec: BoxSpec) -> str:
        def build() -> str:
            with engine(), closing(connect()) as client:
                return box_image(client, spec, self._base)

        with anyio.move_on_after(spec.build_timeout):
            return await to_thread.run_sync(build, abandon_on_cancel=True)
        raise TaskFailure(f"{spec.name}: its image was not built within {spec.build_timeout:g} s")


@asynccontextmanager
async def _container(spec: BoxSpec, image: str) -> AsyncIterator[tuple[APIClient, str, Channel]]:
    """A running container, as the engine's interface and its name there, and the channel to its first process."""
    with engine():
        api, identity, connection = await to_thread.run_sync(_start, spec, image)
    channel = Channel(connection, multiplexed=True)
    try:
        yield api, identity, channel
    finally:
        with anyio.CancelScope(shield=True):
            channel.close()
            with engine(), closing(api):
                await to_thread.run_sync(_remove, api, identity)


def _start(spec: BoxSpec, image: str) -> tuple[APIClient, str, socket.socket]:
    client = connect()
    container = client.containers.create(image, entrypoint=_entrypoint(spec), **_options(spec))
    identity = str(container.id)
    with ExitStack() as undo:
        undo.callback(container.remove, force=True)
        connection = taken(client.api.attach_socket(identity, _ATTACH))
        container.start()
        undo.pop_all()
    return client.api, identity, connection


def _entrypoint(spec: BoxSpec) -> list[str]:
    """The supervisor where the image has a python3 for it; else a process that says so, and waits for our end."""
    file_limit = spec.limits.disk_mb << 20
    start = shlex.join(inside.command_line("python3", hide=1, file=file_limit))
    able = "python3 -I -S -c 'import os, sys; os.posix_spawnp'"
    plain = r"printf '\000\000\000\011\000\000\000\005plain'; exec cat >/dev/null"
    return ["sh", "-c", f"if {able} 2>/dev/null; then exec {start}; fi; {plain}"]


def _options(spec: BoxSpec) -> dict[str, Any]:
    from docker.types import LogConfig  # lazy: slow import

    limits = spec.limits
    return {
        "user": USER,
        "working_dir": spec.workdir,
        "environment": {"HOME": HOME, "LANG": "C.UTF-8", "TERM": "dumb", **spec.env},
        "hostname": "box",
        "network_mode": "bridge" if limits.network else "none",
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges"],
        "mem_limit": f"{limits.memory_mb}m",
        "memswap_limit": f"{limits.memory_mb}m",
        "pids_limit": limits.pids,
        "nano_cpus": int(limits.cpus * 1e9),
        "labels": {LABEL: "1", _OWNER: owner.token()},
        "log_config": LogConfig(type="none"),  # all that goes through the connection would be written to disk
        "stdin_open": True,
        "auto_remove": True,
    }


def _remove(api: APIClient, identity: str) -> None:
    """Remove a container; the engine may be at it already, since its first process has ended."""
    from docker.errors import APIError, NotFound  # lazy: slow import

    try:
        api.remove_container(identity, force=True, v=True)
    except NotFound:
        return
    except APIError as error:
        if error.status_code != _UNDER_WAY:
            raise
        with suppress(NotFound):
            api.wait(identity, condition="removed")


async def reap() -> int:
    """Remove the containers that dead runs left; their number. Those of a living or unknown owner stay.

    Raises:
        SandboxFailure: no engine answers.
    """
    with engine():
        return await to_thread.run_sync(_reap)


def _reap() -> int:
    with closing(connect()) as client:
        found = client.containers.list(all=True, filters={"label": f"{LABEL}=1"}, ignore_removed=True)
        dead = [container for container in found if owner.gone(container.labels.get(_OWNER, ""))]
        for container in dead:
            _remove(client.api, str(container.id))
    return len(dead)
