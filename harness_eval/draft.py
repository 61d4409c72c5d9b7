"""A first draft of a harness file from the requests that some agent was seen to send; its owner finishes it.

Requests of chat completions, of Anthropic messages and of responses are understood. What cannot be told from requests
alone (caps that never cut, triggers that never fired) is named in comments at the top of the draft.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import yaml

from harness_eval.errors import ConfigError
from harness_eval.types import Json

# Operations by what a tool's name (first) or description says, the most telling first.
_OPERATIONS = (
    ("patch", r"patch|apply_?diff"),
    ("editor", r"str_replace_editor|file_editor|text_editor"),
    ("replace", r"^edit|replace|strreplace"),
    ("find-text", r"grep|search_?(file|content|text)|ripgrep"),
    ("find-files", r"glob|find_?files"),
    ("list-files", r"list_?(dir|files)|^ls$"),
    ("write", r"write|create_?file|save"),
    ("read", r"^read|view|open_?file|cat_?file"),
    ("shell", r"bash|shell|terminal|exec|run_?command|command"),
    ("think", r"think|thought"),
)
_ROLES = {
    "shell": {"command": r"^(command|cmd|script|input)$", "milliseconds": r"timeout_?ms", "seconds": r"timeout",
              "directory": r"dir|cwd"},
    "read": {"path": r"path|file", "first": r"offset|start", "count": r"limit|lines|count"},
    "write": {"path": r"path|file_?name|^file$", "text": r"content|text|body"},
    "replace": {"path": r"path|file", "old": r"old|search|before|find", "new": r"new|replac|after",
                "every": r"all|multiple"},
    "editor": {"command": r"^command$", "path": r"path", "text": r"file_?text|content", "old": r"old", "new": r"new",
               "line": r"line", "range": r"range"},
    "patch": {"path": r"path|file", "patch": r"patch|diff|input"},
    "find-text": {"pattern": r"pattern|query|regex", "path": r"path|dir", "files": r"glob|include|files"},
    "find-files": {"pattern": r"pattern|glob|query", "path": r"path|dir"},
    "list-files": {"path": r"path|dir"},
    "think": {"thought": r"thought|text"},
}  # fmt: skip
_PLAN, _END = (
    re.compile(r"todo|update_?plan", re.IGNORECASE),
    re.compile(r"finish|submit|complet|final_?answer", re.IGNORECASE),
)
_TYPES = {"string", "integer", "number", "boolean", "array", "object"}


@dataclass(frozen=True, slots=True)
class Draft:
    """The proposed harness as data, and what its owner must still decide."""

    data: dict[str, Any]
    open_questions: tuple[str, ...]

    def yaml(self) -> str:
        """The file, the open questions first as comments."""
        comments = "".join(f"# to decide: {question}\n" for question in self.open_questions)
        return comments + yaml.safe_dump(self.data, sort_keys=False, allow_unicode=True, width=110)


def draft_harness(path: Path) -> Draft:
    """A draft from a wire log.

    Raises:
        ConfigError: if the file cannot be read, is no wire log, or holds no request with messages.
    """
    requests = [request for request in _requests(path) if _messages(request)]
    if not requests:
        raise ConfigError(f"{path}: no request with messages in it")
    fullest = max(requests, key=lambda request: len(_listed(request.get("tools"))))
    tools = [_tool(_mapping(each)) for each in _listed(fullest.get("tools"))]
    questions: list[str] = []
    data: dict[str, Any] = {
        "name": path.stem,
        "version": "1",
        "about": f"Drafted from recorded requests ({path.name}).",
    }
    data |= _toolset([tool for tool in tools if not _aside(tool)], questions)
    data |= _scaffolding(tools)
    data["thinking"] = "keep" if any(_has_thinking(request) for request in requests) else "drop"
    system = _system(fullest)
    if system:
        data["prompt"] = {"level": "verbatim", "text": system}
    if not any(message.get("role") == "assistant" for message in _messages(requests[-1])):
        questions.append("thinking, planning and stopping: no answer of the model was seen, so they are guesses")
    questions += _about_results(requests)
    return Draft(data, tuple(questions))


def _requests(path: Path) -> Iterable[Mapping[str, Any]]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            exchange = orjson.loads(line)
        except orjson.JSONDecodeError:
            raise ConfigError(f"{path}: line {number} is not JSON") from None
        request = exchange.get("request", exchange) if isinstance(exchange, dict) else None
        if isinstance(request, dict):
            yield _mapping(request.get("body", request))


def _mapping(value: Json) -> Mapping[str, Any]:
    """The value where it is a mapping; what was recorded need not be a request."""
    return value if isinstance(value, dict) else {}


def _listed(value: Json) -> list[Any]:
    return value if isinstance(value, list) else []


def _messages(request: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    found = request.get("messages") or request.get("input") or ()
    return [message for message in found if isinstance(message, dict)] if isinstance(found, list) else []


def _tool(entry: Mapping[str, Json]) -> dict[str, Any]:
    inner = _mapping(entry.get("function")) or entry
    schema = _mapping(inner.get("parameters")) or _mapping(inner.get("input_schema"))
    name, description = (str(inner.get(key) or "") for key in ("name", "description"))
    return {"name": name, "description": description, "schema": schema}


def _aside(tool: Mapping[str, Any]) -> bool:
    return bool(_PLAN.search(tool["name"]) or _END.search(tool["name"]))


def _toolset(tools: list[dict[str, Any]], questions: list[str]) -> dict[str, Any]:
    specs = [_spec(tool, questions) for tool in tools]
    known = [spec for spec in specs if spec]
    if not known:
        questions.append("no native tool was understood: choose a text protocol and a toolset")
        return {}
    return {"toolset": {"level": "custom", "tools": known}}


def _spec(tool: Mapping[str, Any], questions: list[str]) -> dict[str, Any] | None:
    operation = _operation(tool)
    if operation is None:
        questions.append(f"the tool {tool['name']} is left out, since nothing here does what it seems to do")
        return None
    properties = {name: _mapping(each) for name, each in _mapping(tool["schema"].get("properties")).items()}
    required = {name for name in _listed(tool["schema"].get("required")) if isinstance(name, str)}
    left = dict(_ROLES[operation])
    parameters = {name: _parameter(name, schema, name in required, left) for name, schema in properties.items()}
    text = tool["description"] or tool["name"]
    return {"name": tool["name"], "operation": operation, "description": text, "parameters": parameters}


def _operation(tool: Mapping[str, Any]) -> str | None:
    for text in (tool["name"], tool["description"][:80]):
        for operation, pattern in _OPERATIONS:
            if re.search(pattern, text, re.IGNORECASE):
                return operation
    return None


def _parameter(name: str, schema: Mapping[str, Any], required: bool, left: dict[str, str]) -> dict[str, Any]:
    role = next((role for role, pattern in left.items() if re.search(pattern, name, re.IGNORECASE)), "")
    left.pop(role, None)
    kind = schema.get("type", "string")
    made = {"role": role, "description": str(schema.get("description") or name), "required": required}
    made["type"] = kind if isinstance(kind, str) and kind in _TYPES else "string"
    if _listed(schema.get("enum")):
        made["choices"] = [str(choice) for choice in schema["enum"]]
    if made["type"] == "array" and isinstance(schema.get("items"), dict):
        made["items"] = schema["items"]
    return made


def _scaffolding(tools: list[dict[str, Any]]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for tool in tools:
        if _PLAN.search(tool["name"]):
            data["planning"] = {"level": "todo", "tool": tool["name"]}
        elif _END.search(tool["name"]):
            data["stopping"] = {"level": "submit-tool", "tool": tool["name"]}
    return {"planning": "unplanned", "stopping": "no-call", **data}


def _has_thinking(request: Mapping[str, Json]) -> bool:
    keys = {"reasoning_content", "reasoning", "reasoning_details"}
    return any(
        keys & message.keys()
        or message.get("type") == "reasoning"
        or any(isinstance(part, dict) and part.get("type") == "thinking" for part in _parts(message))
        for message in _messages(request)
    )


def _parts(message: Mapping[str, Json]) -> list[Json]:
    content = message.get("content")
    return content if isinstance(content, list) else []


def _text(message: Mapping[str, Json]) -> str:
    content = message.get("content") or message.get("output")
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in _parts(message) if isinstance(part, dict))


def _system(request: Mapping[str, Json]) -> str:
    given = request.get("system") or request.get("instructions")
    if isinstance(given, list):
        given = "\n\n".join(str(part.get("text", "")) for part in given if isinstance(part, dict))
    told = [_text(m) for m in _messages(request) if m.get("role") in {"system", "developer"}]
    return "\n\n".join(part for part in [given or "", *told] if part)


def _about_results(requests: list[Mapping[str, Any]]) -> list[str]:
    results = [
        _text(message)
        for request in requests
        for message in _messages(request)
        if message.get("role") == "tool" or message.get("type") == "function_call_output"
    ]
    longest = max(map(len, results), default=0)
    cut = any(re.search(r"truncat|omitted|left out|clipped", result, re.IGNORECASE) for result in results)
    shortened = any(len(_messages(b)) < len(_messages(a)) for a, b in itertools.pairwise(requests))
    return [
        f"truncation: the longest result seen has {longest} characters; "
        + ("some say that they were cut" if cut else "none says that it was cut"),
        "context: a later request held fewer messages, so something is compacted or dropped"
        if shortened
        else "context: nothing was seen to be dropped",
    ]
