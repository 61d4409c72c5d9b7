"""Which calls in a reply's text or reasoning count as leaked, and whose doing that is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from harness_eval.diagnosis.arguments import Problem, quoted
from harness_eval.diagnosis.conformity import violations
from harness_eval.diagnosis.labels import Blame
from harness_eval.diagnosis.leaks import Leak, is_quoted, leaks_in, trailing
from harness_eval.diagnosis.offer import Offer, line_at
from harness_eval.types import Reply

# What a prompt that teaches a dialect has in it, be it in an example with placeholders.
_MARKS: Mapping[str, str] = {
    "hermes": r"<\|?(?:tool_calls?|function_calls?)\|?>",
    "qwen_xml": r"<function=",
    "invoke": r"<(?:\w{1,20}:)?invoke\b",
    "dsml": r"DSML",
    "glm": r"<arg_key>",
    "kimi_k2": r"<\|tool_call",
    "kimi_k3": r"<\|open\|>",
    "deepseek": r"tool[▁_]calls?[▁_]begin",
    "mistral": r"\[TOOL_CALLS\]",
    "llama": r"<\|python_tag\|>",
    "harmony": r"<\|channel\|>",
    "fenced": r"```(?:tool_?call|tool_?use|function_?call)",
    "json": r"\{\s*\"(?:name|tool|function)\"\s*:",
    "pythonic": r"<\|tool_call_start\|>",
}
_NATIVE_ID = re.compile(r"(?:functions\.)?[\w.-]{1,100}:\d{1,9}")


def content_leaks(text: str, offer: Offer) -> list[Leak]:
    """The calls that leaked into the text: its last words, none that is quoted, none of a tool that is not offered."""
    leaks = trailing(text, leaks_in(text, offer.names or ()))
    return [leak for leak in leaks if _counts(leak, offer) and not is_quoted(text, leak) and not _answers(leak, offer)]


def reasoning_leaks(thinking: str, answered: bool, offer: Offer, drafts: bool = False) -> list[Leak]:
    """The calls that were swallowed with the reasoning.

    Thinking drafts calls: where there is an answer, they are no more than that, save control tokens at the very end,
    which nobody drafts. `drafts` asks for the drafts as well, of any tool.
    """
    leaks = leaks_in(thinking, offer.names or ())
    if drafts:
        return list(leaks)
    counted = [leak for leak in leaks if _counts(leak, offer) and not is_quoted(thinking, leak)]
    return [leak for leak in trailing(thinking, counted) if leak.dialect == "kimi_k3"] if answered else counted


def _answers(leak: Leak, offer: Offer) -> bool:
    """Whether a text that is one JSON object is the answer: JSON was asked for, or the tool would not take it."""
    if leak.dialect != "json":
        return False
    wanted, schema = offer.request.get("response_format"), offer.schema(leak.name)
    if isinstance(wanted, Mapping) and str(wanted.get("type")).startswith("json"):
        return True
    return bool(schema) and any(each.kind != "value" for each in violations(leak.arguments or {}, schema or {}))


def _counts(leak: Leak, offer: Offer) -> bool:
    known = {name.casefold() for name in offer.names} if offer.names else None
    return known is None or not leak.name or leak.name.casefold() in known


def leak_problem(
    text: str, leaks: Sequence[Leak], offer: Offer, before: Sequence[Reply], cap: Blame | None
) -> Problem | None:
    """Whose doing it is that calls stand in the text; None where the harness wants them there."""
    leak = leaks[0]
    shown = f"{leak.dialect}{f', {leak.variant}' if leak.variant else ''}: {quoted(text[leak.start :], 100)}"
    if leak.variant == "spaced":
        return Problem("serving.parser_mismatch", f"spaces between control tokens, {shown}")
    taught = _taught(text, leak, offer, before)
    if taught and offer.whole and not offer.names and not any(reply.calls for reply in before):
        return None
    if cap and not all(each.complete for each in leaks):
        return Problem("limit.output_tokens_in_call", f"the token limit cut {shown}", cap)
    if taught:
        return Problem("harness.taught_text_dialect", f"{shown}; taught by {taught!r}")
    foreign = [call.id for reply in before for call in reply.calls if not _NATIVE_ID.fullmatch(call.id)]
    if leak.dialect == "kimi_k2" and foreign:
        return Problem(
            "serving.id_format_foreign", f"{len(foreign)} calls with ids such as {foreign[-1]!r}, then {shown}"
        )
    ending = "" if leak.complete else ", not complete"
    return Problem("undetermined.markup_leak", f"{shown}{ending}")


def _taught(text: str, leak: Leak, offer: Offer, before: Sequence[Reply]) -> str:
    """The line of the prompt or of the history from which the model has this way to write calls; "" if none has it."""
    mark = _MARKS.get(leak.dialect) or _label_of(text, leak)
    own = {reply.text.strip() for reply in before}
    for source in offer.said_before():
        match = re.search(mark, source, re.IGNORECASE) if source.strip() and source.strip() not in own else None
        if match:
            return line_at(source, match.start())
    return ""


def _label_of(text: str, leak: Leak) -> str:
    """The words before the tool's name in a call that is told in words, whatever the tool."""
    words = text[leak.start : text.find(leak.name, leak.start)].strip()
    return r"\s*".join(re.escape(word) for word in words.split())
