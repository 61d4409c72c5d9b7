"""The messages and tools of an Anthropic request, as messages and functions of chat completions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness_eval.gateway import reading
from harness_eval.gateway.reading import Content, Conversation
from harness_eval.types import Json

_ERROR = "Error: "
_ERROR_WITHIN = 200  # characters of a result that failed in which it says so itself, or else is made to


def take_message(message: Mapping[str, Json], conversation: Conversation, where: str) -> None:
    """Put one message into the conversation: results first, as chat completions want them.

    Raises:
        ValueError: it is not of its shape.
    """
    role, content = reading.role_of(message, where, "assistant"), message.get("content")
    blocks: Sequence[Mapping[str, Json]] = (
        [{"type": "text", "text": content}] if isinstance(content, str) else reading.objects(content, where)
    )
    if role == "assistant":
        _take_reply(blocks, conversation, where)
    else:
        for block in blocks:
            if block.get("type") == "tool_result":
                conversation.answer(reading.text_at(block, "tool_use_id", where), _result(block, conversation, where))
        rest = [block for block in blocks if block.get("type") != "tool_result"]
        parts = reading.parts_of([_plain(block) for block in rest], conversation, where)
        if parts or not blocks:
            conversation.tell(role, reading.joined(parts))


def _take_reply(blocks: Sequence[Mapping[str, Json]], conversation: Conversation, where: str) -> None:
    message = conversation.begin()
    said: list[Mapping[str, Json]] = []
    for block in blocks:
        kind = block.get("type")
        if kind == "thinking":
            conversation.think(reading.text_at(block, "thinking", where))
        elif kind == "redacted_thinking":
            conversation.leave_out("reasoning that somebody else has encrypted")
        elif kind == "tool_use":
            name = reading.text_at(block, "name", where)
            conversation.call(reading.text_at(block, "id", where), name, reading.as_text(block.get("input") or {}))
        else:
            said.append(block)
    if said:
        message["content"] = reading.joined(reading.parts_of(said, conversation, where))


def _result(block: Mapping[str, Json], conversation: Conversation, where: str) -> Content:
    """What a call brought. Chat completions have no flag for failure, so that the text must say it."""
    content = block.get("content")
    given = content if content is None or isinstance(content, str) else reading.objects(content, where)
    parts = reading.parts_of(list(map(_plain, given)) if isinstance(given, list) else given, conversation, where)
    text = "\n\n".join(str(part["text"]) for part in parts if part["type"] == "text")
    if block.get("is_error") is True and "error" not in text[:_ERROR_WITHIN].lower():
        parts = [{"type": "text", "text": _ERROR + text}, *(part for part in parts if part["type"] != "text")]
    return reading.joined(parts)


def _plain(block: Mapping[str, Json]) -> Mapping[str, Json]:
    """A document that is a text becomes that text; anything else stays."""
    source = block.get("source")
    if block.get("type") == "document" and isinstance(source, Mapping) and source.get("type") == "text":
        return {"type": "text", "text": source.get("data")}
    return block


def take_tools(given: Json, conversation: Conversation) -> tuple[dict[str, Json], ...]:
    """The tools that the harness runs itself as functions; those of the server are noted.

    Raises:
        ValueError: a tool is not of its shape.
    """
    tools = []
    for place, tool in enumerate(reading.objects(given or [], "tools")):
        kind = tool.get("type")
        if kind not in (None, "custom"):
            conversation.leave_out(f"a tool of type {reading.kind_of(tool)}")
            continue
        name = reading.text_at(tool, "name", f"tools[{place}]")
        keys = (tool.get(key) for key in ("description", "input_schema", "strict"))
        tools.append(reading.function(name, *keys))
    return tuple(tools)
