"""Setting up a task's environment in a box that is made from no image of its own."""

from __future__ import annotations

import errno
import re
from pathlib import Path

from anyio import to_thread

from harness_eval.errors import SandboxFailure, TaskFailure
from harness_eval.sandboxes.base import BoxSpec, Sandbox
from harness_eval.sandboxes.healthcheck import require_healthy
from harness_eval.sandboxes.secrecy import told

LOGS = ("/logs/agent", "/logs/verifier", "/logs/artifacts")  # folders that every box has
_ON_ANY_BASE = re.compile(r"(?im)^\s*FROM\s+\$\{?BASE\b")


def find_dockerfile(spec: BoxSpec) -> Path | None:
    """The environment's Dockerfile, if it has one."""
    path = spec.environment / "Dockerfile" if spec.environment else None
    return path if path and path.is_file() else None


def needs_container(spec: BoxSpec) -> str | None:
    """Why only a container can be this box, or None: a prebuilt image, or a Dockerfile not for any base image."""
    if spec.image is not None:
        return f"it needs the image {spec.image}: use the docker sandbox"
    dockerfile = find_dockerfile(spec)
    if dockerfile and not _ON_ANY_BASE.search(dockerfile.read_text(encoding="utf-8", errors="replace")):
        return "it is built on an image of its own: use the docker sandbox"
    return None


def require_no_image(spec: BoxSpec) -> None:
    """Refuse what only a container can be.

    Raises:
        SandboxFailure: it needs the docker sandbox.
    """
    if reason := needs_container(spec):
        raise SandboxFailure(f"{spec.name}: {reason}")


async def prepare(box: Sandbox, spec: BoxSpec) -> None:
    """Copy `files/` into the working directory, then run `setup.sh` in it as the box's user, where they exist; then
    wait until the box is healthy.

    Raises:
        TaskFailure: the files do not fit, or `setup.sh` or the health check failed; with its last output.
    """
    if spec.environment is not None:
        files, script = spec.environment / "files", spec.environment / "setup.sh"
        if files.is_dir():
            await _bring_files(box, spec, files)
        if script.is_file():
            await _set_up(box, spec, _text(spec, script))
    await require_healthy(box, spec)


async def _bring_files(box: Sandbox, spec: BoxSpec, files: Path) -> None:
    try:
        size, room = await to_thread.run_sync(_size, files), spec.limits.disk_mb
        if size > room << 20:
            raise OSError(errno.ENOSPC, f"{size >> 20} MB, more than the {room} MB of environment.storage_mb")
        await box.upload(files, spec.workdir)
    except OSError as error:
        raise TaskFailure(f"{spec.name}: environment/files does not go into its box: {error.strerror}") from error


def _size(folder: Path) -> int:
    """The bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _text(spec: BoxSpec, script: Path) -> str:
    try:
        return script.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise TaskFailure(f"{spec.name}: environment/{script.name} cannot be read: {error}") from error


async def _set_up(box: Sandbox, spec: BoxSpec, script: str) -> None:
    # As a file the script would stay in the box and tell the agent how the task was made.
    ran = await box.run(script, timeout=spec.build_timeout)
    if ran.exit_code != 0:
        ended = f"took longer than {spec.build_timeout:g} s" if ran.timed_out else f"ended with {ran.exit_code}"
        raise TaskFailure(f"{spec.name}: environment/setup.sh {ended}; last output: {told(ran.output, spec.env)}")
