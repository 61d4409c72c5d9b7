"""The items and tools of a responses request, as messages and functions of chat completions."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterator, Mapping

from harness_eval.gateway import reading
from harness_eval.gateway.reading import Conversation
from harness_eval.types import Json

_LONGEST_NAME = 64  # characters that servers allow a tool
_SEAL = "harness-eval:"  # how the encrypted content of ours begins; it hides nothing, and needs not to
_RESULTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_ITEMS = ("message", "reasoning", "function_call", "custom_tool_call", "local_shell_call", *_RESULTS)


def take_item(item: Mapping[str, Json], conversation: Conversation, where: str) -> None:
    """Put one item into the conversation.

    Raises:
        ValueError: it is not of its shape, or stands for something that is not in the request.
    """
    kind = item.get("type") or ("message" if "role" in item else None)
    if kind == "item_reference":
        raise ValueError(f"{where}: no response is stored here, so items must be sent whole")
    if kind == "message":
        _take_message(item, conversation, where)
    elif kind == "reasoning":
        _take_reasoning(item, conversation, where)
    elif kind in _RESULTS:
        parts = reading.parts_of(item.get("output"), conversation, f"{where}.output")
        conversation.answer(_call_id(item, where), reading.joined(parts))
    elif kind in _ITEMS:
        conversation.call(_call_id(item, where), *_called(item, str(kind), where))
    else:
        conversation.leave_out(f"an input item of type {str(kind)[:60]}")


def _take_message(item: Mapping[str, Json], conversation: Conversation, where: str) -> None:
    content = reading.joined(reading.parts_of(item.get("content"), conversation, f"{where}.content"))
    role = reading.role_of(item, where, "assistant")
    if role == "assistant":
        conversation.say(content)
    else:
        conversation.tell(role, content)


def _take_reasoning(item: Mapping[str, Json], conversation: Conversation, where: str) -> None:
    """What the model would be shown: its own reasoning where it comes back, else what was told of it."""
    sealed = item.get("encrypted_content")
    thinking = unsealed(sealed)
    if thinking is None:
        lists = [reading.objects(item.get(key) or [], f"{where}.{key}") for key in ("content", "summary")]
        told = [[str(part.get("text") or "") for part in parts] for parts in lists]
        thinking = "\n\n".join(told[0] or told[1])
        if isinstance(sealed, str) and sealed and not thinking:
            conversation.leave_out("reasoning that somebody else has encrypted")
            return
    conversation.think(thinking)


def _call_id(item: Mapping[str, Json], where: str) -> str:
    return reading.text_at(item, "call_id" if item.get("call_id") is not None else "id", where)


def _called(item: Mapping[str, Json], kind: str, where: str) -> tuple[str, str]:
    """The name and the arguments of a call in the history."""
    if kind == "local_shell_call":
        return "local_shell", reading.as_text(item.get("action") or {})
    name = reading.text_at(item, "name", where)
    if kind == "custom_tool_call":
        return name, reading.as_text({"input": reading.text_at(item, "input", where)})
    space = item.get("namespace")
    flat = flattened(space, name) if isinstance(space, str) and space else name
    return flat, reading.as_text(item.get("arguments", ""))


def take_tools(given: Json, aliases: dict[str, Json], conversation: Conversation) -> tuple[dict[str, Json], ...]:
    """The tools as functions; `aliases` gets what the calls of those must say that are none.

    Raises:
        ValueError: a tool is not of its shape.
    """
    entries = enumerate(reading.objects(given or [], "tools"))
    return tuple(tool for place, each in entries for tool in _tools(each, aliases, conversation, f"tools[{place}]"))


def _tools(
    tool: Mapping[str, Json], aliases: dict[str, Json], conversation: Conversation, where: str
) -> Iterator[dict[str, Json]]:
    kind = tool.get("type")
    if kind == "function":
        yield _function(tool, reading.text_at(tool, "name", where))
    elif kind == "custom":
        name = reading.text_at(tool, "name", where)
        aliases[name] = {"type": "custom"}
        yield reading.free_form(name, tool)
    elif kind == "namespace":
        yield from _of_namespace(tool, aliases, conversation, where)
    else:
        conversation.leave_out(f"a tool of type {reading.kind_of(tool)}")


def _of_namespace(
    space: Mapping[str, Json], aliases: dict[str, Json], conversation: Conversation, where: str
) -> Iterator[dict[str, Json]]:
    """Its functions under names that tell the namespace; what it says of itself is told by the first of them."""
    about = str(space.get("description") or "").strip()
    outer = reading.text_at(space, "name", where)
    for place, tool in enumerate(reading.objects(space.get("tools") or [], f"{where}.tools")):
        if tool.get("type") != "function":
            conversation.leave_out(f"a tool of type {reading.kind_of(tool)} in a namespace")
            continue
        inner = reading.text_at(tool, "name", f"{where}.tools[{place}]")
        name = flattened(outer, inner)
        aliases[name] = {"type": "function", "namespace": outer, "name": inner}
        told = "\n\n".join(filter(None, (about, str(tool.get("description") or ""))))
        yield _function({**tool, "description": told or None}, name)
        about = ""


def _function(tool: Mapping[str, Json], name: str) -> dict[str, Json]:
    return reading.function(name, tool.get("description"), tool.get("parameters"), tool.get("strict"))


def flattened(space: str, name: str) -> str:
    """One name for a tool of a namespace, no longer than servers allow."""
    flat = f"{space}__{name}"
    if len(flat) <= _LONGEST_NAME:
        return flat
    return f"{flat[: _LONGEST_NAME - 9]}_{hashlib.sha256(flat.encode()).hexdigest()[:8]}"


def sealed(thinking: str) -> str:
    """Reasoning as the encrypted content that harnesses send back without looking at it."""
    return _SEAL + base64.b64encode(thinking.encode("utf-8", "replace")).decode()


def unsealed(content: Json) -> str | None:
    """The reasoning in encrypted content of ours, None for any other."""
    if not isinstance(content, str) or not content.startswith(_SEAL):
        return None
    try:
        return base64.b64decode(content.removeprefix(_SEAL), validate=True).decode()
    except (binascii.Error, ValueError):
        return None
