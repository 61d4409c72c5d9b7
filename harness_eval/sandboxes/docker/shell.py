"""A box without a python3: a shell is its first process, and runs every command within milliseconds all the same.

What a command writes comes on the one connection, with marks between that begin with a number drawn for that command;
the shell's own program is `inside/loop.sh`.
"""

from __future__ import annotations

import errno
import io
import os
import posixpath
import secrets
import shlex
from collections.abc import Coroutine, Mapping
from pathlib import Path
from signal import SIGKILL

import anyio

from harness_eval.sandboxes.base import Executed, Sandbox, UnfitState
from harness_eval.sandboxes.box import FILE_LIMIT
from harness_eval.sandboxes.channel import PATIENCE, Channel, Lifeline, Starved, killed_box
from harness_eval.sandboxes.docker.shell_program import FILE, FOLDER, LINK, READ, Stream, program
from harness_eval.sandboxes.inside.wire import Capture
from harness_eval.sandboxes.packing import contents, pieces

TOOLS = "/usr/libexec/harness-eval"
_GRACE = 0.1  # seconds for which output is awaited after a command has ended while a background process holds it open
_SETTLING = 2.0  # seconds in which what was killed or cut off must have ended
_QUIET = (0.25, 2.0)  # seconds without output after which we ask whether the command lives: at first, at most
# Read by bash before a command: it raises its own rank among what goes first when memory runs out, and nothing is left
# of that but what the image or the task had in the variable.
PRELUDE = """{ echo 500 > /proc/self/oom_score_adj; } 2> /dev/null
BASH_ENV=$BOX_ENV
unset BOX_ENV
if [ -z "$BASH_ENV" ]; then unset BASH_ENV; elif [ -r "$BASH_ENV" ]; then . "$BASH_ENV"; fi
"""
_LONGEST = 128 << 10  # bytes: the kernel takes no longer argument


_PRINTED = PRELUDE.replace("\n", "\\n")  # a Dockerfile's line has no breaks


def layer() -> str:
    """Shell commands, run once by root in an image, that put the programs there which the first process is made of.

    They are copies that nobody may read: the kernel then lets nobody look into a process that runs one.
    """
    copies = f'cp -L "$(command -v $p)" {TOOLS}/$p || cp -L /bin/$p {TOOLS}/$p'
    programs = f"for p in sh cat head; do {copies}; done 2>/dev/null; chmod 0111 {TOOLS}/*"
    return f"mkdir -p {TOOLS} && {programs}; printf '{_PRINTED}' > {TOOLS}/prelude"


def entrypoint(file_limit: int) -> str:
    """The shell command that becomes the first process; no file can grow beyond the limit, in bytes.

    It takes its program from the connection: on the command line every command in the box could see it.
    """
    skip = 'until [ "$l" = "#program" ]; do IFS= read -r l || exit; done'
    take = 'p=; while IFS= read -r l && [ "$l" != "#end" ]; do p="$p$l\n"; done; eval "$p"'
    return f"ulimit -f {file_limit >> 9}; exec {TOOLS}/sh -c {shlex.quote(f'{skip}; {take}')}"


class ShellBox(Sandbox):
    """A shell behind a channel. Requests queue up: a box does one thing at a time."""

    def __init__(
        self, channel: Channel, workdir: str, env: Mapping[str, str] | None = None, starved: Starved | None = None
    ) -> None:
        self.workdir = workdir
        self._env = dict(env or {})
        self._channel = channel
        self._line = Lifeline(channel, starved)
        self._token = secrets.token_hex(16)
        self._lock = anyio.Lock()

    async def start(self) -> None:
        """Hand its program over to the shell that waits for it.

        Raises:
            SandboxFailure: if it does not take it.
        """
        text = f"\n#program\ntoken={self._token} cat={TOOLS}/cat head={TOOLS}/head\n{program()}\n#end\n"
        ready = bytearray()
        await self._line.send(text.encode())
        await self._within(PATIENCE, self._come(ready, f"{self._token}ready\n".encode()))

    async def run(
        self,
        command: str,
        *,
        timeout: float = 60.0,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Executed:
        """Run `command` with bash, or sh where there is none; see `Sandbox.run`. Cancelling leaves the box usable."""
        job = self._job(command, self._locate(cwd or self.workdir), {**self._env, **(env or {})})
        if "\0" in job or len(command.encode("utf-8", "replace")) >= _LONGEST:
            reason = "embedded null byte" if "\0" in job else os.strerror(errno.E2BIG)
            return _refused(reason)
        output = Capture()
        stream = Stream(output.feed)
        try:
            ended, held = await self._perform(stream, job, timeout)
        except UnfitState:
            return killed_box()
        if "failed" in stream.marks:
            return _refused(os.strerror(errno.EAGAIN))
        output.finish()
        code = int(stream.marks.get("code", [str(128 + SIGKILL)])[0])  # it has killed the process that says so, too
        return Executed(output.text(), code if ended else None, not ended, output.length, held and ended)

    async def _perform(self, stream: Stream, job: str, timeout: float) -> tuple[bool, bool]:
        """Whether the command of a job ended in time, and whether what it started holds its output open."""
        ended = held = False
        async with self._lock:
            await self._ask(stream, "start", text=job)
            try:
                with anyio.move_on_after(timeout):
                    await self._follow(stream, "code", "end", "failed")
                    ended = True
            finally:
                with anyio.CancelScope(shield=True):
                    held = await (self._settle(stream) if ended else self._stop(stream))
        return ended, held

    async def read(self, path: str) -> bytes:
        """The bytes of a file; see `Sandbox.read`."""
        data = await self._do(READ, self._locate(path))
        if len(data) > FILE_LIMIT:
            raise OSError(errno.EFBIG, f"larger than {FILE_LIMIT} bytes", path)
        return data

    async def write(self, path: str, data: bytes) -> None:
        """Write a file; see `Sandbox.write`."""
        with anyio.CancelScope(shield=True):
            for piece in pieces(os.fsencode(self._locate(path)), io.BytesIO(data)):
                await self._put(*piece)

    async def upload(self, source: Path, target: str) -> None:
        """Copy a host folder's content into the box as its user; links are copied as links."""
        async for batch in contents(source, self._locate(target)):
            for at in range(0, len(batch), 4):
                await self._put(*batch[at : at + 4])

    async def end_processes(self) -> None:
        """Kill all that commands have started and left running; see `Sandbox.end_processes`."""
        async with self._lock:
            with anyio.CancelScope(shield=True):
                await self._end(Stream(len))

    async def _put(self, kind: bytes, path: bytes, mode: bytes, data: bytes) -> None:
        """Make a folder, a link to `data`, or a file of `data`, with the folders above it, or add `more` to a file."""
        place = os.fsdecode(path)
        if kind == b"folder":
            await self._do(FOLDER, place)
        elif kind == b"link":
            await self._do(f'set -- "$1" {shlex.quote(os.fsdecode(data))}\n{LINK}', place)
        else:
            change = f'chmod {mode.decode()} "$1"' if mode else ""
            await self._do(
                f'{FILE} {">>" if kind == b"more" else ">"} "$1" || exit {errno.ENOSPC}\n{change}', place, data
            )

    def _locate(self, path: str) -> str:
        return posixpath.join(self.workdir, path)

    def _job(self, command: str, cwd: str, env: Mapping[str, str]) -> str:
        place = shlex.quote(cwd)
        lines = [f'await_orphaned; set -- "$shell" $session "$shell" -c {shlex.quote(command)}']
        lines += ['eval "$environment"', f"cd {place} || exit 126", "unset OLDPWD"]  # any variable may change from here
        if cwd == self.workdir:
            lines.insert(0, f"[ -e {place} ] || mkdir -p {place}")  # a command may have removed it
        lines += [f"export {name}={shlex.quote(value)}" for name, value in env.items()]
        lines.append(f'case $1 in */bash) export BOX_ENV="$BASH_ENV" BASH_ENV={TOOLS}/prelude ;; esac')
        return "\n".join([*lines, 'shift; exec "$@"'])

    async def _do(self, script: str, path: str, data: bytes | None = None) -> bytes:
        """Run a script of ours on a path, with `data` in the file `$spool`; its output, or the OSError it ends with."""
        output = bytearray()
        stream = Stream(output.extend)
        tidy = "" if data is None else "trap 'rm -f \"$spool\"' EXIT\n"
        job = f"{tidy}exec 2>/dev/null\nset -- {shlex.quote(path)}\n{script}"
        if "\0" in path:
            raise ValueError("embedded null byte")
        try:
            async with self._lock:
                with anyio.CancelScope(shield=True):
                    await self._ask(stream, "start", *([] if data is None else [str(len(data))]), text=job, data=data)
                    await self._within(PATIENCE, self._follow(stream, "end", "failed"))
        except UnfitState as error:
            raise OSError(errno.ENOMEM, str(error), path) from error
        code = errno.EAGAIN if "failed" in stream.marks else int(stream.marks.get("code", [str(errno.EINTR)])[0])
        if code:
            raise OSError(code, "not a regular file" if code == errno.EINVAL else os.strerror(code), path)
        return bytes(output)

    async def _ask(self, stream: Stream, *words: str, text: str = "", data: bytes | None = None) -> None:
        """Send a request; what is left of an earlier one's data is skipped, since its line does not start with ours."""
        line = f"\n{self._token} {stream.nonce} {' '.join(words)}\n"
        if text:
            line += f"{text}\n{stream.nonce}\n"
        await self._line.send(_encode(line) + (data or b""))

    async def _follow(self, stream: Stream, *words: str) -> None:
        """Take what comes until one of these marks has; a command that has killed all around it is found out."""
        pause, most = _QUIET
        while not stream.marks.keys() & words:
            with anyio.move_on_after(pause) as quiet:
                stream.feed(await self._take())
            if quiet.cancelled_caught and (relay := stream.marks.get("relay")):
                pause = min(2 * pause, most)
                await self._ask(stream, "alive", stream.marks.get("command", relay)[0], relay[0])

    async def _settle(self, stream: Stream) -> bool:
        """Wait for the end of the output of a command that has ended; whether a background process holds it open."""
        with anyio.move_on_after(_GRACE):
            await self._follow(stream, "end", "failed")
            return False
        await self._ask(stream, "cut", stream.marks["relay"][0])
        await self._finish(stream)
        return True

    async def _stop(self, stream: Stream) -> bool:
        """Kill all that a command started."""
        with anyio.move_on_after(_SETTLING):
            while not {"command", "relay"} <= stream.marks.keys():
                stream.feed(await self._take())
            await self._ask(stream, "kill", *stream.marks["command"], stream.marks["relay"][0])
            await self._follow(stream, "killed")
        await self._finish(stream)
        return False

    async def _finish(self, stream: Stream) -> None:
        """Wait until nothing more can come for a command; what keeps it from ending dies with all the others."""
        with anyio.move_on_after(_SETTLING):
            await self._follow(stream, "end", "failed")
            return
        await self._end(stream)

    async def _end(self, stream: Stream) -> None:
        await self._ask(stream, "end")
        await self._within(PATIENCE, self._follow(stream, "end"))

    async def _come(self, data: bytearray, end: bytes) -> None:
        while not data.endswith(end):
            data += await self._take(data)

    async def _within(self, seconds: float, waiting: Coroutine[object, object, None]) -> None:
        try:
            with anyio.fail_after(seconds):
                await waiting
        except TimeoutError as error:
            raise self._line.silent(seconds) from error

    async def _take(self, said: bytes | bytearray = b"") -> bytes:
        try:
            data = await self._channel.take()
        except OSError as error:
            raise await self._line.gone(f"the box is gone: {error}") from error
        if not data:
            reason = f": {said[-2000:].decode('utf-8', 'replace').strip()}" if said else ""
            raise await self._line.gone(f"the box is gone: its first process ended{reason}")
        return data


def _refused(reason: str) -> Executed:
    """Said as a shell would: it is the command's fault, not the box's."""
    text = f"bash: {reason}\n"
    return Executed(text, 126, full_length=len(text))


def _encode(text: str) -> bytes:
    """As UTF-8, with the bytes of names that are none; of what else cannot be written a question mark is made."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")
