"""Boxes from unprivileged Linux namespaces: no daemon, no image, open within milliseconds.

A box's root is a fresh file system in memory, limited in size, with this machine's programs mounted read-only; so
nothing of it can outlive its processes, and no path leads from it to our files. Everything goes in and out through the
supervisor, which is the first process of the box and with which all others die.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
from anyio import to_thread

from harness_eval.errors import SandboxFailure
from harness_eval.sandboxes import cgroup, inside
from harness_eval.sandboxes.base import BoxSpec, Sandbox, SandboxProvider
from harness_eval.sandboxes.box import SupervisedBox
from harness_eval.sandboxes.environment import LOGS, needs_container, prepare, require_no_image
from harness_eval.sandboxes.launch import STANDARD_PATH, clean_environment, launched, starting
from harness_eval.sandboxes.sealing import copy_folder, roomy

HOME = "/home/agent"
_USER = "1000"  # user and group inside
_NOBODY = "65534"  # user and group outside when we are root: root's own files must not be the box's
_SHARED_MEMORY = 64 << 20  # bytes of /dev/shm
_PROGRAMS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_number = itertools.count()


class BubblewrapProvider(SandboxProvider):
    """Boxes made with bwrap."""

    name = "bubblewrap"

    def __init__(self) -> None:
        self._groups = cgroup.parents() if Path("/proc/thread-self/children").exists() else None
        self._reason: str | None = None
        self._probed = self._nests = False
        bounds = "memory, processes and processor time of the box" if self._groups else "memory of each process"
        if not self._groups and _counts_in_namespace():
            bounds = "the number of processes, and the memory of each (no control group is ours to write)"
        self.promises = (
            "commands see none of this machine's files but its programs and /etc, have no network unless the task asks "
            f"for it, and no privileges; limits time, output, disk, and {bounds}; the kernel is shared; what is left "
            "in the working directory is judged in another box"
        )

    def unavailable(self) -> str | None:
        """Why this kind cannot be used here, or None; found out by opening a box, once."""
        if not self._probed:
            self._reason, self._probed = self._probe(), True
        return self._reason

    def _probe(self) -> str | None:
        if sys.platform != "linux":
            return "it needs Linux"
        for program, package in (("bwrap", "bubblewrap"), ("setpriv", "util-linux"), ("python3", "python3")):
            if not shutil.which(program, path=STANDARD_PATH):
                return f"{program} is not in {STANDARD_PATH}: install the package {package}"
        spec = BoxSpec("probe")
        try:
            ran = _tried([*_namespaces(spec), *self._supervisor(spec)])
            nested = _tried([*_namespaces(spec, judging=True), *_as_solver(spec), "true"])
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"bwrap does not run: {error}"
        self._nests = nested.returncode == 0
        if not self._nests:
            self.promises += (
                ", where a verifier and the solver's code that it runs are one user, for want of namespaces in it"
            )
        if ran.returncode == 0 and b"ready" in ran.stdout:
            return None
        said = ran.stderr.decode("utf-8", "replace").strip() or f"it ended with {ran.returncode}"
        return f"bwrap makes no box here ({said}): it needs version 0.8 and user namespaces that this system allows"

    def refuses(self, spec: BoxSpec) -> str | None:
        """Why this kind can never be this box; see `SandboxProvider.refuses`."""
        return needs_container(spec)

    @asynccontextmanager
    async def open(self, spec: BoxSpec) -> AsyncIterator[Sandbox]:
        """A fresh box; see `SandboxProvider.open`."""
        require_no_image(spec)
        _require_reachable(spec)
        async with self._opened(spec, _namespaces(spec)) as box:
            await prepare(box, spec)
            yield box

    @asynccontextmanager
    async def seal(self, box: Sandbox, spec: BoxSpec) -> AsyncIterator[Sandbox]:
        """A fresh box with a copy of the working directory, and room for as much again; see `SandboxProvider.seal`."""
        assert isinstance(box, SupervisedBox)
        await to_thread.run_sync(self.unavailable)
        await box.end_processes()
        judging = replace(spec, limits=roomy(spec.limits), shared=())
        async with self._opened(judging, _namespaces(judging, judging=True)) as sealed:
            await copy_folder(box, sealed, spec.workdir, spec.limits.disk_mb << 20)
            sealed.as_solver = shlex.join(_as_solver(judging)) if self._nests else ""
            yield sealed

    @asynccontextmanager
    async def _opened(self, spec: BoxSpec, namespaces: list[str]) -> AsyncIterator[SupervisedBox]:
        arguments = [*namespaces, *self._supervisor(spec)]
        env = clean_environment(HOME, {})
        async with self._group(spec) as group, AsyncExitStack() as opened:
            async with starting():
                channel, process = await opened.enter_async_context(launched(arguments, env, "/"))
                box = SupervisedBox(channel, spec.workdir, env=spec.env, starved=group.starved if group else None)
                await box.start()
            if group:
                _enter(group, process.pid)
            yield box

    @asynccontextmanager
    async def _group(self, spec: BoxSpec) -> AsyncIterator[cgroup.Group | None]:
        if self._groups is None:
            yield None
            return
        number = next(_number)
        if number == 0:
            self.swept += cgroup.sweep(self._groups)
        group = cgroup.Group(self._groups, str(number), spec.limits)
        try:
            try:
                group.make()
            except OSError as error:
                raise SandboxFailure(f"no control group could be made: {error}") from error
            yield group
        finally:
            with anyio.CancelScope(shield=True):
                await group.remove()

    def _supervisor(self, spec: BoxSpec) -> list[str]:
        """The command line of a box's first process."""
        python = shutil.which("python3", path=STANDARD_PATH) or "python3"
        limits = {}
        if self._groups is None:
            limits["data"] = spec.limits.memory_mb << 20
            if _counts_in_namespace():
                limits["processes"] = spec.limits.pids
        return inside.command_line(python, hide=1, **limits)


def _namespaces(spec: BoxSpec, judging: bool = False) -> list[str]:
    """The command line that makes a box and becomes what is written behind it; where a box is for judging, `bwrap` can
    be used in it once more."""
    drop = ["setpriv", "--reuid", _NOBODY, "--regid", _NOBODY, "--clear-groups"] if os.geteuid() == 0 else []
    return [
        *drop,
        *("bwrap", "--unshare-all", "--unshare-user", *(() if judging else ("--disable-userns",))),
        *("--uid", _USER, "--gid", _USER, "--die-with-parent", "--new-session", "--as-pid-1", "--hostname", "box"),
        *(("--share-net",) if spec.limits.network else ()),
        *_file_system(spec),
        *(("--dir", "/tests") if judging else ()),
        *("--chdir", spec.workdir),
    ]


def _as_solver(spec: BoxSpec) -> list[str]:
    """The command line under which a verifier runs the solver's code: it ends with this, and all that it started too.

    The working directory and `/tmp` are shared, and so is the network, for a verifier that talks to a service. Nothing
    else can be written, or the verifier's own programs would meet it.
    """
    room = ("--size", str(spec.limits.disk_mb << 20))
    shared = [word for folder in (spec.workdir, "/tmp", "/var/tmp") for word in ("--bind", folder, folder)]  # noqa: S108
    hidden = [word for folder in ("/tests", "/logs") for word in (*room, "--tmpfs", folder)]
    return [
        *("bwrap", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--disable-userns", "--uid", _USER, "--gid"),
        *(_USER, "--die-with-parent", "--new-session", "--ro-bind", "/", "/", *room, "--tmpfs", HOME, *shared),
        *("--dev-bind", "/dev", "/dev", "--size", str(_SHARED_MEMORY), "--tmpfs", "/dev/shm"),  # noqa: S108
        *("--proc", "/proc", *hidden, "--"),
    ]


def _tried(arguments: list[str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        arguments,
        input=inside.program(),
        capture_output=True,
        env={"PATH": STANDARD_PATH},
        cwd="/",
        timeout=30,
        check=False,
    )


def _require_reachable(spec: BoxSpec) -> None:
    """Where we are root, boxes are made by nobody, who cannot mount what lies in a private folder."""
    if os.geteuid() != 0:
        return
    for shared in spec.shared:
        closed = next((each for each in (shared, *shared.parents) if not each.stat().st_mode & stat.S_IXOTH), None)
        if closed:
            raise SandboxFailure(
                f"{shared} cannot be shared with a box: {closed} is private; folders for temporary files (TMPDIR) and "
                "installations (HARNESS_EVAL_EXTERNALS) must be open to all users"
            )


def _file_system(spec: BoxSpec) -> list[str]:
    arguments = ["--size", str(spec.limits.disk_mb << 20), "--tmpfs", "/"]
    arguments += ["--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc"]
    for path in map(Path, _PROGRAMS):
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            arguments += ["--ro-bind", str(path), str(path)]
    if spec.limits.network:
        names = str(Path("/etc/resolv.conf").resolve())  # often a link to a place outside /etc
        arguments += ["--ro-bind-try", names, names]
    arguments += ["--proc", "/proc", "--dev", "/dev"]
    arguments += ["--size", str(_SHARED_MEMORY), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]  # noqa: S108
    for folder in ("/tmp", "/var/tmp"):  # noqa: S108  (the box's own)
        arguments += ["--perms", "1777", "--dir", folder]
    for folder in (HOME, "/run", *LOGS, spec.workdir):
        arguments += ["--dir", folder]
    for shared in map(str, spec.shared):
        arguments += ["--ro-bind", shared, shared]
    return arguments


def _enter(group: cgroup.Group, outer: int) -> None:
    """Put the first process of a box into its group; bwrap itself, which only waits for it, stays outside."""
    try:
        for pid in Path(f"/proc/{outer}/task/{outer}/children").read_text().split():
            group.add(int(pid))
    except OSError as error:
        raise SandboxFailure(f"the box could not be put into its control group: {error}") from error


def _counts_in_namespace() -> bool:
    """Whether the kernel counts a user's processes in each namespace on its own: before, a limit would also count all
    that the user runs outside."""
    return [int(number) for number in re.findall(r"\d+", os.uname().release)[:2]] >= [5, 14]
