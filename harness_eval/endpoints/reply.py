"""One reply put together from chunks, whole bodies, or both: every server's dialect ends here as a `Reply`."""

from __future__ import annotations

from harness_eval.endpoints.calls import CallAssembler, mended
from harness_eval.endpoints.details import merged
from harness_eval.endpoints.markers import INLINE, inline_thinking, leaked_thinking, without_terminator
from harness_eval.endpoints.named import Named
from harness_eval.types import Json, Reply, Usage

REASONING_KEYS = ("reasoning_content", "reasoning", "reasoning_details")
_OF_KEY = {"reasoning": "ok.reasoning_field_alias", "reasoning_details": "ok.reasoning_details"}
# Where other APIs keep what they say.
_PAYLOADS = (
    "data",
    "result",
    "results",
    "response",
    "output",
    "outputs",
    "message",
    "content",
    "candidates",
    "text",
    "completion",
    "generations",
    "body",
    "delta",
    "content_block",
)


class ReplyAssembler:
    """Collects chunks (or one whole body) of a chat or plain completion.

    `error` is the first error object met inside a successful response, `choices` how many chunks held a choice,
    `null_choices` whether there was one without any content, `foreign` the keys of what another API would send, and
    `empty_deltas` how many deltas held an empty list of calls and nothing else, `named` what the server calls itself.
    """

    def __init__(self) -> None:
        self.error: Json = None
        self.choices = 0
        self.null_choices = False
        self.foreign: tuple[str, ...] = ()
        self.empty_deltas = 0
        self.named = Named()
        self.finish_reason = ""
        self.usage = Usage()
        self._counted = False
        self._calls = CallAssembler()
        self._text: list[str] = []
        self._thinking: dict[str, list[str]] = {}
        self._details: list[Json] = []

    @property
    def details(self) -> list[dict[str, Json]]:
        """The parts of reasoning that came as such, as they came."""
        return merged(self._details)

    def add(self, chunk: Json) -> None:
        """Take one chunk of a stream, or a whole body."""
        if not isinstance(chunk, dict):
            return
        self.named.take(chunk)
        if self.error is None:
            self.error = _error_in(chunk)
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if isinstance(choice, dict):
            self._take_choice(choice)
        elif choices != []:
            self.null_choices = self.null_choices or "choices" in chunk
            self.foreign = self.foreign or _foreign(chunk)
        self._take_usage(chunk.get("usage"))

    def reply(self) -> Reply:
        """What has arrived so far, as a reply. Absent reasoning is None; empty reasoning is ""."""
        found = {key: "".join(self._thinking[key]) for key in REASONING_KEYS if key in self._thinking}
        # Some servers fill two keys, one of them with nothing.
        key = next((key for key, text in found.items() if text), next(iter(found), ""))
        text, thinking = mended("".join(self._text)), mended(found[key]) if key else None
        oddities = set(self._calls.oddities) | ({_OF_KEY[key]} if key in _OF_KEY else set())
        if not self._counted:
            oddities.add("ok.usage_missing")
        if (ended := without_terminator(text)) != text:
            oddities.add("serving.terminator_leak")
        text, inline = ended, None if thinking else inline_thinking(ended)
        if inline is not None:
            (thinking, text), key = inline, INLINE
            oddities.add("ok.reasoning_details")
        elif (leaked := leaked_thinking(text)) is not None:
            thinking, text = f"{thinking or ''}{leaked[0]}", leaked[1]
            oddities.add("serving.think_tag_leak")
        calls = self._calls.calls()
        return Reply(text, thinking, calls, self.finish_reason, self.usage, key, tuple(sorted(oddities)))

    def _take_choice(self, choice: dict[str, Json]) -> None:
        self.choices += 1
        if self.error is None and isinstance(choice.get("error"), dict):
            self.error = choice["error"]
        if choice.get("finish_reason"):
            self.finish_reason = str(choice["finish_reason"])
        self._take_usage(choice.get("usage"))
        if isinstance(choice.get("text"), str):
            self._text.append(choice["text"])
        delta, message = choice.get("delta"), choice.get("message")
        if isinstance(delta, dict):
            self._take_message(delta)
            if calls := delta.get("tool_calls"):
                self._calls.add(calls)
            if delta.get("tool_calls") == []:
                self.empty_deltas += all(value is None for key, value in delta.items() if key != "tool_calls")
        elif isinstance(message, dict):
            self._take_message(message)
            self._calls.add_whole(message.get("tool_calls"))

    def _take_usage(self, usage: Json) -> None:
        if not isinstance(usage, dict):
            return
        read = read_usage(usage)
        self.usage = _most(self.usage, read)
        # What is counted before the end is not all of it.
        self._counted = self._counted or bool(self.finish_reason and read.prompt and read.completion)

    def _take_message(self, message: dict[str, Json]) -> None:
        if content := message.get("content"):
            self._text.append(_joined(content))
        for key in REASONING_KEYS:
            if (value := message.get(key)) is None:
                continue
            # Null and an empty list mean that nothing came; an empty string is reasoning that is empty.
            if isinstance(value, str) or (isinstance(value, list) and value):
                self._thinking.setdefault(key, []).append(_joined(value))
            if key == "reasoning_details" and isinstance(value, list):
                self._details += value


def _joined(content: Json) -> str:
    """The text of a content that is a string, a list of typed parts, or nothing."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = (part.get("text") or part.get("summary") for part in parts if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))


def _error_in(chunk: dict[str, Json]) -> Json:
    """The error that a chunk or body carries, or None."""
    if error := chunk.get("error"):
        return error
    if chunk.get("object") == "error" or chunk.get("type") == "error":
        return chunk
    inner = chunk.get("base_resp")
    if isinstance(inner, dict) and inner.get("status_code"):
        return inner
    if chunk.get("choices"):
        return None
    code = chunk.get("code", chunk.get("error_code"))
    said = chunk.get("msg") or chunk.get("message") or chunk.get("error_msg")
    numbered = isinstance(code, int) and code not in (0, 200) and bool(said)
    return chunk if numbered or chunk.get("success") is False or chunk.get("status") in ("error", "fail") else None


def _foreign(chunk: dict[str, Json]) -> tuple[str, ...]:
    """The keys of a body that holds something, but nothing where this API keeps it."""
    holds = "choices" not in chunk and any(chunk.get(key) for key in _PAYLOADS)
    return tuple(chunk) if holds else ()


def read_usage(usage: Json) -> Usage:
    """Token counts from a usage object, wherever this server keeps cached and reasoning tokens; zeros when absent."""
    if not isinstance(usage, dict):
        return Usage()
    prompt, completion = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    inside_prompt = prompt if isinstance(prompt, dict) else {}
    inside_completion = completion if isinstance(completion, dict) else {}
    cached = (usage.get("cached_tokens"), usage.get("prompt_cache_hit_tokens"), inside_prompt.get("cached_tokens"))
    reasoning = (usage.get("reasoning_tokens"), inside_completion.get("reasoning_tokens"))
    return Usage(
        prompt=_count(usage.get("prompt_tokens")),
        completion=_count(usage.get("completion_tokens")),
        reasoning=max(map(_count, reasoning)),
        cached=max(map(_count, cached)),
    )


def _count(value: Json) -> int:
    return int(value) if isinstance(value, int | float) and 0 < value < 1e15 else 0


def _most(one: Usage, other: Usage) -> Usage:
    # Counts come early, late, twice, or as a last zero, and never shrink: the largest of each is the final one.
    return Usage(
        prompt=max(one.prompt, other.prompt),
        completion=max(one.completion, other.completion),
        reasoning=max(one.reasoning, other.reasoning),
        cached=max(one.cached, other.cached),
    )
