"""Boxes as Docker containers: for tasks with an image of their own, and where bubblewrap cannot be used."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from typing import TYPE_CHECKING, Self

import anyio
from anyio import to_thread

from harness_eval.errors import SandboxFailure, TaskFailure
from harness_eval.sandboxes import owner
from harness_eval.sandboxes.base import BoxSpec, Sandbox, SandboxProvider
from harness_eval.sandboxes.box import SupervisedBox
from harness_eval.sandboxes.docker import dockerfile
from harness_eval.sandboxes.docker.blueprint import OWNER, ROOT, Blueprint
from harness_eval.sandboxes.docker.container import Container, remove
from harness_eval.sandboxes.docker.engine import connect, engine
from harness_eval.sandboxes.docker.images import HOME, LABEL, USER, Image, base_image, box_image
from harness_eval.sandboxes.docker.own import OwnImageBox, judged_in_place, own_image_box
from harness_eval.sandboxes.docker.pool import Pool
from harness_eval.sandboxes.environment import prepare
from harness_eval.sandboxes.healthcheck import require_healthy
from harness_eval.sandboxes.sealing import copy_folder, roomy

if TYPE_CHECKING:
    from docker import DockerClient

_AS_SOLVER = "/root/as_solver.py"
# The container sees to it that no privileges come back; the kernel takes the capabilities of whoever stops being root.
_DROP = f"""import os, sys
os.getpgrp() == os.getpid() or os.setsid()
os.setgroups([])
os.setresgid(1000, 1000, 1000)
os.setresuid(1000, 1000, 1000)
os.environ["HOME"] = {HOME!r}
os.execvp(sys.argv[1], sys.argv[1:])
"""


class DockerProvider(SandboxProvider):
    """Containers of the engine that `DOCKER_HOST` names, or of this machine's; tasks are built on `base_image`.

    As a context it keeps containers ready for tasks that need no image of their own.
    """

    name = "docker"
    promises = (
        "commands see only their own container, have no network unless the task asks for it, no privileges, and limits "
        "on time, output, memory, processes, processor time and disk; in an image of the task's own they may be root, "
        "with the rights over files, users and processes alone, its files are counted every few seconds where the "
        "engine cannot limit them, what its verifier runs has the verifier's rights, and a verdict on such a task can "
        "be forged by a model that replaces the container's programs; the kernel is shared"
    )

    def __init__(self, base_image: str | None = None) -> None:
        self._base = base_image
        self._plain: Image | None = None
        self._reaped = False
        self._pool: Pool | None = None
        self._entered = 0

    async def __aenter__(self) -> Self:
        self._entered += 1
        if self._pool is None:
            self._pool = await Pool().__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._entered -= 1
        if self._pool and not self._entered:
            pool, self._pool = self._pool, None
            await pool.__aexit__()

    @property
    def ready(self) -> int:
        """How many containers wait for the next box, or for the next judging."""
        return self._pool.ready if self._pool else 0

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

    def missing_base(self) -> str | None:
        """Why what tasks are built on cannot be had, or None; blocks while it is pulled."""
        try:
            with engine(), closing(connect()) as client:
                base_image(client, self._base)
        except SandboxFailure as failure:
            return str(failure)
        return None

    def is_built_on_base(self, spec: BoxSpec) -> bool:
        """Whether a box is made from what `missing_base` looks for, and not from an image that the task names."""
        return dockerfile.has_base(spec) and (self._base is not None or dockerfile.origin(spec) == "plain")

    @asynccontextmanager
    async def open(self, spec: BoxSpec) -> AsyncIterator[Sandbox]:
        """A fresh container; see `SandboxProvider.open`. The first one waits until the task's image is built."""
        if not self._reaped:
            self._reaped = True
            self.swept += await reap()
        blueprint = _blueprint(spec, await self._image(spec))
        async with self._container(blueprint) as container:
            if self._pool and blueprint.image.origin == "plain":
                self._pool.expect(_judging(blueprint))
            async with _boxed(container, spec) as box:
                await (prepare if blueprint.image.origin == "plain" else require_healthy)(box, spec)
                yield box

    @asynccontextmanager
    async def seal(self, box: Sandbox, spec: BoxSpec) -> AsyncIterator[Sandbox]:
        """A fresh container with a copy of the working directory, in which the verifier is root with few rights; for an
        image of the task's own, and one without a python3, the same container. See `SandboxProvider.seal`."""
        inner = box.inner if isinstance(box, OwnImageBox) else box
        if isinstance(box, OwnImageBox) and box.container.blueprint.image.origin == "own":
            async with judged_in_place(box, spec) as sealed:
                yield sealed
            return
        if not isinstance(inner, SupervisedBox) or spec.workdir == "/":
            async with super().seal(inner, spec) as same:
                yield same
            return
        await inner.end_processes()
        blueprint = _judging(_blueprint(spec, await self._image(spec)))
        async with self._container(blueprint) as container:
            judge = await container.box(spec.env)
            assert isinstance(judge, SupervisedBox)
            await copy_folder(inner, judge, spec.workdir, spec.limits.disk_mb << 20)
            await _give_back(judge)
            await judge.write(_AS_SOLVER, _DROP.encode())
            judge.as_solver = f"python3 -I -S {_AS_SOLVER}"
            yield judge

    @asynccontextmanager
    async def _container(self, blueprint: Blueprint) -> AsyncIterator[Container]:
        if self._pool and blueprint.image.origin == "plain" and not blueprint.shared:
            async with self._pool.take(blueprint) as container:
                yield container
            return
        container = await Container.start(blueprint)
        try:
            yield container
        finally:
            await container.remove()

    async def _image(self, spec: BoxSpec) -> Image:
        """The image of a task's box; the base is looked for once."""
        if dockerfile.origin(spec) == "plain" and self._plain:
            return self._plain

        def build() -> Image:
            with engine(), closing(connect()) as client:
                return box_image(client, spec, self._base)

        with anyio.move_on_after(spec.build_timeout):
            image = await to_thread.run_sync(build, abandon_on_cancel=True)
            self._plain = image if image.origin == "plain" else self._plain
            return image
        raise TaskFailure(f"{spec.name}: its image was not there within {spec.build_timeout:g} s")


def _blueprint(spec: BoxSpec, image: Image) -> Blueprint:
    """The container in which an agent works at a task."""
    if image.origin == "plain":
        return Blueprint(image, spec.workdir, spec.limits, shared=spec.shared)
    if image.origin == "built":
        return Blueprint(image, spec.workdir, spec.limits, task=spec.name, shared=spec.shared)
    workdir = image.workdir or "/" if spec.workdir_of_image else spec.workdir
    return Blueprint(image, workdir, spec.limits, ROOT, task=spec.name, shared=spec.shared)


@asynccontextmanager
async def _boxed(container: Container, spec: BoxSpec) -> AsyncIterator[Sandbox]:
    """The box in which an agent works."""
    origin = container.blueprint.image.origin
    if origin == "own":
        async with own_image_box(container, spec) as own:
            yield own
        return
    box = await container.box(spec.env)
    yield box if origin == "plain" else OwnImageBox(box, container, box)


def _judging(blueprint: Blueprint) -> Blueprint:
    """The container in which to judge what was left in one of this kind, with room for as much again."""
    return replace(blueprint, limits=roomy(blueprint.limits), user=ROOT, role="judge", shared=())


async def _give_back(judge: SupervisedBox) -> None:
    """Let the working directory belong to whom the solver's code will run as."""
    given = await judge.run(f"chown -hR {USER} {shlex.quote(judge.workdir)}")
    if given.exit_code != 0:
        raise SandboxFailure(f"the working directory cannot be given back: {given.output.strip()[-500:]}")


async def reap() -> int:
    """Remove the containers that dead runs left; their number. Those of a living or unknown owner stay.

    Raises:
        SandboxFailure: no engine answers.
    """
    with engine():
        return await to_thread.run_sync(_reap)


def _reap() -> int:
    with closing(connect()) as client:
        dead = [identity for identity, token in left(client).items() if owner.gone(token)]
        for identity in dead:
            remove(client.api, identity)
    return len(dead)


def left(client: DockerClient) -> dict[str, str]:
    """The containers of all runs, dead and living ones, with the tokens of their owners."""
    found = client.containers.list(all=True, filters={"label": f"{LABEL}=1"}, ignore_removed=True)
    return {str(container.id): container.labels.get(OWNER, "") for container in found}
