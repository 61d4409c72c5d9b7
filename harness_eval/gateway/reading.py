"""What the three wires have in common when they are read: messages put in the order of chat completions, and parts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import TypeAlias

from harness_eval.types import Json, Message

Part: TypeAlias = dict[str, Json]
Content: TypeAlias = str | list[Part]

SETTINGS = {
    *("temperature", "top_p", "top_k", "min_p", "presence_penalty", "frequency_penalty", "repetition_penalty"),
    *("logit_bias", "logprobs", "top_logprobs", "seed"),
    *("max_tokens", "max_completion_tokens", "max_output_tokens", "max_tool_calls"),
    *("reasoning", "reasoning_effort", "thinking", "enable_thinking", "chat_template_kwargs", "verbosity", "effort"),
    *("output_config", "context_management", "text", "truncation", "include", "store", "service_tier", "speed"),
    *("prompt_cache_key", "prompt_cache_retention", "stream_options", "betas"),
}
"""Keys of a request that ask for a way of sampling, thinking or serving: recorded, and never sent on."""

_MEANINGLESS = frozenset({"user", "metadata", "safety_identifier", "client_metadata"})  # say who asks, not what
_ROLES = {"system": "system", "developer": "system", "user": "user"}
_IMAGE_FOLLOWS = "(an image follows)"


class Conversation:
    """The messages of one request while they are read, and in words what could not be carried over.

    A chat message of the assistant has its calls in it and their results right behind it. Other dialects have items
    of their own for these, in nearly any order.
    """

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._left_out: dict[str, None] = {}
        self._thoughts: dict[int, list[str]] = {}  # by the place of their message, as are results
        self._results: dict[int, list[Message]] = {}
        self._unanswered: dict[str, list[int]] = {}  # the places of the messages with such a call
        self._open = False  # whether the last message is the assistant's and may still grow

    @property
    def untranslated(self) -> tuple[str, ...]:
        """What was left out, each once."""
        return tuple(self._left_out)

    def leave_out(self, what: str) -> None:
        """Note that something of the request is not carried over."""
        self._left_out[what] = None

    def tell(self, role: str, content: Content) -> None:
        """A message of somebody else."""
        self.messages.append({"role": role, "content": content})
        self._open = False

    def begin(self) -> Message:
        """A new message of the assistant, empty as yet."""
        self.messages.append({"role": "assistant"})
        self._open = True
        return self.messages[-1]

    def think(self, text: str) -> None:
        """Reasoning, with which a reply begins."""
        self._going_on({"reasoning_content"})["reasoning_content"] = text
        self._thoughts.setdefault(len(self.messages) - 1, []).append(text)

    def say(self, content: Content) -> None:
        """The text of a reply."""
        self._going_on({"reasoning_content"})["content"] = content

    def call(self, call_id: str, name: str, arguments: str) -> None:
        """A call of a reply."""
        message = self._going_on({"reasoning_content", "content", "tool_calls"})
        function = {"name": name, "arguments": arguments}
        message.setdefault("tool_calls", []).append({"id": call_id, "type": "function", "function": function})
        self._unanswered.setdefault(call_id, []).append(len(self.messages) - 1)

    def answer(self, call_id: str, content: Content) -> None:
        """The result of a call, put where chat completions want it: behind the last message with this call and without
        a result for it, for ids may come again in later turns. Images in it follow as a message of the user."""
        images = [part for part in content if part["type"] == "image_url"] if isinstance(content, list) else []
        texts = [str(part["text"]) for part in content if part["type"] == "text"] if isinstance(content, list) else []
        shown = content if isinstance(content, str) else "\n\n".join(texts) or _IMAGE_FOLLOWS
        result = {"role": "tool", "tool_call_id": call_id, "content": shown}
        places = self._unanswered.get(call_id)
        if places:
            self._results.setdefault(places.pop(), []).append(result)
        else:
            self.messages.append(result)
        self._open = False
        if images:
            self.tell("user", images)

    def settle(self) -> tuple[Message, ...]:
        """The messages; those of the assistant with a content even where it is empty: not every server takes none."""
        return tuple(self._settled())

    def _settled(self) -> Iterator[Message]:
        for place, message in enumerate(self.messages):
            thoughts = self._thoughts.get(place)
            thinking = {"reasoning_content": "\n\n".join(thoughts)} if thoughts else {}
            whole = {"role": "assistant", "content": "", **message, **thinking}
            yield whole if message["role"] == "assistant" else message
            yield from self._results.get(place, ())

    def _going_on(self, allowed: set[str]) -> Message:
        """The last message where that is the assistant's and has no more than these keys, else a new one."""
        if self._open and set(self.messages[-1]) <= {"role", *allowed}:
            return self.messages[-1]
        return self.begin()


def settings_of(body: Mapping[str, Json], known: Set[str], conversation: Conversation) -> dict[str, Json]:
    """What was asked of sampling; keys that nobody here knows are noted by name."""
    for key, value in body.items():
        if key not in known | SETTINGS | _MEANINGLESS and value not in (None, False, [], {}):
            conversation.leave_out(f"the key {key[:60]} of the request")
    return {key: body[key] for key in body if key in SETTINGS and key not in known and body[key] is not None}


def parts_of(content: Json, conversation: Conversation, where: str) -> list[Part]:
    """The parts of a content that is a text, a list of typed parts, or nothing.

    Raises:
        ValueError: it is neither.
    """
    if content is None:
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    entries = objects(content, where)
    read = [(entry, _part(entry)) for entry in entries]
    for entry, part in read:
        if part is None:
            conversation.leave_out(f"a part of type {kind_of(entry)} in a message")
    return [part for _, part in read if part is not None]


def joined(parts: Sequence[Part]) -> Content:
    """Texts alone become one text, with an empty line between; with images they stay a list."""
    if all(part["type"] == "text" for part in parts):
        return "\n\n".join(str(part["text"]) for part in parts)
    return list(parts)


def _part(entry: Mapping[str, Json]) -> Part | None:
    kind = entry.get("type")
    if kind in ("text", "input_text", "output_text", "refusal"):
        text = entry.get("refusal" if kind == "refusal" else "text")
        return {"type": "text", "text": text} if isinstance(text, str) else None
    url = _image(entry)
    if not isinstance(url, str) or not url:
        return None
    detail = entry.get("detail")
    return {"type": "image_url", "image_url": {"url": url, **({"detail": detail} if isinstance(detail, str) else {})}}


def _image(entry: Mapping[str, Json]) -> Json:
    """The address of an image in any of the dialects, None where there is none."""
    kind, given, source = entry.get("type"), entry.get("image_url"), entry.get("source")
    if kind in ("image_url", "input_image"):
        return given.get("url") if isinstance(given, Mapping) else given
    if kind != "image" or not isinstance(source, Mapping):
        return None
    if source.get("type") == "base64":
        return f"data:{source.get('media_type')};base64,{source.get('data')}"
    return source.get("url")


def kind_of(entry: Mapping[str, Json]) -> str:
    """What an entry says that it is, for messages."""
    return str(entry.get("type"))[:60]


def objects(value: Json, where: str) -> list[Mapping[str, Json]]:
    """A list of objects.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise ValueError(f"{where} must be a list of objects")
    return value


def role_of(entry: Mapping[str, Json], where: str, *others: str) -> str:
    """Who says a message: the system, which may be called developer, the user, or one of the others.

    Raises:
        ValueError: somebody else.
    """
    role = entry.get("role")
    if isinstance(role, str) and role in (*_ROLES, *others):
        return _ROLES.get(role, role)
    raise ValueError(f"{where}.role must be one of {', '.join((*_ROLES, *others))}")


def text_at(entry: Mapping[str, Json], key: str, where: str) -> str:
    """The text under a key.

    Raises:
        ValueError: there is none.
    """
    value = entry.get(key)
    if not isinstance(value, str):
        raise ValueError(f"{where}.{key} must be a text")
    return value


def as_text(value: Json) -> str:
    """Arguments as the text of a call: as it is, or an object as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def function(name: str, description: Json, parameters: Json, strict: Json = None) -> dict[str, Json]:
    """A tool in the dialect of chat completions; what was not given is left out."""
    given = {"description": description, "parameters": parameters, "strict": strict}
    said = {key: value for key, value in given.items() if value is not None}
    return {"type": "function", "function": {"name": name, **said}}


def free_form(name: str, tool: Mapping[str, Json]) -> dict[str, Json]:
    """A tool that takes a text as a function with one parameter `input`; a grammar is told in its description."""
    told, form = str(tool.get("description") or ""), tool.get("format")
    if isinstance(form, Mapping) and form.get("type") == "grammar":
        inner = form.get("grammar")
        rules = inner if isinstance(inner, Mapping) else form
        told += f"\n\nThe input follows this {rules.get('syntax')} grammar:\n{rules.get('definition')}"
    schema = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
    return function(name, told.strip(), {**schema, "additionalProperties": False})


def free_input(arguments: str) -> str:
    """The text for such a tool in a call's arguments; where there is none, the arguments as they are."""
    try:
        read = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    value = read.get("input") if isinstance(read, dict) else None
    return value if isinstance(value, str) else arguments


def chosen(choice: Json, conversation: Conversation) -> bool:
    """Whether tools may be called at all; any choice but `auto` is noted, for none is ever sent to an endpoint."""
    kind = choice.get("type") if isinstance(choice, Mapping) else choice
    if kind == "none":
        conversation.leave_out("tool_choice none: the tools were left out instead")
        return False
    if kind not in (None, "auto"):
        conversation.leave_out(f"tool_choice {str(kind)[:60]}: the choice was left to the model")
    return True
