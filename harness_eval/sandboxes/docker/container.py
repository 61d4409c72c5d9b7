"""Running containers: how they are started, reached and removed.

The supervisor is a container's first process, and the engine gives it our connection as standard input: when we are
gone, however that came, the connection ends, the supervisor with it, and the engine removes the container.
"""

from __future__ import annotations

import re
import socket
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, closing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from harness_eval.errors import SandboxFailure, TaskFailure
from harness_eval.sandboxes.base import Sandbox
from harness_eval.sandboxes.box import SupervisedBox
from harness_eval.sandboxes.channel import Channel
from harness_eval.sandboxes.docker.blueprint import ROOT, Blueprint, first_process
from harness_eval.sandboxes.docker.engine import connect, engine, taken
from harness_eval.sandboxes.docker.images import Image, with_tools
from harness_eval.sandboxes.docker.shell import ShellBox

if TYPE_CHECKING:
    from docker import APIClient, DockerClient

_REMEMBERED = 3600  # seconds back, at most, of the engine's events that are looked at
_ASKED = 10.0  # seconds in which it must tell them
_UNDER_WAY = 409  # status of a request to remove what is being removed
_ATTACH = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
_OF_THE_IMAGE = re.compile("unable to find user|no matching entries|executable file not found|exec format")
_with_tools: dict[str, Image] = {}  # for images without a python3: what containers are made of instead
_sized: dict[str, bool] = {}  # whether the engine of this address can limit the size of a container


class Container:
    """One that runs; `bare` says that it has no python3 for the supervisor."""

    def __init__(self, client: DockerClient, identity: str, connection: socket.socket, blueprint: Blueprint) -> None:
        self.api: APIClient = client.api
        self.identity = identity
        self.blueprint = blueprint
        self.bare = False
        self._connection = connection
        self._channel = Channel(connection, multiplexed=True)

    @classmethod
    async def start(cls, blueprint: Blueprint) -> Container:
        """A new one, whose first process is ready for commands.

        Raises:
            TaskFailure: the task's image cannot be one.
            SandboxFailure: it cannot be made.
        """
        known = _with_tools.get(blueprint.image.identity)
        blueprint = replace(blueprint, image=known) if known else blueprint
        async with AsyncExitStack() as undo:
            try:
                with engine():
                    container = await to_thread.run_sync(_start, blueprint)
                undo.push_async_callback(container.remove)
                container.bare = await SupervisedBox(container._channel, blueprint.workdir).start() == b"plain"
            except SandboxFailure as failure:
                raise await _explained(failure, blueprint) from failure
            if not container.bare or blueprint.image.tools:
                undo.pop_all()
                return container
        with engine():
            await to_thread.run_sync(_add_tools, blueprint.image)
        return await cls.start(blueprint)

    @property
    def alive(self) -> bool:
        """Whether its first process still holds the connection."""
        try:
            return self._connection.recv(1, socket.MSG_PEEK) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    @property
    def sized(self) -> bool:
        """Whether nothing in it can outgrow its disk: it is all in memory, or the engine limits it."""
        return self.blueprint.in_memory or _sized.get(str(self.api.base_url), False)

    async def size(self) -> int:
        """The bytes that its files take beyond those of the image. Raises SandboxFailure."""

        def ask() -> int:
            found = self.api.containers(all=True, size=True, filters={"id": self.identity})
            return int(found[0].get("SizeRw", 0)) if found else 0

        with engine():
            return await to_thread.run_sync(ask)

    async def runs(self) -> bool:
        """Whether the engine answers and says that it runs."""

        def ask() -> bool:
            return bool(self.api.inspect_container(self.identity)["State"]["Running"])

        with suppress(SandboxFailure), engine():
            return await to_thread.run_sync(ask)
        return False

    async def starved(self) -> bool:
        """Whether something in it was killed because its memory was used up, as the engine remembers for a while."""

        def ask() -> bool:
            now, wanted = int(time.time()), {"container": self.identity, "event": "oom"}
            events = self.api.events(decode=True, since=now - _REMEMBERED, until=now + 1, filters=wanted)
            return any(True for _ in events)

        with suppress(SandboxFailure), engine(), anyio.move_on_after(_ASKED):
            return await to_thread.run_sync(ask, abandon_on_cancel=True)
        return False

    async def box(self, env: Mapping[str, str]) -> Sandbox:
        """The box in it; these are the variables of each of its commands."""
        workdir = self.blueprint.workdir
        if not self.bare:
            return SupervisedBox(self._channel, workdir, env=env, starved=self.starved)
        shell = ShellBox(self._channel, workdir, env, self.starved)
        await shell.start()
        return shell

    @asynccontextmanager
    async def attached(self, user: str, env: Mapping[str, str]) -> AsyncIterator[SupervisedBox]:
        """A second box in it, for another user; its supervisor is root's, so that no command of the user can end it.

        Raises:
            SandboxFailure: it cannot be made.
            TaskFailure: the image has no python3 for it.
        """
        blueprint = self.blueprint
        if self.bare:
            raise TaskFailure(f"{blueprint.task}: the user {user} needs a python3 in the image {blueprint.image.name}")

        def attach() -> socket.socket:
            words = first_process(blueprint, adopt=1, user=user)
            made = self.api.exec_create(self.identity, words, stdin=True, user=ROOT, workdir=blueprint.workdir)
            return taken(self.api.exec_start(made["Id"], socket=True))

        with engine():
            channel = Channel(await to_thread.run_sync(attach), multiplexed=True)
        try:
            box = SupervisedBox(channel, blueprint.workdir, env=env, starved=self.starved)
            await box.start()
            yield box
        finally:
            channel.close()

    async def remove(self) -> None:
        """Remove it with all that runs in it. Raises SandboxFailure if the engine does not."""
        with anyio.CancelScope(shield=True):
            self._channel.close()
            with engine(), closing(self.api):
                await to_thread.run_sync(remove, self.api, self.identity)


def _start(blueprint: Blueprint) -> Container:
    with ExitStack() as undo:
        client = undo.enter_context(closing(connect()))
        identity = _create(client, blueprint)
        undo.callback(remove, client.api, identity)
        connection = taken(client.api.attach_socket(identity, _ATTACH))
        undo.callback(connection.close)
        client.api.start(identity)
        undo.pop_all()
    return Container(client, identity, connection, blueprint)


def _add_tools(image: Image) -> None:
    with closing(connect()) as client:
        _with_tools[image.identity] = with_tools(client, image)


def _create(client: DockerClient, blueprint: Blueprint) -> str:
    """Create it; with a limit on the size of what it writes where it needs one and the engine can do that."""
    from docker.errors import APIError  # lazy: slow import

    address = str(client.api.base_url)
    sized = not blueprint.in_memory and _sized.get(address, True)
    while True:
        options = {"entrypoint": first_process(blueprint), **blueprint.options(sized)}
        try:
            made = client.containers.create(blueprint.image.identity, **options)
        except APIError as error:
            if not sized or "storage" not in str(error.explanation).lower():
                raise
            sized = _sized[address] = False
        else:
            if sized:
                _sized[address] = True
            return str(made.id)


async def _explained(failure: SandboxFailure, blueprint: Blueprint) -> SandboxFailure | TaskFailure:
    """The failure of a start with the name of the image, as the task's where the image is one that runs nowhere."""
    image = blueprint.image
    reason = _OF_THE_IMAGE.search(str(failure))
    if image.origin == "plain" or reason is None:
        return SandboxFailure(f"the image {image.name}: {failure}")
    if reason[0] != "exec format":
        return TaskFailure(f"{blueprint.task}: the image {image.name} cannot be used: {failure}")

    def machine() -> str:
        with closing(connect()) as client:
            return str(client.version()["Arch"])

    with engine():
        here = await to_thread.run_sync(machine)
    made = f"it is made for {image.architecture}, the Docker engine runs {here}"
    fault = TaskFailure if image.architecture in ("", here) else SandboxFailure
    return fault(f"{blueprint.task}: the programs of the image {image.name} cannot run here: {made}")


def remove(api: APIClient, identity: str) -> None:
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
