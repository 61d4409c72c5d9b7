"""One trial of an external harness: its command runs in a box and reaches nothing but a gateway."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from harness_eval.endpoints.base import Endpoint
from harness_eval.errors import (
    BoundaryFailure,
    EndpointFailure,
    HarnessFailure,
    SandboxFailure,
    boundary,
    last_words,
)
from harness_eval.external.adapter import STDIN, External, filled
from harness_eval.external.conversations import sorted_out
from harness_eval.external.facts import Facts, facts_of
from harness_eval.external.installing import Installed
from harness_eval.external.record import Recorded, recorded
from harness_eval.external.relaying import socket_in, start_relay
from harness_eval.external.witness import Witness
from harness_eval.gateway import log
from harness_eval.gateway.door import Door
from harness_eval.gateway.serving import opened
from harness_eval.sandboxes.base import BoxLimits, BoxSpec, Executed, Sandbox, UnfitState
from harness_eval.types import Compaction, Json, Limits, StopReason, Trajectory

ROOM = BoxLimits(memory_mb=2048, pids=512, disk_mb=1024)
"""What a box has besides its task's limits: here the harness itself is in it."""

_WORDS = 1500  # characters of a command's last output that are kept
_LOOK = 2.0  # seconds between looks whether the gateway still answers
_ASKING = 60.0  # seconds that a harness may take to say its version
_CANNOT_RUN = (126, 127)  # what a shell says of a program that it cannot run or find
_SIGNALLED = 128
_LONGEST_ARGUMENT = (128 << 10) - 64  # bytes: Linux allows 128 KiB, and the whole is one argument of bash
_versions: dict[str, str] = {}  # what each adapter's command said of its version, by the adapter's id


def room_for(spec: BoxSpec, shared: tuple[Path, ...]) -> BoxSpec:
    """The box of a task with a harness in it, which needs these folders of the host."""
    limits = dataclasses.replace(
        spec.limits,
        memory_mb=spec.limits.memory_mb + ROOM.memory_mb,
        pids=spec.limits.pids + ROOM.pids,
        disk_mb=spec.limits.disk_mb + ROOM.disk_mb,
    )
    return dataclasses.replace(spec, limits=limits, shared=(*spec.shared, *shared))


@dataclass(slots=True)
class ExternalAgent:
    """One run of a harness: what it is, where it is installed, its box, its model, and what may be used up.

    `folder` is the meeting place that the box shares (see `relaying`). `result` and `facts` hold what the wire showed
    once it has run, also where it failed.
    """

    external: External
    installed: Installed
    sandbox: Sandbox
    endpoint: Endpoint
    limits: Limits
    seed: int
    instruction: str
    folder: Path
    result: Recorded = field(default_factory=lambda: Recorded(Trajectory("", "")))
    facts: Facts = field(default_factory=Facts)
    version: str = ""
    _ran: Executed | None = None
    _gone: bool = False
    _door: Door | None = None

    async def run(self) -> Trajectory:
        """Let the harness work until it ends or a limit does; nothing of it is left in the box then.

        Raises:
            BoundaryFailure: of the endpoint, as the gateway met it, or of the gateway itself; of the sandbox; of the
                harness, whose command crashed or never asked anything.
        """
        witness = Witness(self.endpoint)
        try:
            with boundary("harness"):
                try:
                    await self._work(witness)
                finally:
                    self._look_back()
                stop = self._how_it_ended(witness)
        except BoundaryFailure as failure:
            failure.record = self.result.record
            raise
        self.result = dataclasses.replace(self.result, record=dataclasses.replace(self.result.record, stop=stop))
        return self.result.record

    def told(self) -> dict[str, Json]:
        """What is recorded of the harness beside the trajectory: adapter, version found, exit code, and the facts."""
        return {
            "name": self.external.name,
            "adapter": self.external.id,
            "version": self.external.version,
            "version_found": self.version,
            "exit_code": self._ran.exit_code if self._ran else None,
            "last_words": self._last_words(),
            "turned_away": dict(self._door.turned_away) if self._door else {},
            **dataclasses.asdict(self.facts),
        }

    def wire_log(self) -> list[Json]:
        """The entries of a wire log of all exchanges; the key is in none of them."""
        return [log.as_entry(exchange) for exchange in self._door.exchanges] if self._door else []

    async def _work(self, witness: Witness) -> None:
        where = socket_in(self.folder)
        async with opened(witness, seed=self.seed, limits=self.limits, where=where) as door:
            self._door = door
            env = await self._variables()
            port = await start_relay(self.sandbox, self.folder, env)
            places = self._places(door, env["HOME"], port)
            self.version = await self._version_found(env, places)
            await self._bring_files(places)
            env |= {name: filled(text, places) for name, text in self.external.launch.env.items()}
            try:
                await self._launch(self._command(places), env)
            finally:
                with anyio.CancelScope(shield=True), suppress(UnfitState, SandboxFailure):
                    await self.sandbox.end_processes()

    async def _variables(self) -> dict[str, str]:
        """The variables of the harness's command before its own: the box's home, and the installation's programs."""
        asked = await self.sandbox.run('printf "%s\\n" "${HOME:-/tmp}" "$PATH"')
        home, _, path = asked.output.strip().partition("\n")
        if asked.exit_code != 0 or not home.startswith("/"):
            raise SandboxFailure(f"the box has no home folder: {last_words(asked.output)}")
        return {**self.installed.env, "HOME": home, "PATH": ":".join([*self.installed.path, path])}

    def _places(self, door: Door, home: str, port: int) -> dict[str, str]:
        return {
            "prompt": self.instruction,
            "base_url": f"http://127.0.0.1:{port}",
            "key": door.key,
            "model": self.endpoint.model,
            "home": home,
            "workdir": self.sandbox.workdir,
            "installed": str(self.installed.folder or ""),
            "share": next(iter(self.external.share), ""),
        }

    async def _bring_files(self, places: dict[str, str]) -> None:
        launch = self.external.launch
        files = {**launch.files, **({STDIN: launch.stdin} if launch.stdin else {})}
        for name, text in files.items():
            try:
                await self.sandbox.write(f"{places['home']}/{name}", filled(text, places).encode())
            except OSError as error:
                raise SandboxFailure(f"{name} cannot be written in the box: {error.strerror}") from error

    def _command(self, places: dict[str, str]) -> str:
        words = [filled(word, places) for word in self.external.launch.command]
        variables = [filled(text, places) for text in self.external.launch.env.values()]
        self._check_task(words, variables)
        given = f" < {shlex.quote(places['home'])}/{STDIN}" if self.external.launch.stdin else ""
        return f"exec {shlex.join(words)}{given}"

    def _check_task(self, words: Sequence[str], variables: Sequence[str]) -> None:
        """Raise where the task cannot be handed over as the adapter says.

        Raises:
            HarnessFailure: so it is.
        """
        given = [*words, *variables]
        odd = any("\0" in text for text in given)
        longest = max(len(shlex.join(words).encode()), *(len(text.encode()) for text in given))
        if odd or longest > _LONGEST_ARGUMENT:
            what = "holds a NUL" if odd else f"makes a command of {longest:,} bytes, of {_LONGEST_ARGUMENT:,} that fit"
            hint = 'an adapter with `stdin: "{prompt}"` or a file takes any'
            raise HarnessFailure(f"{self._name()} takes its task as an argument, and this task {what}; {hint}")

    async def _version_found(self, env: dict[str, str], places: dict[str, str]) -> str:
        """What the harness says of its version, asked once in this process, with a home of its own."""
        if not self.external.version_command:
            return ""
        if self.external.id not in _versions:
            asked = shlex.join(filled(word, places) for word in self.external.version_command)
            command = f'HOME="$(mktemp -d)" exec {asked}'
            said = await self.sandbox.run(command, timeout=_ASKING, env=env)
            lines = last_words(said.output).splitlines() if said.exit_code == 0 else []
            told = next((line for line in lines if self.external.version in line), "".join(lines[-1:]))
            _versions[self.external.id] = told.strip()[:200]
        return _versions[self.external.id]

    async def _launch(self, command: str, env: dict[str, str]) -> None:
        """Run the command until it ends, its time is over, or nobody answers it any more."""
        failure: BoundaryFailure | None = None
        async with anyio.create_task_group() as group:
            with anyio.CancelScope() as scope:
                group.start_soon(self._cut_short, scope)
                group.start_soon(self._watch_gateway, scope)
                try:
                    self._ran = await self.sandbox.run(command, timeout=self.limits.seconds, env=env)
                except BoundaryFailure as error:  # a group would wrap it
                    failure = error
            if self._ran is not None and not self._gone:
                self._gone = not await self._answers()
            group.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def _cut_short(self, scope: anyio.CancelScope) -> None:
        assert self._door is not None, "there is one while the harness runs"
        await self._door.ended.wait()
        scope.cancel()

    async def _watch_gateway(self, scope: anyio.CancelScope) -> None:
        while await self._answers():  # noqa: ASYNC110  (nobody tells us of the end of what only listens)
            await anyio.sleep(_LOOK)
        self._gone = True
        scope.cancel()

    async def _answers(self) -> bool:
        """Whether somebody listens at the gateway's socket."""
        try:
            async with await anyio.connect_unix(socket_in(self.folder)):
                return True
        except BlockingIOError:  # so many are in line there: somebody listens
            return True
        except OSError:
            return False

    def _look_back(self) -> None:
        talk = sorted_out(self._door.exchanges if self._door else (), self.instruction)
        self.result = recorded(talk, self.instruction)
        compactions = sum(isinstance(event, Compaction) for event in self.result.record.events)
        self.facts = facts_of(talk, self.instruction, compactions)

    def _how_it_ended(self, witness: Witness) -> StopReason:
        """The first that fits: what the gateway met, that it was gone, our limits, the endpoint's last answer, and only
        then what the command did."""
        door, ran = self._door, self._ran
        if door is not None and door.failure is not None:
            raise door.failure
        if door is not None and door.stop is not None:
            return door.stop
        if self._gone or door is None:
            failure = EndpointFailure("the gateway of the trial did not answer any more")
            failure.label = "infra.gateway"
            raise failure
        asked = any(exchange.reply is not None for exchange in door.exchanges)
        if ran is None or ran.timed_out:
            witness.check_wait()
            if not asked:
                raise HarnessFailure(f"{self._name()} asked nothing within {self.limits.seconds:g} s{self._said()}")
            return StopReason.TIME
        if witness.overflowed:
            return StopReason.OVERFLOW
        if ran.exit_code not in (0, *self.external.launch.ends_with_error):
            why = _ended(ran.exit_code or 0)
            if self.installed.folder and ran.exit_code in _CANNOT_RUN and not asked:
                again = " and ".join(f"harness-eval harness {word}" for word in ("uninstall", "install"))
                why += f", so what is installed in {self.installed.folder} may be damaged ({again} make it anew)"
            raise HarnessFailure(f"{self._name()} {why}{self._said()}")
        if not asked:
            raise HarnessFailure(f"{self._name()} ended without a request that could be answered{self._said()}")
        return StopReason.FINISHED

    def _name(self) -> str:
        return f"the harness {self.external.name}"

    def _last_words(self) -> str:
        said = last_words(self._ran.output, _WORDS) if self._ran else ""
        return said.replace(self._door.key, "[key]") if self._door else said

    def _said(self) -> str:
        refused = [exchange.refused for exchange in self._door.exchanges if exchange.refused] if self._door else []
        told = f"; its last request was refused: {refused[-1]}" if refused else ""
        words = self._last_words()
        return f"{told}; last output: {words}" if words else told


def _ended(code: int) -> str:
    if code == _SIGNALLED + 9:
        return "was killed, as happens where the memory of the box is used up (signal 9)"
    return f"was ended by signal {code - _SIGNALLED}" if code > _SIGNALLED else f"ended with exit code {code}"
