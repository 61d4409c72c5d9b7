"""Axis distractors: plausible tools that have nothing to do with the task and really answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, ClassVar

from harness_eval.axes.desk import Desk
from harness_eval.axes.level import Level
from harness_eval.axes.tool import Operation, Outcome, Parameter, Tool

# Sixteen services with four verbs each make sixty-four tools.
_SERVICES = {
    "calendar": "events of the team's calendar",
    "mail": "messages in the mailbox",
    "weather": "weather reports of a place",
    "currency": "exchange rates",
    "contacts": "people in the address book",
    "tickets": "tickets of the support desk",
    "notes": "personal notes",
    "maps": "places on the map",
    "music": "songs of the music library",
    "translation": "translated phrases",
    "flights": "flights between two airports",
    "recipes": "recipes of the kitchen",
    "stocks": "prices of shares",
    "news": "articles of the news desk",
    "photos": "pictures in the albums",
    "invoices": "invoices of the shop",
}
_VERBS = {
    "search": ("Search {what} by words.", "query", "What to search for."),
    "get": ("Get one of the {what} by its id.", "id", "The id."),
    "create": ("Add to the {what}.", "content", "What to add."),
    "summarize": ("Summarize {what} of one day.", "day", "The day, such as 2026-01-31."),
}


class Distractors(Level):
    """How many unrelated tools are offered."""

    axis: ClassVar[str] = "distractors"
    count: ClassVar[int] = 0

    def amend(self, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        """With the unrelated tools after the others."""
        return tools + unrelated_tools()[: self.count]


class Alone(Distractors):
    """No unrelated tool."""


class Few(Distractors):
    """Eight unrelated tools."""

    count = 8


class Many(Distractors):
    """Twenty-four unrelated tools."""

    count = 24


class Crowd(Distractors):
    """Sixty-four unrelated tools, as an agent has them that several servers were plugged into."""

    count = 64


def unrelated_tools() -> tuple[Tool, ...]:
    """All sixty-four, every service with its first verb before any with its second."""
    return tuple(_tool(service, verb) for verb in _VERBS for service in _SERVICES)


def _tool(service: str, verb: str) -> Tool:
    description, name, meaning = _VERBS[verb]
    text = description.format(what=_SERVICES[service])
    return Tool(f"{service}_{verb}", text, (Parameter(name, name, meaning),), _answering(service, verb), "distractor")


def _answering(service: str, verb: str) -> Operation:
    async def answer(desk: Desk, arguments: Mapping[str, Any]) -> Outcome:
        del desk
        asked = " ".join(str(value) for value in arguments.values())
        number = int.from_bytes(hashlib.sha256(f"{service} {verb} {asked}".encode()).digest()[:2], "big")
        if verb == "search":
            found = [{"id": f"{service[:2]}-{number + i}", "title": f"{asked[:40]} {i + 1}"} for i in range(number % 4)]
            return Outcome(json.dumps({"service": service, "results": found}))
        body = {
            "id": f"{service[:2]}-{number}",
            "content": asked[:200],
            "status": "created" if verb == "create" else "ok",
        }
        return Outcome(json.dumps({"service": service, **body}))

    return answer
