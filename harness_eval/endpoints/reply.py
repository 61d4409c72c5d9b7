"""One reply put together from chunks, whole bodies, or both: every server's dialect ends here as a `Reply`."""

from __future__ import annotations

from harness_eval.endpoints.calls import CallAssembler, mended
from harness_eval.types import Json, Reply, Usage

REASONING_KEYS = ("reasoning_content", "reasoning", "reasoning_details")


class ReplyAssembler:
    """Collects chunks (or one whole body) of a chat or plain completion.

    `error` is the first error object met inside a successful response, `choices` how many chunks held a choice.
    """

    def __init__(self) -> None:
        self.error: Json = None
        self.choices = 0
        self.finish_reason = ""
        self.usage = Usage()
        self._calls = CallAssembler()
        self._text: list[str] = []
        self._thinking: dict[str, list[str]] = {}

    @property
    def oddities(self) -> frozenset[str]:
        """What had to be put right while the calls were put together."""
        return self._calls.oddities

    def add(self, chunk: Json) -> None:
        """Take one chunk of a stream, or a whole body."""
        if not isinstance(chunk, dict):
            return
        if self.error is None:
            self.error = _error_in(chunk)
        self.usage = _most(self.usage, read_usage(chunk.get("usage")))
        choices = chunk.get("choices")
        if isinstance(choices, list) and choices and isinstance(choices[0], dict):
            self._take_choice(choices[0])

    def reply(self) -> Reply:
        """What has arrived so far, as a reply. Absent reasoning is None; empty reasoning is ""."""
        thinking = {key: "".join(self._thinking[key]) for key in REASONING_KEYS if key in self._thinking}
        # Some servers fill two keys, one of them with nothing.
        key = next((key for key, text in thinking.items() if text), next(iter(thinking), ""))
        return Reply(
            text=mended("".join(self._text)),
            thinking=mended(thinking[key]) if key else None,
            calls=self._calls.calls(),
            finish_reason=self.finish_reason,
            usage=self.usage,
            reasoning_key=key,
        )

    def _take_choice(self, choice: dict[str, Json]) -> None:
        self.choices += 1
        if self.error is None and isinstance(choice.get("error"), dict):
            self.error = choice["error"]
        if choice.get("finish_reason"):
            self.finish_reason = str(choice["finish_reason"])
        self.usage = _most(self.usage, read_usage(choice.get("usage")))
        if isinstance(choice.get("text"), str):
            self._text.append(choice["text"])
        delta, message = choice.get("delta"), choice.get("message")
        if isinstance(delta, dict):
            self._take_message(delta)
            self._calls.add(delta.get("tool_calls"))
        elif isinstance(message, dict):
            self._take_message(message)
            self._calls.add_whole(message.get("tool_calls"))

    def _take_message(self, message: dict[str, Json]) -> None:
        self._text.append(_joined(message.get("content")))
        for key in REASONING_KEYS:
            value = message.get(key)
            # Null and an empty list mean that nothing came; an empty string is reasoning that is empty.
            if isinstance(value, str) or (isinstance(value, list) and value):
                self._thinking.setdefault(key, []).append(_joined(value))


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
    return chunk if chunk.get("object") == "error" or chunk.get("type") == "error" else None


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
