"""Commands run as ourselves in a temporary folder: quick, and no protection at all."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from signal import SIGKILL

import anyio
from anyio import to_thread

from harness_eval.errors import SandboxFailure
from harness_eval.sandboxes import inside, owner
from harness_eval.sandboxes.base import BoxSpec, Sandbox, SandboxProvider
from harness_eval.sandboxes.box import SupervisedBox
from harness_eval.sandboxes.environment import LOGS, needs_container, prepare, require_no_image
from harness_eval.sandboxes.launch import clean_environment, launched, starting
from harness_eval.sandboxes.sealing import copy_folder

PREFIX = "harness-eval-"
"""How the folders begin that are made on a machine; the token of their owner follows."""
_LOOKS, _BETWEEN = 100, 0.01  # how often processes are looked for at most, and seconds in between


class LocalProvider(SandboxProvider):
    """Temporary folders on this machine."""

    name = "local"
    promises = (
        "limits time and output and cleans up after itself; commands run as you, can read, change and send away all "
        "that you can, the credentials in the environment of this program included, and have no limit on memory, "
        "processes, disk or network; what is left in the working directory is judged in another folder, where the "
        "solver's code, run by a verifier, could forge what it says"
    )

    def __init__(self) -> None:
        self._swept = False

    def unavailable(self) -> str | None:
        """Why this kind cannot be used here, or None."""
        if sys.platform != "linux":
            return "it needs Linux"
        return None if shutil.which("bash") else "bash is not installed"

    def refuses(self, spec: BoxSpec) -> str | None:
        """Why this kind can never be this box; see `SandboxProvider.refuses`."""
        return needs_container(spec)

    @asynccontextmanager
    async def open(self, spec: BoxSpec) -> AsyncIterator[Sandbox]:
        """A fresh folder; see `SandboxProvider.open`."""
        require_no_image(spec)
        if not self._swept:
            self._swept = True
            self.swept += await to_thread.run_sync(sweep)
        async with self._opened(spec) as box:
            await prepare(box, spec)
            yield box

    @asynccontextmanager
    async def _opened(self, spec: BoxSpec) -> AsyncIterator[SupervisedBox]:
        root = _make_root(spec)
        process: subprocess.Popen[bytes] | None = None
        try:
            env = clean_environment(str(root / "home"), {"TMPDIR": str(root / "tmp")})
            program = inside.command_line(sys.executable, adopt=1, hide=1)
            async with AsyncExitStack() as opened:
                async with starting():
                    channel, process = await opened.enter_async_context(launched(program, env, f"{root}{spec.workdir}"))
                    box = SupervisedBox(channel, spec.workdir, str(root), spec.env)
                    await box.start()
                yield box
        finally:
            with anyio.CancelScope(shield=True):
                killed = process is not None and process.returncode != 0  # so what it started may still run
                await to_thread.run_sync(_clear, root, killed)

    @asynccontextmanager
    async def seal(self, box: Sandbox, spec: BoxSpec) -> AsyncIterator[Sandbox]:
        """A fresh folder with a copy of the working directory; see `SandboxProvider.seal`."""
        assert isinstance(box, SupervisedBox)
        await box.end_processes()
        async with self._opened(spec) as sealed:
            await copy_folder(box, sealed, spec.workdir, spec.limits.disk_mb << 20)
            yield sealed


def _make_root(spec: BoxSpec) -> Path:
    try:
        root = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{owner.token()}-")).resolve()
    except OSError as error:
        raise SandboxFailure(f"no folder for a box could be made: {error}") from error
    try:
        for name in (spec.workdir, *LOGS, "/home", "/tmp"):  # noqa: S108  (below root)
            (root / name.lstrip("/")).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        _remove(root)
        raise SandboxFailure(f"no folder for a box could be made: {error}") from error
    return root


def _clear(root: Path, killed: bool) -> None:
    try:
        if killed:
            _kill_stragglers(root)
    finally:
        _remove(root)


def _remove(root: Path) -> None:
    """Remove a folder with all that is in it, however deep; what a command has closed even to us is opened first.

    By programs, because Python's own ways recurse. What cannot be removed is left.
    """
    for command in (("rm", "-rf", "--"), ("chmod", "-R", "u+rwx", "--"), ("rm", "-rf", "--")):
        if root.exists():
            subprocess.run([*command, root], stdin=subprocess.DEVNULL, capture_output=True, check=False)


def _kill_stragglers(root: Path) -> None:
    """Kill every process whose environment names this folder.

    One that just becomes another program, or is just started by one that dies, shows none: it is looked for again.
    """
    quiet = 0
    for _ in range(_LOOKS):
        quiet = 0 if _kill_seen(os.fsencode(root)) else quiet + 1
        if quiet == 2:
            return
        time.sleep(_BETWEEN)


def _kill_seen(mark: bytes) -> int:
    """Kill the processes whose environment holds this; their number."""
    number = 0
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in environment.read_bytes():
                os.kill(int(environment.parent.name), SIGKILL)
                number += 1
        except OSError:
            continue  # another user's, or ended while we looked
    return number


def _mine(root: Path) -> bool:
    try:
        return root.lstat().st_uid == os.getuid()
    except FileNotFoundError:  # its owner, alive, has just removed it
        return False


def left() -> dict[Path, str]:
    """The folders that runs of this user have made, dead and living ones, with the tokens of their owners."""
    found = sorted(Path(tempfile.gettempdir()).resolve().glob(f"{PREFIX}*"))
    tokens = {root: owner.token_in(root.name, PREFIX) for root in found if _mine(root)}
    return {root: token for root, token in tokens.items() if owner.is_token(token)}


def discard(root: Path) -> bool:
    """Kill the processes that belong to a folder and remove it; whether it is gone."""
    _clear(root, killed=True)
    return not root.exists()


def sweep() -> int:
    """Remove what killed runs left: their folders, and processes that belong to these; the number of folders."""
    return sum(discard(root) for root, token in left().items() if owner.gone(token))
