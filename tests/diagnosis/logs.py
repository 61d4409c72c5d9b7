"""Wire logs for tests: replies as servers send them, requests as harnesses do."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from harness_eval.cli.diagnose import report_of

Line = dict[str, Any]


def exchange(message: Mapping[str, Any], request: Any = None, **more: Any) -> Line:
    """A success with this message of the model; `finish` and `usage` as in `more`."""
    finish = more.pop("finish", "tool_calls" if message.get("tool_calls") else "stop")
    usage = more.pop("usage", {"prompt_tokens": 900, "completion_tokens": 40})
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    body = json.dumps({"choices": [choice], "usage": usage})
    return {"request": request, "response": {"status": 200, "body": body}, "seconds": 1.0, **more}


def refusal(status: int, body: Any, request: Any = None, **more: Any) -> Line:
    text = body if isinstance(body, str) else json.dumps(body)
    return {"request": request, "response": {"status": status, "body": text}, "seconds": 1.0, **more}


def call(name: str, arguments: Any = None, call_id: str = "c1") -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def calling(*calls: dict[str, Any], **message: Any) -> dict[str, Any]:
    return {"content": "", "tool_calls": list(calls), **message}


class Dialogue:
    """A harness at work: each turn is asked with the whole history, and the results come into it."""

    def __init__(self, tools: Any = ("run", "read"), system: str = "You work here.") -> None:
        self.tools = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in tools]
        self.messages: list[dict[str, Any]] = [
            {"role": "system", "content": system},
            {"role": "user", "content": "Do the task."},
        ]
        self.lines: list[Line] = []

    def request(self) -> dict[str, Any]:
        body = {"model": "m", "messages": json.loads(json.dumps(self.messages)), "tools": self.tools}
        return body if self.tools else {key: value for key, value in body.items() if key != "tools"}

    def fails(self, status: int, body: Any, **more: Any) -> None:
        self.lines.append(refusal(status, body, self.request(), **more))

    def says(self, message: Mapping[str, Any], *results: str | None) -> None:
        """One turn; a result that is None is lost on its way."""
        self.lines.append(exchange(message, self.request()))
        self.messages.append({"role": "assistant", **message})
        for asked, result in zip(message.get("tool_calls", ()), results, strict=True):
            if result is not None:
                self.messages.append({"role": "tool", "tool_call_id": asked["id"], "content": result})

    def is_told(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})


def written(lines: Iterable[Line], folder: Path) -> Path:
    path = folder / "wire.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def diagnosed(lines: Iterable[Line], folder: Path) -> list[dict[str, Any]]:
    """What the command prints for these exchanges: the turns, then the dialogue."""
    return report_of(written(lines, folder))


def labels(lines: Iterable[Line], folder: Path) -> tuple[list[str], str]:
    *turns, dialogue = diagnosed(lines, folder)
    return [turn["label"] for turn in turns], dialogue["label"]
