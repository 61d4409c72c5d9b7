"""What an external harness really sent at each turn: taken from the wire log of its trial, since it has no levels from
which it could be derived."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness_eval import recording
from harness_eval.errors import redact
from harness_eval.report.external_shown import Shown
from harness_eval.report.external_words import thinking_phrase
from harness_eval.report.trajectory_sent import Sent, added, message_texts
from harness_eval.report.wording import count, one_line
from harness_eval.types import Json, Note, Request, Step, Trajectory, TrialKey

_NOT_LOGGED = "is not in the wire log"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as the wire had it."""

    name: str
    description: str
    schema: Json


@dataclass(frozen=True, slots=True)
class Wire:
    """The requests of a trial by digest, and the tools that were offered first.

    `missing` says why there is none of it. `facts` are what the wire showed, each with its name.
    """

    requests: Mapping[str, Request] = field(default_factory=dict)
    tools: tuple[Tool, ...] = ()
    missing: str = ""
    facts: tuple[tuple[str, str], ...] = ()


def read_wire(folder: Path, key: TrialKey, shown: Shown | None) -> Wire:
    """The wire log of a trial; what is damaged or missing is said in it and never raised."""
    facts = tuple(_facts(shown)) if shown else ()
    try:
        entries = recording.wire_log(folder, key)
        requests = [request for entry in entries if (request := _request(entry["request"]))]
    except (OSError, ValueError, TypeError, KeyError) as error:
        return Wire(missing=one_line(f"its wire log is damaged: {error}", 300), facts=facts)
    if not entries:
        return Wire(missing="there is no wire log of this trial", facts=facts)
    offering = next((request for request in requests if request.tools), None)
    tools = tuple(_tool(tool) for tool in offering.tools) if offering else ()
    return Wire({request.digest: request for request in requests}, tools, facts=facts)


def requests(wire: Wire, record: Trajectory) -> dict[int, Sent | str]:
    """For the place of each step and compaction in the record: its request, or that it is not known."""
    found: dict[int, Sent | str] = {}
    last: tuple[tuple[str, str], ...] = ()
    for place, event in enumerate(record.events):
        if isinstance(event, Note) or not event.digest:
            continue
        request = wire.requests.get(event.digest)
        if request is None:
            found[place] = f"is not known: {wire.missing}" if wire.missing else _NOT_LOGGED
            continue
        texts = message_texts(request)
        found[place] = added(last, texts)
        last = texts if isinstance(event, Step) else last
    return found


def _request(body: Json) -> Request | None:
    if not isinstance(body, Mapping):
        return None
    parallel = body.get("parallel_tool_calls") is not False
    return Request(tuple(body["messages"]), tuple(body.get("tools", ())), tuple(body.get("stop", ())), parallel)


def _tool(tool: Mapping[str, Json]) -> Tool:
    function = tool.get("function")
    told = function if isinstance(function, Mapping) else tool
    return Tool(str(told.get("name") or ""), str(told.get("description") or ""), told.get("parameters"))


def _facts(shown: Shown) -> Iterable[tuple[str, str]]:
    asked = shown.requests
    yield "version", redact(shown.version_found) or f"{shown.version}, as pinned"
    yield "wire", ", ".join(shown.asked.wires)
    yield "thinking", thinking_of(shown)
    yield "requests", f"{asked.all:,}, {asked.beside:,} beside the conversation, {asked.again:,} sent again"
    yield "results", f"{shown.results.shown:,}, {shown.results.shortened:,} shortened"
    if shown.compactions:
        yield "compactions", count(shown.compactions, "time")
    if shown.asked.untranslated:
        yield "not carried over", redact(", ".join(shown.asked.untranslated))
    yield "exit code", "none" if shown.exit_code is None else str(shown.exit_code)


def thinking_of(shown: Shown) -> str:
    """What became of thinking in one trial."""
    told = shown.thinking
    reason = None if told.due else "no later request showed any"
    fates = {"kept": told.kept, "moved": told.moved, "dropped": told.dropped, "due": told.due}
    return thinking_phrase({**fates, "policy": told.policy, "reason": reason, "policies": {}})
