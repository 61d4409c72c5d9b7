"""What a model really receives from a harness: the requests of one fixed dialogue, through the real loop.

The dialogue meets everything a harness words: the system prompt, the schemas, a short and a long result, a failing
command, a call that no tool can carry out, a call of an unknown tool, compaction, reminders, nudges and the end.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio

from harness_eval.agent import run_agent
from harness_eval.axes.tool import Parameter, Tool
from harness_eval.endpoints.base import Endpoint
from harness_eval.harness import Harness
from harness_eval.sandboxes.base import Executed, Sandbox
from harness_eval.types import (
    Action,
    Json,
    Limits,
    Observation,
    RawCall,
    Reply,
    Request,
    Step,
    ToolCall,
    Usage,
    View,
)

_TASK = "Find the failing host in big.log and write its name to answer.txt."
_LONG = "".join(f"line {number:05d} of big.log: nothing to see here\n" for number in range(3000))
_FULL = 10**9  # tokens that no window holds, so that a compaction becomes due


class _Canned(Sandbox):
    """A sandbox whose commands have fixed results; nothing runs."""

    workdir = "/app"

    async def run(
        self, command: str, *, timeout: float = 60.0, cwd: str | None = None, env: Mapping[str, str] | None = None
    ) -> Executed:
        del timeout, cwd, env
        if "big.log" in command:
            return Executed(_LONG, 0, full_length=len(_LONG))
        if "missing" in command:
            return Executed("ls: missing: No such file or directory\n", 2)
        word = command.rpartition("echo ")[2].strip("'\"") if "echo " in command else ""
        return Executed(f"{word}\n" if word else "answer.txt\nbig.log\n", 0)

    async def read(self, path: str) -> bytes:
        return f"content of {path}\n".encode()

    async def write(self, path: str, data: bytes) -> None:
        del path, data

    async def upload(self, source: Path, target: str) -> None:
        del source, target

    async def end_processes(self) -> None:
        return


class _Script(Endpoint):
    """Says the dialogue's lines in the harness's own protocol, and keeps the requests."""

    name = model = "dialogue"

    def __init__(self, harness: Harness, thinking: str | None = None) -> None:
        self.harness, self.thinking = harness, thinking
        self.requests: list[Request] = []
        self.turns = _turns(harness)

    async def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        if _wants_summary(request, self.harness):
            return Reply("Notes: the failing host is not found yet.", None, (), "stop", Usage(10, 10))
        action = self.turns.pop(0) if self.turns else Action("Done.")
        tokens = _FULL if len(self.turns) == 4 else 10
        reply = spoken(self.harness, action)
        return Reply(reply.text, action.thinking or self.thinking, reply.calls, "stop", Usage(tokens, 10))

    async def close(self) -> None:
        return None


def _wants_summary(request: Request, harness: Harness) -> bool:
    last = request.messages[-1]["content"] if request.messages else ""
    return bool(last == harness.context.summary_request)


def spoken(harness: Harness, action: Action) -> Reply:
    """The reply that means this action in the harness's protocol."""
    seen = tuple(Observation("", 0) for _ in (*action.calls, *action.malformed))
    request = harness.encode(View("", "", (Step(action, seen),)))
    if request.wire == "completions":
        values = [str(value) for call in action.calls for value in call.arguments.values()]
        return Reply(values[0] if values else f"# {action.text}")
    said = next(message for message in reversed(request.messages) if message["role"] == "assistant")
    called = [RawCall(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in said.get("tool_calls", ())]
    return Reply(said["content"], None, tuple(called))


def _turns(harness: Harness) -> list[Action]:
    tools = {tool.kind: tool for tool in reversed(harness.tools)}
    shell = _shell(harness.tools)
    commands = ["ls", "cat big.log", "ls missing"]
    turns = [Action(f"I run {line}.", f"I want to see what {line} says.", (_call(shell, line),)) for line in commands]
    turns.append(Action("", None, (ToolCall("call_0", shell.name, {"no_such_parameter": "x"}),)))
    turns.append(Action("", None, (ToolCall("call_0", "no_such_tool", {}),)))
    turns += [Action("I look once more.", "Almost there.", (_call(shell, "ls"),))] * 2
    turns.append(Action("I believe that this is all."))
    word = getattr(harness.stopping, "word", "")
    if "stop" in tools:
        turns += [Action("I hand it in.", None, (_call(tools["stop"], ""),))] * 3
    elif word:
        turns.append(Action("I end it.", None, (_call(shell, f"echo {word}"),)))
    return turns


def _shell(tools: tuple[Tool, ...]) -> Tool:
    roles = ("command", "commands")
    # A toolset of the user's own need not have a shell: then the first tool is asked, whatever it makes of a command.
    return next((t for t in tools for p in t.parameters if p.role in roles and not p.choices), tools[0])


def _call(tool: Tool, command: str) -> ToolCall:
    return ToolCall("call_0", tool.name, {p.name: _value(p, command) for p in tool.parameters if p.required})


def _value(parameter: Parameter, command: str) -> Any:
    if parameter.role == "command":
        return command
    if parameter.role == "commands":
        return [{"keystrokes": command}]
    blank: dict[str, Any] = {"integer": 1, "number": 1, "boolean": False, "array": [], "object": {}}
    return parameter.choices[0] if parameter.choices else blank.get(parameter.type, "words")


def requests_of(harness: Harness, thinking: str | None = None) -> tuple[Request, ...]:
    """All requests of the dialogue under this harness, in order; `thinking` is what turns without any are given."""
    script = _Script(harness, thinking)

    async def play() -> None:
        await run_agent(harness, _TASK, _Canned(), script, limits=Limits(steps=30, tokens=10 * _FULL), seed=0)

    anyio.run(play)
    return tuple(script.requests)


def wire_hash(requests: tuple[Request, ...]) -> str:
    """SHA-256 over the exact bodies of all requests."""
    return hashlib.sha256("".join(request.digest for request in requests).encode()).hexdigest()


def wire_text(requests: tuple[Request, ...]) -> str:
    """The dialogue to read: the first request whole, of each later one what is new; long texts shortened by hash."""
    lines: list[str] = []
    before: list[str] = []
    for number, request in enumerate(requests, 1):
        told = _told(request)
        kept = 0
        while kept < min(len(before), len(told)) and before[kept] == told[kept]:
            kept += 1
        lines.append(f"=== request {number}: {len(told)} parts, the first {kept} as before")
        lines += told[kept:]
        before = told
    return "\n".join(lines) + "\n"


def _told(request: Request) -> list[str]:
    options = {"wire": request.wire, "parallel": request.parallel, "stop": list(request.stop)}
    parts = [f"--- options: {json.dumps(options)}"]
    parts += [f"--- tool {tool['function']['name']}\n{_pretty(tool['function'])}" for tool in request.tools]
    parts += [f"--- {message['role']}{_rest(message)}\n{_content(message)}" for message in request.messages]
    if request.prompt:
        parts.append(f"--- prompt\n{_short(request.prompt)}")
    return parts


def _rest(message: Mapping[str, Json]) -> str:
    rest = {key: value for key, value in message.items() if key not in {"role", "content"}}
    return f" {json.dumps(rest, ensure_ascii=False)}" if rest else ""


def _pretty(value: Json) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False)


def _content(message: Mapping[str, Json]) -> str:
    # A system prompt is what reviewers come for; a long result only shows how it was cut.
    return str(message["content"]) if message["role"] == "system" else _short(str(message["content"]))


def _short(text: str) -> str:
    if len(text) <= 1_500:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"{text[:300]}\n(... {len(text)} characters in all, SHA-256 {digest} ...)\n{text[-300:]}"
