"""Calls that stand in a text in some template's own markup, where the server should have delivered them as calls."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Literal

from harness_eval.diagnosis.dialects import (
    ADDRESSED,
    CHANNELLED,
    CLOSER,
    FUNCTION,
    INVOKE,
    SECTIONED,
    WRAPPER,
    Reader,
    after_space,
    read_addressed,
    read_channelled,
    read_function,
    read_invoke,
    read_loose_pairs,
    read_own_tag,
    read_sectioned,
    read_wrapper,
)
from harness_eval.diagnosis.markup import Leak, Scan, json_calls
from harness_eval.types import Reply, ToolCall

__all__ = ["Leak", "is_last", "is_quoted", "leaks_in", "recoverable", "trailing"]

_READERS: Mapping[str, tuple[str, Reader]] = {
    "invoke": (INVOKE, read_invoke),
    "function": (FUNCTION, read_function),
    "channelled": (CHANNELLED, read_channelled),
    "sectioned": (SECTIONED, read_sectioned),
    "addressed": (ADDRESSED, read_addressed),
    "pairs": ("<arg_key>", read_loose_pairs),
    "wrapper": (WRAPPER, read_wrapper),
}
_OPENING = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, (pattern, _) in _READERS.items()), re.IGNORECASE)
_OWN_TAG = re.compile(r"<([A-Za-z_][\w.-]{0,63})>")
_CANDIDATE = re.compile(r"[<\[`]|^[ \t]*~~~", re.MULTILINE)

_FENCE = re.compile(r"(?P<mark>`{3,}|~{3,})[ \t]*(?P<info>[\w-]{0,40})[^\n`]{0,80}(?:\n|\Z)")
_CALL_FENCE = re.compile(r"tool_?(calls?|use|code)|function_?calls?", re.IGNORECASE)
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_LONGEST_MARK = 8
_ENDS = {
    (sign, length): re.compile(rf"^[ \t]{{0,12}}{sign}{{{length},}}[ \t]*$", re.MULTILINE)
    for sign in "`~"
    for length in range(3, _LONGEST_MARK + 1)
}
_SPANS = {length: re.compile(rf"(?<!`)`{{{length}}}(?!`)") for length in range(1, _LONGEST_MARK + 1)}

# A call told in words: a label, the tool's name, and its arguments as JSON.
_VERB = r"(?:calling|call|called|using|use|used|invoking|invoke|running|executing|executed)"
_SUBJECT = r"(?:(?:I(?: am|['’]m| will|['’]ll)?|now|let me)[ \t])"
_NOTATION = re.compile(
    rf"^[ \t]{{0,8}}(?:[-*>][ \t])?(?:{_SUBJECT}?\[?(?:{_VERB}[ \t])?(?:the[ \t])?"
    rf"(?:tool|function)(?:[ _-]?(?:calls?|use|name))?"
    rf"[ \t]?:|[\[(*]{_VERB}s?[ \t](?:the[ \t])?(?:(?:tool|function)[ \t])?|Action[ \t]?:)[ \t]{{0,4}}[`*\"]{{0,2}}"
    r"(?P<name>[A-Za-z_][\w.\-]{0,99})[`*\"]{0,2}\]?[ \t]{0,4}[(:,]?\s{0,4}"
    r"(?:(?:with|(?:Action )?Input|arguments?|args|parameters)[ \t]?:?\s{0,4}){0,2}(?=\{)",
    re.MULTILINE | re.IGNORECASE,
)
_ITEM = re.compile(r"[ \t]{0,8}[-*>][ \t]")
_INDENT = re.compile(r"(?: {4}|\t)\s*")
_QUOTE_LINE = re.compile(r"[ \t]*(?:>|\||(?:.{0,80}<(?:pre|code)\b[^<>]{0,60}>\s*\Z))")
_NOTHING = re.compile(r"(?:\s|<[^<>\n]{1,60}>)*")
_NOTATION_END = re.compile(r"\s{0,4}[)\]]{0,2}")

Span = tuple[int, int]


def leaks_in(text: str, names: Collection[str] = ()) -> tuple[Leak, ...]:
    """The calls that stand in a text, in their order, in time linear in its length.

    `names` are the tools on offer, which some write as tags of their own.

    What stands in a code span or a fenced block is quoted and no leak, and neither is a tag that nothing like a call
    follows. The dialects: hermes, qwen_xml, invoke, dsml, glm, kimi_k2, kimi_k3, deepseek, harmony, mistral, llama,
    pythonic, own_tags, fenced (a block that says that it is a call), json (the text is one call and nothing else), and
    words (a label such as `[Calling tool: ...]`).
    """
    stripped = text.strip()
    if stripped.startswith("{") and stripped.endswith("}"):
        return _bare(text)
    leaks, quoted = _marked(text, names)
    return tuple(leaks) or tuple(_told(text, quoted))


def recoverable(
    reply: Reply, offered: Collection[str] | None, where: Literal["content", "reasoning"]
) -> tuple[ToolCall, ...]:
    """The calls of a reply that leaked into its text, or into its reasoning, and may stand for those it lacks.

    None unless the reply has no call of its own, every one that leaked is complete and names a tool that is offered
    (unknown: none is), and they are the last thing said. In reasoning the text must be empty as well, since thinking
    drafts calls. Values keep the type that the markup gives them, which often is text.
    """
    text = reply.text if where == "content" else reply.thinking or ""
    if reply.calls or (where == "reasoning" and reply.text.strip()):
        return ()
    leaks = leaks_in(text)
    sound = all(leak.complete and offered is not None and leak.name in offered for leak in leaks)
    sound = sound and not any(is_quoted(text, leak) for leak in leaks)
    if not leaks or not sound or not is_last(text, leaks):
        return ()
    return tuple(ToolCall(f"leaked_{at}", leak.name, dict(leak.arguments or {})) for at, leak in enumerate(leaks))


def is_last(text: str, leaks: Collection[Leak]) -> bool:
    """Whether nothing follows the calls that stand in a text, and nothing stands between them."""
    ordered = sorted(leaks, key=lambda leak: leak.start)
    edges = [*(leak.start for leak in ordered[1:]), len(text)]
    return bool(ordered) and all(not text[leak.end : edge].strip() for leak, edge in zip(ordered, edges, strict=False))


def trailing(text: str, leaks: Collection[Leak]) -> list[Leak]:
    """The calls that a text ends with; tags that nobody has read may follow them. What prose follows was shown."""
    last, stop = list[Leak](), len(text)
    for leak in sorted(leaks, key=lambda leak: leak.end, reverse=True):
        if not _NOTHING.fullmatch(text, leak.end, max(stop, leak.end)):
            break
        last.insert(0, leak)
        stop = min(stop, leak.start)
    return last


def is_quoted(text: str, leak: Leak) -> bool:
    """Whether a call is shown rather than made: inside a sentence, or on a line that is set apart as a quotation."""
    line = text[max(text.rfind("\n", 0, leak.start) + 1, leak.start - 200) : leak.start]
    after = text[leak.end : leak.end + 2]
    marked = line.endswith(('"', "'", "“", "‘", "(")) and after.startswith(('"', "'", "”", "’", ")"))
    inside = bool(line.strip()) and bool(re.match(r" ?[\w?!,.;:]", after))
    return marked or inside or _is_set_apart(text, leak, line) or _is_mention(text, leak, line)


def _is_set_apart(text: str, leak: Leak, line: str) -> bool:
    """Whether the line is a block quote, a row of a table, indented code after other text, or an item of a list."""
    if _QUOTE_LINE.match(line):
        return True
    own = text[leak.start : leak.start + 12]
    indented = _INDENT.fullmatch(line) or (leak.dialect == "words" and _ITEM.match(own))
    return bool(indented) and bool(text[: leak.start].strip())


def _is_mention(text: str, leak: Leak, line: str) -> bool:
    """Whether what looks like a call that was cut is a tag that a sentence speaks of."""
    if leak.complete:
        return False
    if not leak.name:
        return bool(re.search(r"\w\W{0,2}\s*\Z", line)) and not re.search(r"[.:!?…)]\s*\Z", line)
    tag, _, body = text[leak.start : leak.end].partition(">")
    return "name" in tag and bool(body.strip()) and not body.lstrip().startswith(("<", "{", "["))


def _marked(text: str, names: Collection[str]) -> tuple[list[Leak], list[Span]]:
    """The calls in markup, and the spans of text that are quoted."""
    scan, leaks, quoted = Scan(text), list[Leak](), list[Span]()
    position, opened = 0, (0, -1)
    while candidate := scan.find(_CANDIDATE, position):
        start = candidate.start()
        if text[start] not in "<[":
            found, position = _quotation(scan, start)
            leaks += found
            quoted += [] if found else [(start, position)]
            continue
        match = _OPENING.match(text, start)
        if match is None:
            own = _OWN_TAG.match(text, start) if names else None
            found = read_own_tag(scan, own[1], start) if own and own[1] in names else []
            leaks += found
            position = found[-1].end if found else start + 1
            continue
        found = _READERS[match.lastgroup or ""][1](scan, match)
        outer = opened[0] if opened[1] == start else start
        if found:
            position = _closed(text, max(found[-1].end, match.end()))
            leaks += [replace(found[0], start=min(outer, found[0].start)), *found[1:]]
            leaks[-1] = replace(leaks[-1], end=position)
        else:
            position = match.end()
            opened = (outer, after_space(text, position)) if match.lastgroup == "wrapper" else (0, -1)
    return leaks, quoted


def _closed(text: str, position: int) -> int:
    """Where the end tags that follow a call directly have their end."""
    for _ in range(8):
        match = CLOSER.match(text, position)
        if match is None:
            return position
        position = match.end()
    return position


def _quotation(scan: Scan, start: int) -> tuple[list[Leak], int]:
    """Where a code span or fenced block ends that begins here; the calls in it, if it says that it is one."""
    text = scan.text
    start = after_space(text, start)
    fence = _FENCE.match(text, start)
    begins_line = not text[max(start - 40, text.rfind("\n", max(start - 40, 0), start) + 1, 0) : start].strip(" \t>-*")
    if fence is not None and begins_line:
        mark = fence["mark"]
        end = scan.find(_ENDS[mark[0], min(len(mark), _LONGEST_MARK)], fence.end())
        stop = end.end() if end else len(text)
        return (_fenced(scan, fence, stop) if _CALL_FENCE.fullmatch(fence["info"]) else []), stop
    run = len(text[start : start + _LONGEST_MARK + 1]) - len(text[start : start + _LONGEST_MARK + 1].lstrip("`"))
    if not 0 < run <= _LONGEST_MARK:
        return [], start + max(run, 1)
    end, blank = scan.find(_SPANS[run], start + run), scan.find(_BLANK_LINE, start + run)
    closed = end is not None and (blank is None or end.start() < blank.start())
    return [], end.end() if closed and end else start + run


def _fenced(scan: Scan, fence: re.Match[str], stop: int) -> list[Leak]:
    calls, _, whole = json_calls(scan, after_space(scan.text, fence.end()))
    return [Leak(name, args, whole and args is not None, fence.start(), stop, "fenced") for name, args in calls if name]


def _bare(text: str) -> tuple[Leak, ...]:
    """A text that is nothing but one call as a JSON object."""
    calls, end, whole = json_calls(Scan(text), after_space(text, 0))
    keys = re.compile(r'"(?:arguments|parameters|args|input)"\s{0,9}:')
    if not whole or text[end:].strip() or not calls or not calls[0][0] or not keys.search(text):
        return ()
    name, arguments = calls[0]
    return (Leak(name, arguments, arguments is not None, 0, len(text), "json"),)


def _told(text: str, quoted: list[Span]) -> list[Leak]:
    """Calls that are told in words; the spans come in order, and so do the matches."""
    scan, leaks, spans, end = Scan(text), list[Leak](), iter(quoted), 0
    span = next(spans, None)
    for match in _NOTATION.finditer(text):
        while span is not None and span[1] <= match.start():
            span = next(spans, None)
        if match.start() < end or (span is not None and span[0] <= match.start()):
            continue
        calls, stop, whole = json_calls(scan, match.end())
        closing = _NOTATION_END.match(text, stop)
        end = closing.end() if whole and closing else match.end()
        arguments = calls[0][1] if whole and calls else None
        leaks.append(Leak(match["name"], arguments, arguments is not None, match.start(), end, "words"))
    return leaks
