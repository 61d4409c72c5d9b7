"""The first process of a box: it takes requests on descriptor 0 and replies on descriptor 1, one at a time.

When descriptor 0 ends, whoever asked is gone: all that was started here is killed. Requests are
`run command cwd seconds name=value...`, `read path offset size`, `put (kind path mode data)...`, `end`, which kills all
that commands left running, `take folder place limit`, which hands a folder over as the fields of `put` requests, as
many as fit into one reply (`take` alone asks for more, and an empty reply is the end), and `stop`, which ends the
command that is running. Replies start with `ok`, or are `error number text`. Long files come and go in pieces: what is
held here counts against the box's memory.
"""

# pathlib would double the time this takes to start:
# ruff: noqa: PTH103, PTH109, PTH123

from __future__ import annotations

import errno
import os
import select
import sys
import time
from _signal import SIG_IGN, signal  # type: ignore[import-not-found]

from harness_eval.sandboxes.inside.account import DEFAULTED, IGNORED, act_for, start_as_user
from harness_eval.sandboxes.inside.descent import kill_below, processes
from harness_eval.sandboxes.inside.files import put, read_file, tree
from harness_eval.sandboxes.inside.wire import Capture, pack, unpack

GRACE = 0.1  # seconds for which output is awaited after bash has ended while a background process holds it open
TICK = 0.2  # seconds between looks at the output of such processes, which is read lest they block, and dropped
CHUNK = 1 << 16  # bytes read at a time
RESERVE = 3 << 20  # bytes held until work is over: what commands left may take all the memory that there is
PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36


class Supervisor:
    """Serves one caller; `workdir` is the folder it was started in."""

    def __init__(self) -> None:
        self.workdir = os.getcwdb()
        self.status: dict[int, int] = {}  # wait status of the command that runs, once it has ended
        self.handed = tree(b"", b"", 0)  # the folder that is being handed over
        self.leftovers: list[int] = []  # pipes that background processes of earlier commands hold open
        self.order = os.open("/proc/self/oom_score_adj", os.O_RDWR)  # who goes first when memory runs out
        self.own_order = int(os.read(self.order, 20))
        self.reserve = b"\1" * RESERVE  # written to, or it would take no memory

    def receive(self) -> list[bytes]:
        """The next request; SystemExit when the caller is gone."""
        return unpack(self._exactly(int.from_bytes(self._exactly(4), "big")))

    def _exactly(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            part = os.read(0, min(count - len(data), 1 << 20))
            if not part:
                raise SystemExit
            data += part
        return bytes(data)

    def reply(self, *fields: bytes) -> None:
        """Send one message."""
        data = memoryview(pack(*fields))
        while data:
            data = data[os.write(1, data) :]

    def tidy(self, child: int = 0) -> float:
        """Reap what has ended, empty the leftovers; the seconds after which to do so again."""
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    break
                if pid == child:
                    self.status[pid] = status
        except ChildProcessError:
            pass
        for pipe in tuple(self.leftovers):
            try:
                ended = not os.read(pipe, CHUNK)
            except BlockingIOError:
                ended = False
            if ended:
                self.leftovers.remove(pipe)
                os.close(pipe)
        return TICK if self.leftovers else 1.0

    def serve(self) -> None:
        """Obey until the caller is gone."""
        self.reply(b"ready")
        while True:
            if not select.select([0], [], [], self.tidy())[0]:
                continue
            request = self.receive()
            try:
                self.obey(request[0], request[1:])
            except (BrokenPipeError, ConnectionResetError):
                raise
            except (OSError, ValueError) as error:
                number = getattr(error, "errno", None) or errno.EINVAL
                reason = getattr(error, "strerror", None) or str(error)
                self.reply(b"error", str(number).encode(), reason.encode())

    def obey(self, verb: bytes, fields: list[bytes]) -> None:
        """Do one request and reply to it."""
        if verb == b"run":
            self.reply(b"ok", *self.run(fields[0], fields[1], float(fields[2]), fields[3:]))
        elif verb == b"read":
            data, length = read_file(fields[0], int(fields[1]), int(fields[2]))
            self.reply(b"ok", data, str(length).encode())
        elif verb == b"put":
            for at in range(0, len(fields), 4):
                put(*fields[at : at + 4])
            self.reply(b"ok")
        elif verb == b"take":
            self.reserve = b""
            if fields:
                self.handed = tree(fields[0], fields[1], int(fields[2]))
            self.reply(b"ok", *next(self.handed, []))
        elif verb == b"end":
            self.reserve = b""
            self.wait_for(kill_below())
            self.reply(b"ok")

    def run(self, command: bytes, cwd: bytes, seconds: float, env: list[bytes]) -> tuple[bytes, ...]:
        """Run bash: its exit code (empty if it was killed here), output, length, whether a background process holds
        the output open."""
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        try:
            child = self.start(command, cwd, writer, env)
        except (OSError, ValueError) as error:  # said as a shell would: it is the command's fault, not the box's
            os.close(reader)
            text = f"bash: {getattr(error, 'strerror', None) or error}\n"
            return b"126", text.encode(), str(len(text)).encode(), b""
        finally:
            os.close(writer)
        output = Capture()
        ended = self.follow(child, reader, output, time.monotonic() + seconds)
        if not ended:
            self.kill(child)
        held = not self.drain(reader, output)
        status = self.status.pop(child)
        code = 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        output.finish()
        shown = output.text().encode("utf-8", "replace")
        return str(code).encode() if ended else b"", shown, str(output.length).encode(), b"held" if held else b""

    def start(self, command: bytes, cwd: bytes, writer: int, env: list[bytes]) -> int:
        """Start bash in a session of its own; the process id."""
        if cwd == self.workdir:
            os.makedirs(cwd, exist_ok=True)  # a command may have removed it
        os.chdir(cwd)
        os.write(self.order, b"%d" % min(1000, self.own_order + 500))  # inherited: a command goes before us
        words = [b"bash", b"-c", command]
        variables = {**os.environb, **dict(pair.split(b"=", 1) for pair in env)}
        try:
            if os.geteuid() != os.getuid():
                return start_as_user(words, variables, writer)
            return os.posix_spawnp(
                "bash",
                words,
                variables,
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_DUP2, writer, 1),
                    (os.POSIX_SPAWN_DUP2, writer, 2),
                ],
                setsid=True,
                setsigdef=DEFAULTED,
            )
        finally:
            os.write(self.order, b"%d" % self.own_order)

    def follow(self, child: int, reader: int, output: Capture, deadline: float) -> bool:
        """Collect output until bash has ended; False if time ran out or the caller wants it stopped."""
        exited = os.pidfd_open(child) if hasattr(os, "pidfd_open") else None
        poll = select.poll()
        for descriptor in (0, reader, exited):
            if descriptor is not None:
                poll.register(descriptor, select.POLLIN)
        try:
            while True:
                pause = min(self.tidy(child), 0.02 if exited is None else 1.0, deadline - time.monotonic())
                if child in self.status:
                    return True
                ready = {descriptor for descriptor, _ in poll.poll(max(0, pause) * 1000)}
                if 0 in ready:
                    self.receive()
                if 0 in ready or time.monotonic() >= deadline:
                    return False
                if reader in ready and not output.feed(os.read(reader, CHUNK)):
                    poll.unregister(reader)
        finally:
            if exited is not None:
                os.close(exited)

    def kill(self, child: int) -> None:
        """Kill all that a command started, and wait a little for the last of it to be gone."""
        killed = kill_below(child)
        while child not in self.status:
            self.tidy(child)
            time.sleep(0.002)
        self.wait_for(killed)

    def wait_for(self, killed: set[int]) -> None:
        """Reap what was killed; the last of it within two seconds."""
        deadline = time.monotonic() + 2
        while killed and killed & processes().keys() and time.monotonic() < deadline:
            self.tidy()
            time.sleep(0.002)

    def drain(self, reader: int, output: Capture) -> bool:
        """Take what is left in the pipe; False if some process still holds it open after the grace."""
        deadline = time.monotonic() + GRACE
        while select.select([reader], [], [], max(0, deadline - time.monotonic()))[0]:
            if not output.feed(os.read(reader, CHUNK)):
                os.close(reader)
                return True
            if time.monotonic() >= deadline:
                break
        self.leftovers.append(reader)
        return False


def confine(settings: dict[str, str]) -> None:
    """Apply the limits `processes`, `data` and `file` (bytes); `adopt` orphans of a box without a first process of its
    own; `hide` our descriptors from commands of the same user."""
    import resource  # lazy: slow import

    limits = {"processes": resource.RLIMIT_NPROC, "data": resource.RLIMIT_DATA, "file": resource.RLIMIT_FSIZE}
    for name in limits.keys() & settings.keys():
        hard = resource.getrlimit(limits[name])[1]
        wanted = int(settings[name]) if hard == resource.RLIM_INFINITY else min(hard, int(settings[name]))
        resource.setrlimit(limits[name], (wanted, wanted))
    if settings.keys() & {"adopt", "hide"}:
        import ctypes  # lazy: slow import

        control = ctypes.CDLL(None).prctl
        if "adopt" in settings:
            control(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        if "hide" in settings:
            control(PR_SET_DUMPABLE, 0, 0, 0, 0)


def leave_nothing() -> None:
    """Kill all that was started here, and wait until it is gone."""
    kill_below()
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        return


def main(settings: dict[str, str]) -> None:
    """Serve until the caller is gone; the commands are those of `user`, if that is set."""
    os.umask(0o022)
    for number in IGNORED:
        signal(number, SIG_IGN)
    with open("/proc/self/comm", "w") as file:
        file.write("box")  # not python3: commands look for their own
    supervisor = Supervisor()
    confine(settings)
    if "user" in settings:
        act_for(settings["user"])
    try:  # noqa: SIM105  (contextlib is slow to import)
        supervisor.serve()
    except (SystemExit, BrokenPipeError, ConnectionResetError):
        pass
    leave_nothing()
    os._exit(0)


if __name__ == "__main__":
    main(dict(argument.split("=", 1) for argument in sys.argv[1:]))
