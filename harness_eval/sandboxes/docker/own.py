"""A box on an image of the task's own: its files are counted, and it is its own judge."""

from __future__ import annotations

import errno
import re
import shlex
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import anyio

from harness_eval.errors import SandboxFailure, TaskFailure
from harness_eval.sandboxes.base import BoxSpec, Executed, Sandbox, UnfitState
from harness_eval.sandboxes.channel import KILLED
from harness_eval.sandboxes.docker.blueprint import ROOT
from harness_eval.sandboxes.docker.container import Container
from harness_eval.sandboxes.environment import LOGS

_INTERVAL = 5.0  # seconds between two looks at the size, which take the engine longer the more files there are
_FOLDERS = " ".join(("/tests", "/solution", "/logs", *LOGS))


class OwnImageBox(Sandbox):
    """A box in a container whose files may not take more than its disk limit together.

    Where the engine cannot see to that, their size is looked at while commands run and after them, every five seconds
    at most. Once it is passed all that runs is ended, and no command can write to a file until it is below again. The
    volumes that an image declares do not count.
    """

    def __init__(self, inner: Sandbox, container: Container, root_box: Sandbox) -> None:
        self.inner = inner
        self.container = container
        self.root_box = root_box  # the same container, for what only root may do in it
        self.workdir = inner.workdir
        self._megabytes = container.blueprint.limits.disk_mb
        self._looked = anyio.current_time()
        self._full = False

    async def run(
        self,
        command: str,
        *,
        timeout: float = 60.0,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Executed:
        """Run `command`; see `Sandbox.run`. One that is ended because the disk is full says so in its last line."""
        if self.container.sized:
            return await self.inner.run(command, timeout=timeout, cwd=cwd, env=env)
        ran, failure = Executed("", KILLED), None
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch, group.cancel_scope)
            try:
                bounded = f"ulimit -f 0\n{command}" if self._full else command
                ran = await self.inner.run(bounded, timeout=timeout, cwd=cwd, env=env)
            except SandboxFailure as error:  # out of the group it would come wrapped
                failure = error
            group.cancel_scope.cancel()
        if failure:
            raise failure
        if self._full or anyio.current_time() > self._looked + _INTERVAL:
            await self._look()
        if not self._full:
            return ran
        await self.inner.end_processes()
        said = f"\n[{self._reason}: what ran has been ended, and nothing can be written until files are removed]\n"
        return replace(ran, output=ran.output + said, full_length=ran.full_length + len(said))

    async def read(self, path: str) -> bytes:
        """The bytes of a file; see `Sandbox.read`."""
        return await self.inner.read(path)

    async def write(self, path: str, data: bytes) -> None:
        """Write a file; see `Sandbox.write`."""
        self._require_room(path)
        await self.inner.write(path, data)

    async def upload(self, source: Path, target: str) -> None:
        """Copy a host folder's content into the box; see `Sandbox.upload`."""
        self._require_room(target)
        await self.inner.upload(source, target)

    async def end_processes(self) -> None:
        """Kill all that commands have started and left running; see `Sandbox.end_processes`."""
        await self.inner.end_processes()

    @property
    def _reason(self) -> str:
        return f"the files of this box take more than its disk limit of {self._megabytes} MB"

    def _require_room(self, path: str) -> None:
        if self._full:
            raise OSError(errno.ENOSPC, self._reason, path)

    async def _watch(self, scope: anyio.CancelScope) -> None:
        """Cancel the scope as soon as a look says that the disk is full, where it was not before."""
        full = self._full
        while full or not self._full:
            await anyio.sleep(max(0.0, self._looked + _INTERVAL - anyio.current_time()))
            await self._look()
        scope.cancel()

    async def _look(self) -> None:
        self._looked = anyio.current_time()
        with suppress(SandboxFailure):  # a broken engine will be noticed by whoever needs it
            self._full = await self.container.size() > self._megabytes << 20


@asynccontextmanager
async def own_image_box(container: Container, spec: BoxSpec) -> AsyncIterator[OwnImageBox]:
    """The box in which an agent works, as the user that the task or its image names.

    Raises:
        TaskFailure: there is no such user.
        SandboxFailure: the container is broken.
    """
    root = await container.box(spec.env)
    user = spec.user or container.blueprint.image.user or ROOT
    await _make_folders(root, container, user)
    async with _as_user(root, container, user, spec) as box:
        yield OwnImageBox(box, container, root)


@asynccontextmanager
async def judged_in_place(box: OwnImageBox, spec: BoxSpec) -> AsyncIterator[Sandbox]:
    """The same container, nothing left running in it, with fresh folders for the verifier, who may be another user.

    Raises:
        TaskFailure: there is no such user.
        UnfitState: the container runs, but its programs do not: an agent that was root may have removed them.
        SandboxFailure: the container is gone, or no engine answers.
    """
    user = spec.verifier_user or box.container.blueprint.image.user or ROOT
    async with AsyncExitStack() as stack:
        try:
            await box.end_processes()
            await _make_folders(box.root_box, box.container, user, fresh=True)
            sealed = await stack.enter_async_context(_as_user(box.root_box, box.container, user, spec))
        except SandboxFailure as failure:
            if not await box.container.runs():
                raise
            raise UnfitState(str(failure)) from failure
        sealed.own_judge = True
        yield sealed


@asynccontextmanager
async def _as_user(root: Sandbox, container: Container, user: str, spec: BoxSpec) -> AsyncIterator[Sandbox]:
    if user.partition(":")[0] in ("0", "root"):
        yield root
        return
    async with container.attached(user, spec.env) as box:
        yield box


async def _make_folders(root: Sandbox, container: Container, user: str, fresh: bool = False) -> None:
    """Make the folders that every box has and give them to a user."""
    remove = "rm -rf /tests /logs; " if fresh else ""
    made = await root.run(f"{remove}mkdir -p {_FOLDERS} && chown -- {shlex.quote(user)} {_FOLDERS}", cwd="/")
    if re.search("invalid (user|group)", made.output):
        blueprint = container.blueprint
        raise TaskFailure(f"{blueprint.task}: the image {blueprint.image.name} has no user {user}")
    if made.exit_code != 0:
        raise SandboxFailure(f"a container could not be prepared: {made.output.strip()[-500:]}")
