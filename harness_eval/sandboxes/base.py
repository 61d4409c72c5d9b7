"""What a sandbox is: a place with a file system where commands run, made from a task's environment."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from harness_eval.errors import ConfigError

_OF_THE_SYSTEM = re.compile(r"/+(proc|dev|sys)(/|$)")  # where nobody can work


@dataclass(frozen=True, slots=True)
class BoxLimits:
    """Limits of one box; `network` False means no network at all."""

    memory_mb: int = 1024
    pids: int = 256
    cpus: float = 1.0
    disk_mb: int = 1024
    network: bool = False


@dataclass(frozen=True, slots=True)
class Healthcheck:
    """A command that must succeed in a box before work starts there; all times are in seconds.

    It is tried every `interval`, and fails after `retries` failures in a row. Those of the first `start_period`, in
    which it is tried every `start_interval`, do not count.
    """

    command: str
    interval: float = 5.0
    timeout: float = 30.0
    retries: int = 3
    start_period: float = 0.0
    start_interval: float = 5.0


@dataclass(frozen=True, slots=True)
class BoxSpec:
    """What to make a box from.

    `environment` is a task's folder of that name: `files/` is copied into the working directory, then `setup.sh` (if
    there) runs in it as the box's user; Docker builds the `Dockerfile` instead where that asks for more. `image` names
    a prebuilt image. `workdir_of_image` says that the task names no working directory itself: in an image of its own it
    works where the image says. `user` and `verifier_user` count in such an image alone; None is the image's own user.
    `shared` are folders of this machine that commands may read at their own paths; no box for judging has them.
    """

    name: str
    environment: Path | None = None
    image: str | None = None
    workdir: str = "/app"
    env: Mapping[str, str] = field(default_factory=dict)
    limits: BoxLimits = BoxLimits()
    build_timeout: float = 600.0
    workdir_of_image: bool = False
    user: str | None = None
    verifier_user: str | None = None
    healthcheck: Healthcheck | None = None
    shared: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        """Raises ConfigError for a working directory that is not absolute, leads up again, or is the system's."""
        if not self.workdir.startswith("/") or ".." in self.workdir.split("/") or "\0" in self.workdir:
            raise ConfigError(f"{self.name}: the working directory {self.workdir!r} must be absolute, without '..'")
        if _OF_THE_SYSTEM.match(self.workdir):
            raise ConfigError(f"{self.name}: the working directory (environment.workdir) cannot be {self.workdir!r}")


@dataclass(frozen=True, slots=True)
class Executed:
    """What a command did. `output` is stdout and stderr as they came, UTF-8 with replacement, bounded in size.

    `full_length` counts the characters of the whole output; `exit_code` is None after a time-out. `held` says that a
    background process of the command still runs and holds the output open: what it writes from now on is dropped.
    """

    output: str
    exit_code: int | None
    timed_out: bool = False
    full_length: int = 0
    held: bool = False


class UnfitState(Exception):
    """What an agent left cannot be brought to where it would be judged, whatever the machine."""


class Sandbox(ABC):
    """One box. `workdir` is the absolute path inside in which commands start. `root` prefixes `/tests`, `/logs`, ...

    The local sandbox has no file system of its own, so there `/tests` lives at `root + "/tests"`; elsewhere root is "".
    `as_solver` is what a verifier writes before a command that runs the solver's code, as shell words: such a command
    sees the working directory, but neither `/tests` nor `/logs`, and can touch none of the verifier's processes. `/tmp`
    is shared, and in bubblewrap both are one user there: what a verifier must keep from the solver's code belongs into
    `$VERIFIER_DIR`. Empty where a verifier and what it runs cannot be kept apart. `own_judge` says that what is judged
    here is the agent's very box, emptied of its processes, and no copy.
    """

    workdir: str
    root: str = ""
    as_solver: str = ""
    own_judge: bool = False

    @abstractmethod
    async def run(
        self,
        command: str,
        *,
        timeout: float = 60.0,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Executed:
        """Run `command` with bash, standard input closed. A time-out kills everything that the command started.

        Raises:
            SandboxFailure: if the box itself is broken or gone; a failing command is no failure.
        """

    @abstractmethod
    async def read(self, path: str) -> bytes:
        """The bytes of a file; relative paths start at `workdir`.

        Raises:
            FileNotFoundError, IsADirectoryError, PermissionError: as the box's user would see them; other OSErrors
                alike, for instance for a file too large to read, or a full disk on writing.
            SandboxFailure: if the box is broken or gone.
        """

    @abstractmethod
    async def write(self, path: str, data: bytes) -> None:
        """Write a file, making parent folders; the same errors as `read`."""

    @abstractmethod
    async def upload(self, source: Path, target: str) -> None:
        """Copy a host folder's content to the absolute path `target` inside (for local: `root + target`).

        What Python has compiled of programs that are in it stays behind.
        """

    @abstractmethod
    async def end_processes(self) -> None:
        """Kill all that commands have started and left running. Raises SandboxFailure if the box is broken."""


class SandboxProvider(ABC):
    """A kind of sandbox on this machine.

    As an asynchronous context it may keep boxes ready for the next `open`; when the context ends none is left.
    """

    name: str
    promises: str  # one sentence: what this kind protects from
    swept: int = 0  # what dead runs had left, and has been removed on the way

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    @abstractmethod
    def unavailable(self) -> str | None:
        """Why this kind cannot be used here, or None."""

    def refuses(self, spec: BoxSpec) -> str | None:
        """Why this kind of sandbox can never be what this box must be, or None."""
        del spec
        return None

    @abstractmethod
    def open(self, spec: BoxSpec) -> AbstractAsyncContextManager[Sandbox]:
        """A fresh box, taken down with all that runs in it when the context ends.

        Raises:
            SandboxFailure: if it cannot be made.
            TaskFailure: if the task's environment cannot be built.
        """

    @asynccontextmanager
    async def seal(self, box: Sandbox, spec: BoxSpec) -> AsyncIterator[Sandbox]:
        """A box in which to judge what `box` holds: nothing that ran in `box` is alive in it, or can change it.

        Where a box is its own judge it is `box` itself; else a fresh one with a copy of the working directory.

        Raises:
            UnfitState: the working directory cannot be copied, because of what is in it.
            SandboxFailure: a box cannot be made, or is broken.
        """
        await box.end_processes()
        box.own_judge = True
        yield box
