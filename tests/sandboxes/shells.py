"""Boxes whose first process is a shell, made with bubblewrap: what containers without a python3 are, without Docker."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from harness_eval.sandboxes.base import BoxSpec, Sandbox, SandboxProvider
from harness_eval.sandboxes.bubblewrap import HOME, BubblewrapProvider, _enter, _namespaces
from harness_eval.sandboxes.docker.shell import PRELUDE, TOOLS, ShellBox, entrypoint
from harness_eval.sandboxes.environment import prepare
from harness_eval.sandboxes.launch import clean_environment, launched


class Shells(BubblewrapProvider):
    """Boxes run by one kind of shell: `dash`, `bash`, or `busybox`."""

    seal = SandboxProvider.seal

    def __init__(self, shell: str) -> None:
        super().__init__()
        self._shell = shell

    @asynccontextmanager
    async def open(self, spec: BoxSpec) -> AsyncIterator[Sandbox]:
        with tempfile.TemporaryDirectory() as folder:
            tools = _tools(Path(folder), self._shell)
            words = [*_namespaces(spec), "--tmpfs", "/usr/libexec", "--ro-bind", str(tools), TOOLS]
            # Whoever starts the tests may ignore signals, and an engine would not pass that on.
            words += ["env", "--default-signal", "sh", "-c", entrypoint(spec.limits.disk_mb << 20)]
            env = clean_environment(HOME, {})
            async with self._group(spec) as group, launched(words, env, "/") as (channel, process):
                box = ShellBox(channel, spec.workdir, spec.env, group.starved if group else None)
                await box.start()
                if group:
                    _enter(group, process.pid)
                await prepare(box, spec)
                yield box


def _tools(folder: Path, shell: str) -> Path:
    folder.chmod(0o755)
    several = shell == "busybox"
    for name, program in {
        "sh": shell,
        "cat": shell if several else "cat",
        "head": shell if several else "head",
    }.items():
        found = shutil.which(program)
        assert found
        shutil.copy(found, folder / name)
        (folder / name).chmod(0o111)
    (folder / "prelude").write_text(PRELUDE)
    return folder
