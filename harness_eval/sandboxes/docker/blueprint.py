"""What a container is made of: its image, its user, what it may write, and its limits."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from harness_eval import __version__
from harness_eval.sandboxes import inside, owner
from harness_eval.sandboxes.base import BoxLimits
from harness_eval.sandboxes.docker.images import HOME, LABEL, USER, Image
from harness_eval.sandboxes.docker.shell import entrypoint
from harness_eval.sandboxes.environment import LOGS

OWNER = f"{LABEL}.owner"
ROOT = "0:0"
ANY_TASK = "any"  # as the name of a task: the container is for whichever comes
_CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "SETGID", "SETUID", "KILL", "NET_BIND_SERVICE"]
_JUDGING = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID", "KILL"]
_OPEN_FILES = 16384
_SHARED_MEMORY = "64m"


@dataclass(frozen=True, slots=True)
class Blueprint:
    """All that decides what a container is: of equal blueprints one container is as good as another.

    In the role `judge` its user is root with few rights, and others reach neither `/tests` nor `/logs`.
    """

    image: Image
    workdir: str
    limits: BoxLimits
    user: str = USER
    role: Literal["agent", "judge"] = "agent"
    task: str = ANY_TASK
    shared: tuple[Path, ...] = ()

    @property
    def in_memory(self) -> bool:
        """Whether all that can be written are file systems in memory, so that the image stays as it is."""
        return self.image.origin == "plain" or self.role == "judge"

    def options(self, sized: bool) -> dict[str, Any]:
        """What the engine is asked for; if `sized`, to limit the size of what is written beside the mounts, too."""
        from docker.types import LogConfig, Mount, Ulimit  # lazy: slow import

        limits = self.limits
        memory = limits.memory_mb + (limits.disk_mb if self.in_memory else 0)
        return {
            "user": self.user,
            "working_dir": self.workdir,
            "environment": self._environment(),
            "hostname": "box",
            "network_mode": "bridge" if limits.network else "none",
            "cap_drop": ["ALL"],
            "cap_add": _CAPABILITIES if self.image.origin == "own" else _JUDGING if self.role == "judge" else [],
            "security_opt": ["no-new-privileges"],
            "mem_limit": f"{memory}m",
            "memswap_limit": f"{memory}m",
            "shm_size": _SHARED_MEMORY,
            "pids_limit": limits.pids,
            "nano_cpus": int(limits.cpus * 1e9),
            "ulimits": [
                Ulimit(name="nofile", soft=_OPEN_FILES, hard=_OPEN_FILES),
                Ulimit(name="core", soft=0, hard=0),
            ],
            "read_only": self.in_memory,
            "tmpfs": self._mounts() if self.in_memory else {},
            "mounts": [Mount(str(path), str(path), type="bind", read_only=True) for path in self.shared],
            "storage_opt": {"size": f"{limits.disk_mb}m"} if sized else None,
            "healthcheck": {"test": ["NONE"]},
            "labels": {
                LABEL: "1",
                OWNER: owner.token(),
                f"{LABEL}.version": __version__,
                f"{LABEL}.task": self.task,
                f"{LABEL}.role": self.role,
            },
            "log_config": LogConfig(type="none"),  # all that goes through the connection would be written to disk
            "stdin_open": True,
            "auto_remove": True,
        }

    def _environment(self) -> dict[str, str]:
        if self.image.origin == "own":
            return {}
        return {"HOME": "/root" if self.role == "judge" else HOME, "LANG": "C.UTF-8", "TERM": "dumb"}

    def _mounts(self) -> dict[str, str]:
        """The folders that can be written, each a file system of the disk's size."""
        size = f"rw,exec,nosuid,nodev,size={self.limits.disk_mb}m"
        mine = f"{size},mode=755,uid=1000,gid=1000"
        closed = f"{size},mode=700" if self.role == "judge" else mine
        everyone = dict.fromkeys(("/tmp", "/var/tmp"), f"{size},mode=1777")  # noqa: S108  (the box's own)
        return {
            **everyone,
            **dict.fromkeys(("/tests", "/logs", "/solution", "/root" if self.role == "judge" else "/run"), closed),
            **dict.fromkeys((HOME, self.workdir), mine),
        }


def first_process(blueprint: Blueprint, **settings: int | str) -> list[str]:
    """The supervisor where the image has a python3 for it; else something that says so, and is a shell where there are
    the tools for it."""
    limit = blueprint.limits.disk_mb << 20
    if not blueprint.in_memory:
        settings["file"] = limit
    start = shlex.join(inside.command_line("python3", hide=1, **settings))
    able = "python3 -I -S -c 'import os, sys; os.posix_spawnp'"
    bare = rf"printf '\000\000\000\011\000\000\000\005plain'; {entrypoint(limit) if blueprint.image.tools else ''}"
    folders = f"mkdir -p {shlex.join([*LOGS, '/tests', '/solution'])} 2>/dev/null"
    return ["sh", "-c", f"{folders}; if {able} 2>/dev/null; then exec {start}; fi; {bare}"]
