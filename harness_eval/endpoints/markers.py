"""End markers and reasoning tags of a chat template that a server left in the text."""

from __future__ import annotations

import re

from harness_eval.types import Json

INLINE = "<think>"  # the key under which reasoning at the beginning of the content is remembered
_END = "</think>"
_TAIL = 200
_MOST_MARKERS = 8
_TERMINATOR = re.compile(
    r"(<\|close\|>\s?(message|response)\s?<\|sep\|>|<\|(im_end|endoftext|eot_id|eom_id|end_of_msg|end|return)\|>"
    r"|<[|｜]end▁of▁sentence[|｜]>|<\|(user|observation)\|>|\[EOS\]|\[e~\[)\s*$"
)
_CLOSING = re.compile(r"</think>|◁/think▷|<\|close\|>\s?think\s?<\|sep\|>")
_OPENING = re.compile(r"<think>|◁think▷|<\|open\|>\s?think\s?<\|sep\|>")


def without_terminator(text: str) -> str:
    """The text without the end-of-message markers at its very end."""
    for _ in range(_MOST_MARKERS):
        found = _TERMINATOR.search(text, max(len(text) - _TAIL, 0))
        if found is None:
            return text
        text = text[: found.start()]
    return text


def inline_thinking(text: str) -> tuple[str, str] | None:
    """Reasoning that a whole pair of tags encloses at the beginning of a text, and what follows it, to the letter."""
    begun = text.lstrip()
    if not begun.startswith(INLINE) or _END not in begun:
        return None
    thinking, _, rest = begun.removeprefix(INLINE).partition(_END)
    return thinking, rest


def with_inline(thinking: str, content: Json) -> Json:
    """The content with reasoning between tags before it, as `inline_thinking` takes it apart."""
    if isinstance(content, list):
        return [{"type": "text", "text": f"{INLINE}{thinking}{_END}"}, *content]
    return f"{INLINE}{thinking}{_END}{content or ''}"


def leaked_thinking(text: str) -> tuple[str, str] | None:
    """Reasoning that a lone tag shows to be none of the text, and the text that is left; None without such a tag.

    The tag is a closing one that nothing opened, or one that opens the text and is never closed. A tag that is quoted,
    in code or in the middle of a sentence, is left alone.
    """
    closing, opening = _CLOSING.search(text), _OPENING.search(text)
    if closing is not None:
        opened = opening is not None and opening.start() < closing.start()
        if opened or _is_quoted(text, closing):
            return None
        return text[: closing.start()].rstrip(), text[closing.end() :].lstrip()
    if opening is not None and not text[: opening.start()].strip():
        return text[opening.end() :].strip(), ""
    return None


def _is_quoted(text: str, tag: re.Match[str]) -> bool:
    before, after = text[: tag.start()], text[tag.end() :]
    fenced = before.count("```") % 2 == 1
    line = before.rpartition("\n")[2]
    in_sentence = bool(line.strip()) and line[-1].isspace()
    return fenced or in_sentence or line.endswith(("`", '"', "'", "“")) or after.startswith(("`", '"', "'", "”"))
