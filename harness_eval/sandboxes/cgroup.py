"""Control groups: limits on memory, processes and processor time that bind a whole box, in version 1 and version 2.

One group per box is made beside or below our own, where we may; its name holds our token, so that the groups of a
killed run can be told from those of a living one.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL

import anyio

from harness_eval.sandboxes import owner
from harness_eval.sandboxes.base import BoxLimits

_MOUNT = Path("/sys/fs/cgroup")
_PREFIX = "harness-eval-"
_EVENTS = ("memory.events", "memory.oom_control")  # where the kernel counts what it killed, in version 2 and 1
_PERIOD = 100_000  # microseconds in which a box may use its share of processor time


@dataclass(frozen=True, slots=True)
class Parents:
    """The folders in which groups can be made, by controller; in version 2 one folder serves all."""

    unified: bool
    folders: dict[str, Path]


def parents(mount: Path = _MOUNT, membership: Path = Path("/proc/self/cgroup")) -> Parents | None:
    """Where groups with limits on memory and processes can be made, or None if nowhere."""
    try:
        lines = [line.split(":", 2) for line in membership.read_text().splitlines()]
    except OSError:
        return None
    own = {controller: path for _, names, path in lines for controller in names.split(",")}
    if (mount / "cgroup.controllers").exists():
        return _unified(mount, own.get("", "/"))
    found = {}
    for controller in ("memory", "pids", "cpu"):
        top = mount / controller
        place = top / own.get(controller, "/").lstrip("/")
        place = place if place.is_dir() else top  # within a container the path may be the one outside
        if os.access(place / "cgroup.procs", os.W_OK) and os.access(place, os.W_OK):
            found[controller] = place
    return Parents(False, found) if {"memory", "pids"} <= found.keys() else None


def _unified(mount: Path, own: str) -> Parents | None:
    """The nearest group above our own whose children get the controllers and into which we may write."""
    place = mount / own.lstrip("/")
    for folder in (place, *place.parents):
        try:
            offered = (folder / "cgroup.subtree_control").read_text().split()
        except OSError:
            offered = []
        if {"memory", "pids"} <= set(offered) and os.access(folder / "cgroup.procs", os.W_OK):
            return Parents(True, {name: folder for name in offered if name in ("memory", "pids", "cpu")})
        if folder == mount:
            return None
    return None


class Group:
    """The control group of one box; memory is for the box's programs and files together."""

    def __init__(self, place: Parents, name: str, limits: BoxLimits) -> None:
        self._name = f"{_PREFIX}{owner.token()}-{name}"
        self._parents = place.folders
        memory = (limits.memory_mb + limits.disk_mb) << 20
        share = max(1000, int(limits.cpus * _PERIOD))
        if place.unified:
            self._values = {
                "memory": {"memory.max": str(memory), "memory.swap.max": "0"},
                "pids": {"pids.max": str(limits.pids)},
                "cpu": {"cpu.max": f"{share} {_PERIOD}"},
            }
        else:
            self._values = {
                "memory": {"memory.limit_in_bytes": str(memory), "memory.memsw.limit_in_bytes": str(memory)},
                "pids": {"pids.max": str(limits.pids)},
                "cpu": {"cpu.cfs_period_us": str(_PERIOD), "cpu.cfs_quota_us": str(share)},
            }

    @property
    def folders(self) -> set[Path]:
        """Where it lies: one folder in version 2, one for each controller in version 1."""
        return {parent / self._name for parent in self._parents.values()}

    def make(self) -> None:
        """Make it; an OSError if the kernel refuses."""
        for folder in self.folders:
            folder.mkdir()
        self.limit()

    def limit(self) -> None:
        """Write its limits. A kernel without swap accounting has no files for that, and they are left out."""
        for controller, parent in self._parents.items():
            for file, value in self._values[controller].items():
                path = parent / self._name / file
                if path.exists():
                    path.write_text(value)

    def add(self, pid: int) -> None:
        """Put a process into the group; what it starts from now on is in it too."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(pid))

    async def starved(self) -> bool:
        """Whether something in it was killed because its memory was used up."""
        for file in (parent / self._name / name for parent in self._parents.values() for name in _EVENTS):
            with suppress(OSError):
                counts = dict(line.split(" ", 1) for line in file.read_text().splitlines() if " " in line)
                if int(counts.get("oom_kill", 0)):
                    return True
        return False

    async def remove(self) -> None:
        """Remove the group of a box whose processes have ended; one that is still busy is left to the next sweep."""
        for folder in self.folders:
            for _ in range(50):
                try:
                    folder.rmdir()
                except FileNotFoundError:
                    break
                except OSError:
                    await anyio.sleep(0.01)  # the kernel has not yet let go of the last process
                else:
                    break


def left(place: Parents) -> dict[str, str]:
    """The groups that runs have made, dead and living ones: names, with the tokens of their owners."""
    names = {path.name for parent in place.folders.values() for path in parent.glob(f"{_PREFIX}*")}
    return {name: owner.token_in(name, _PREFIX) for name in sorted(names)}


def discard(place: Parents, name: str) -> bool:
    """Kill what is in a group and remove it; whether it is gone."""
    folders = {parent / name for parent in place.folders.values()}
    for _ in range(50):
        for folder in folders:
            _kill_in(folder)
            with suppress(OSError):
                folder.rmdir()
        if not any(folder.exists() for folder in folders):
            return True
        time.sleep(0.01)  # the kernel has not yet let go of the last process
    return False


def _kill_in(folder: Path) -> None:
    with suppress(OSError):
        for pid in map(int, (folder / "cgroup.procs").read_text().split()):
            if pid:  # 0 stands for one that we cannot see, and to `kill` for ourselves
                os.kill(pid, SIGKILL)


def sweep(place: Parents) -> int:
    """Remove the groups that killed runs left; their number."""
    return sum(discard(place, name) for name, token in left(place).items() if owner.gone(token))
