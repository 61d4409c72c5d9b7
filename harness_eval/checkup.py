"""Whether external harnesses work here: each plays one tiny dialogue through a gateway, in a real box."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from harness_eval.endpoints.base import Endpoint
from harness_eval.errors import ConfigError, HarnessEvalError
from harness_eval.external.adapter import External
from harness_eval.external.agent import ExternalAgent, room_for
from harness_eval.external.installing import Installed, cannot_install, folders_for, installed
from harness_eval.external.locked import Seen
from harness_eval.external.relaying import meeting_place
from harness_eval.reference.plan import Plan, PlanStep
from harness_eval.reference.player import Player
from harness_eval.reference.scripts import Script, Scripts
from harness_eval.reference.wire import spoken
from harness_eval.sandboxes.base import BoxSpec, Sandbox, SandboxProvider
from harness_eval.types import Json, Limits, Reply, Request, Usage

State: TypeAlias = Literal["works", "does not work", "offers no tools", "not installed", "cannot be installed"]

LIMITS = Limits(steps=12, tokens=2_000_000, seconds=120.0)
"""What one check-up may use."""

_TASK = "Write the word hello into the file greeting.txt in the working directory, then check what is in it."
_NO_TOOLS = "it asks, but no command can be run through it"
_DONE = "The greeting is written."
_PLAN = Plan(
    (
        PlanStep("I write the greeting.", "run", {"command": "echo hello > greeting.txt; ls"}),
        PlanStep("I check it.", "run", {"command": "cat greeting.txt"}),
    ),
    _DONE,
)
_DATED = re.compile(
    r"\d+|\b(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?\b"
    r"|\b(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:tember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\b"
)
_NUMBERED = re.compile(r"\d+(?:\.\d+)+\w*")


class PlayedEndpoint(Endpoint):
    """The scripted agent in this process, as an endpoint."""

    name = "scripted"
    model = "scripted-agent"

    def __init__(self, player: Player) -> None:
        self._player = player

    async def complete(self, request: Request) -> Reply:
        """What the agent says to a request of chat completions."""
        body: Mapping[str, Json] = {
            "messages": list(request.messages),
            "tools": list(request.tools),
            "seed": request.seed,
        }
        said = spoken(self._player.reply(body), body)
        usage = Usage(said.prompt_tokens, said.completion_tokens, said.reasoning_tokens)
        return Reply(said.text, said.thinking or None, said.calls, said.finish_reason, usage)

    async def close(self) -> None:
        """Nothing is held."""


@dataclass(frozen=True, slots=True)
class Checkup:
    """What was found of one harness: `why` says in words what is wrong, `version` what it says of its own version.

    `requests` and `seconds` are of the dialogue; `seen` is what the wire showed of it, None where it never asked.
    """

    name: str
    state: State
    why: str = ""
    version: str = ""
    requests: int = 0
    seconds: float = 0.0
    seen: Seen | None = None


async def examine(external: External, provider: SandboxProvider) -> Checkup:
    """Look whether a harness is installed, and if so let it write a greeting; whatever goes wrong is in the answer."""
    try:
        place = installed(external)
    except ConfigError as error:
        reason = cannot_install(external)
        return Checkup(external.name, *(("cannot be installed", reason) if reason else ("not installed", str(error))))
    if place.folder is None and not _on_path(external):
        return Checkup(external.name, "not installed", f"{external.launch.command[0]} is not on PATH")
    started = time.monotonic()
    try:
        found = await _played(external, place, provider)
    except HarnessEvalError as error:
        found = Checkup(external.name, "does not work", str(error))
    return replace(found, seconds=time.monotonic() - started)


def _on_path(external: External) -> bool:
    return shutil.which(external.launch.command[0]) is not None or "{" in external.launch.command[0]


async def _played(external: External, place: Installed, provider: SandboxProvider) -> Checkup:
    endpoint = PlayedEndpoint(Player(Scripts([Script("checkup", " ".join(_TASK.split()), _PLAN)])))
    with meeting_place() as folder, tempfile.TemporaryDirectory() as nothing:
        spec = room_for(BoxSpec("checkup", environment=Path(nothing)), (folder, *folders_for(external, place)))
        async with provider.open(spec) as box:
            agent = ExternalAgent(external, place, box, endpoint, LIMITS, 1, _TASK, folder)
            problem = ""
            try:
                await agent.run()
            except HarnessEvalError as error:
                problem = str(error)
            problem = problem or await _left_undone(box, agent)
            return _told(external, agent, problem)


async def _left_undone(box: Sandbox, agent: ExternalAgent) -> str:
    try:
        written = (await box.read("greeting.txt")).decode("utf-8", "replace")
    except OSError:
        written = ""
    if written.strip() == "hello":
        return ""
    if not agent.facts.tools.names:
        return _NO_TOOLS
    return f"the command that it was told to run was not run; it offers {', '.join(agent.facts.tools.names)}"


def _told(external: External, agent: ExternalAgent, problem: str) -> Checkup:
    facts = agent.facts
    version = next(iter(_NUMBERED.findall(agent.version)), agent.version)
    seen = None
    if facts.requests.all:
        tools, prompt = facts.tools, facts.prompt
        seen = Seen(
            version=external.version,
            id=external.id,
            tools=tools.hash,
            system=hashlib.sha256(_steady(agent).encode()).hexdigest()[:16],
            tool_count=len(tools.names),
            system_chars=prompt.system_chars,
        )
    if not problem and version and version != external.version.removeprefix("v"):
        problem = f"its version is {version}, not {external.version}"
    state: State = "offers no tools" if problem == _NO_TOOLS else "does not work" if problem else "works"
    return Checkup(external.name, state, problem, version, facts.requests.all, 0.0, seen)


def _steady(agent: ExternalAgent) -> str:
    """The system prompt without what differs from day to day and from box to box."""
    said = agent.result.record.system.replace(agent.sandbox.workdir, "WORKDIR").replace(agent.sandbox.root or "\0", "")
    return _DATED.sub("#", said)


def as_json(checkup: Checkup) -> dict[str, Json]:
    """A check-up for programs."""
    seen = json.loads(checkup.seen.model_dump_json()) if checkup.seen else None
    told = {"harness": checkup.name, "state": checkup.state, "why": checkup.why, "version_found": checkup.version}
    return {**told, "requests": checkup.requests, "seconds": round(checkup.seconds, 2), "seen": seen}
