"""One reader for each way in which chat templates write calls.

A reader takes what stands where a call may begin and says which calls begin there; none means that it is a mention.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from harness_eval.diagnosis.markup import Leak, Scan, arguments_in, json_calls, json_object, parameters
from harness_eval.types import Json

Reader = Callable[[Scan, re.Match[str]], list[Leak]]

_BAR = r"[|｜‖∥│¦]{1,3}"
_ANY_BAR = r"[^\s<>/A-Za-z0-9\"'`]{0,3}"
_DSML = rf"(?:{_ANY_BAR}\s{{0,2}}DSML\s{{0,2}}{_ANY_BAR}\s{{0,2}})"
_SPACED_DSML = rf"(?:{_DSML}|\w{{1,20}}:)?\s{{0,3}}"
_SP = r"\s{0,4}"
_QUOTE = r"[\"'“”]?"
_NAME = r"[\w.\-/:]{1,100}"
_GIVEN = r"[^\"'<>\s]{1,100}"
_OPEN, _CLOSE, _SEP = (rf"<\|{_SP}{word}{_SP}\|>" for word in ("open", "close", "sep"))


def _token(words: str) -> str:
    """A control token such as <|tool_call_end|>, in the spellings of several templates."""
    return rf"<{_BAR}{_SP}{words.replace('_', '[_▁ ]')}{_SP}{_BAR}>"


def _compiled(*patterns: str) -> list[re.Pattern[str]]:
    return [re.compile(pattern, re.IGNORECASE) for pattern in patterns]


_WORDS = r"(?:function_calls?|functioncall|tool_calls?|calls)"
WRAPPER = (
    rf"<{_SP}(?:{_DSML}|\w{{1,20}}:)?{_SP}{_WORDS}{_SP}>"
    rf"|<{_SP}{_DSML}(?:(?!invoke|parameter)\w{{0,40}}{_SP}(?:{_BAR})?>|[^<>]{{0,120}}\Z)"
    rf"|{_token('tool_calls?(?:_start)?')}|{_token('tool_calls?_section_begin')}|{_token('tool_calls_begin')}"
    rf"|{_OPEN}{_SP}tools{_SP}{_SEP}|\[TOOL_CALLS\]|<\|python_tag\|>|<\|FunctionCallBegin\|>"
)
"""What stands around calls, or before a call that is JSON."""

CLOSER = re.compile(
    rf"\s{{0,8}}(?:<{_SP}/{_SP}(?:{_DSML}|\w{{1,20}}:)?{_SP}/?(?:{_WORDS}|tools?){_SP}>"
    rf"|{_token('tool_calls?(?:_section)?_end')}|{_CLOSE}{_SP}\w{{1,20}}{_SP}{_SEP}|{_token('(?:im|message)_end')}"
    rf"|<{_BAR}end[_▁]of[_▁](?:sentence|msg){_BAR}>|\[/TOOL_CALLS\]|<\|(?:call|end|return|eom_id|eot_id)\|>)",
    re.IGNORECASE,
)
"""One end tag of such a wrapper, or an end marker of the message."""

_JSON_START = re.compile(r"\[?\s{0,20}\{\s{0,20}[\"}]|\[\s{0,20}\]")
_AFTER_JSON = re.compile(rf"\s*(?:<{_SP}/|<{_BAR}|\[|$)")
_TAG = re.compile(f"{WRAPPER}|{CLOSER.pattern}", re.IGNORECASE)
_SPACE = re.compile(r"\s*")
_CUT_TAG = re.compile(r"(?:<[^<>]{0,120})?\Z")
_PYTHONIC = re.compile(rf"\[\s{{0,4}}(?P<name>{_NAME})\(")
_BARE_NAME = re.compile(rf"(?P<name>{_NAME})\s{{0,4}}(?=<arg_key>|</tool_call>|\{{|\Z)")
_MISTRAL_NAME = re.compile(rf"(?P<name>{_NAME}?)(?:\[CALL_ID\]\w{{1,60}})?(?:\[ARGS\])?\s{{0,4}}(?=\{{)")
_ARG, _ARG_END, _PAIRS_OPEN, _PAIRS_CLOSE = _compiled(
    r"<arg_key>(?P<key>[^<]{1,100})</arg_key>\s{0,9}<arg_value>", "</arg_value>", "<tool_call>", "</tool_call>"
)


def after_space(text: str, position: int) -> int:
    """The position of the first character from here on that is no white space."""
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _of_json(scan: Scan, start: int, position: int, dialect: str) -> list[Leak]:
    calls, end, whole = json_calls(scan, position)
    if not whole:
        body, end = _unread(scan, position)
        return [] if "..." in body or "…" in body else [Leak(calls[0][0], None, False, start, end, dialect)]
    complete = whole and bool(_AFTER_JSON.match(scan.text, end))
    return [Leak(name, args, complete and args is not None, start, end, dialect) for name, args in calls]


def read_wrapper(scan: Scan, match: re.Match[str]) -> list[Leak]:
    """What follows a wrapper directly: JSON, a name with pairs of keys and values, or nothing more at all."""
    text, start = scan.text, match.start()
    position = after_space(text, match.end())
    dialect = _dialect_of(match[0])
    if _CUT_TAG.match(text, position):
        return [Leak("", None, False, start, len(text), dialect)]
    if _JSON_START.match(text, position):
        return _of_json(scan, start, position, dialect)
    head = _HEAD.match(text, position)
    if head and head["id"] and _ARGUMENTS.match(text, after_space(text, head.end("id"))):
        return read_sectioned(scan, match)
    return _read_name(scan, start, position, dialect)


def _read_name(scan: Scan, start: int, position: int, dialect: str) -> list[Leak]:
    """A wrapper in which a name comes first, in one of the ways of writing what follows it."""
    text = scan.text
    if dialect == "mistral" and (named := _MISTRAL_NAME.match(text, position)):
        _, end, whole = json_calls(scan, named.end())
        arguments = json_object(text[named.end() : end]) if whole else None
        return _named(named["name"], arguments, (start, end), dialect)
    if named := _PYTHONIC.match(text, position):
        return [Leak(named["name"], None, False, start, _unread(scan, position)[1], "pythonic")]
    if dialect == "hermes" and (named := _BARE_NAME.match(text, position)):
        return _read_pairs(scan, named, start)
    return []


def _unread(scan: Scan, position: int) -> tuple[str, int]:
    """What stands between here and the next tag of a wrapper, and where that begins."""
    tag = scan.find(_TAG, position)
    stop = tag.start() if tag else len(scan.text)
    return scan.text[position:stop], stop


def _named(name: str, arguments: Mapping[str, Json] | None, span: tuple[int, int], dialect: str) -> list[Leak]:
    return [Leak(name, arguments, arguments is not None, *span, dialect)]


_BY_MARK = (
    ("DSML", "dsml"),
    ("section", "kimi_k2"),
    ("open", "kimi_k3"),
    ("TOOL_CALLS]", "mistral"),
    ("python_tag", "llama"),
    ("begin", "deepseek"),
)


def _dialect_of(wrapper: str) -> str:
    return next((dialect for mark, dialect in _BY_MARK if mark in wrapper), "hermes")


def _read_pairs(scan: Scan, named: re.Match[str], start: int) -> list[Leak]:
    body, end, closed = scan.block(_PAIRS_OPEN, _PAIRS_CLOSE, named.end())
    arguments = arguments_in(body, _ARG, _ARG_END)
    return [Leak(named["name"], arguments if closed else None, closed and arguments is not None, start, end, "glm")]


_NAME_BEFORE = re.compile(rf"{_NAME}\Z")
_LAST_VALUE = re.compile(r"(?:\s{0,9}<arg_key>[^<]{1,100}</arg_key>\s{0,9}<arg_value>[^<]{0,100000}</arg_value>){1,50}")


def read_loose_pairs(scan: Scan, match: re.Match[str]) -> list[Leak]:
    """Pairs of keys and values without a wrapper; the name stands right before them."""
    named = _NAME_BEFORE.search(scan.text[max(match.start() - 100, 0) : match.start()])
    pairs = _LAST_VALUE.match(scan.text, match.start())
    if named is None or pairs is None:
        return []
    start = match.start() - len(named[0])
    return [Leak(named[0], parameters(pairs[0], _ARG, _ARG_END), True, start, pairs.end(), "glm")]


FUNCTION = rf"<{_SP}function{_SP}={_SP}{_QUOTE}{_GIVEN}{_QUOTE}{_SP}>"
_CALLED = rf"(?:{_SPACED_DSML}invoke|{_DSML}(?:tool_call|tool|call|function))"
INVOKE = rf"<{_SP}{_CALLED}\s{{1,4}}name{_SP}={_SP}{_QUOTE}{_GIVEN}{_QUOTE}[^<>]{{0,100}}>"


def _tagged(dialect: str, tags: tuple[str, str], pair: tuple[str, str]) -> Reader:
    """A reader of blocks that have their name in the opening tag and a pair of tags for each parameter."""
    opening, closing, key, end = _compiled(*tags, *pair)

    def read(scan: Scan, match: re.Match[str]) -> list[Leak]:
        tag = opening.match(scan.text, match.start())
        if tag is None:
            return []
        kind = "dsml" if "DSML" in tag[0].upper() else dialect
        if tag[0].endswith("/>"):
            return _named(tag["name"].removesuffix("/"), {}, tag.span(), kind)
        body, stop, closed = scan.block(opening, closing, tag.end())
        arguments = arguments_in(body, key, end) if closed else None
        return [Leak(tag["name"].strip(), arguments, arguments is not None, tag.start(), stop, kind)]

    return read


read_function = _tagged(
    "qwen_xml",
    (FUNCTION.replace(_GIVEN, f"(?P<name>{_GIVEN})"), rf"<{_SP}/{_SP}function{_SP}>"),
    (rf"<{_SP}parameter{_SP}={_SP}{_QUOTE}(?P<key>{_GIVEN}){_QUOTE}{_SP}>", rf"<{_SP}/{_SP}parameter{_SP}>"),
)
_PARAMETER = rf"<{_SP}{_SPACED_DSML}parameter\s{{1,4}}name{_SP}={_SP}{_QUOTE}(?P<key>{_GIVEN}){_QUOTE}"
_IS_STRING = rf"(?:\s{{1,4}}string{_SP}={_SP}{_QUOTE}(?P<kind>true|false){_QUOTE})?"
read_invoke = _tagged(
    "invoke",
    (
        INVOKE.replace(_GIVEN, f"(?P<name>{_GIVEN})"),
        rf"<{_SP}/{_SP}{_CALLED}{_SP}>|<{_SP}{_DSML}/{_SP}(?:invoke|tool_call|tool|call|function){_SP}>",
    ),
    (
        f"{_PARAMETER}{_IS_STRING}[^<>]{{0,60}}>",
        rf"<{_SP}/?{_SP}{_SPACED_DSML}/?{_SP}parameter{_SP}>",
    ),
)

SECTIONED = _token("tool_call_begin")
_BEGIN, _END, _ARGUMENTS, _HEAD = _compiled(
    SECTIONED,
    _token("tool_calls?(?:_section)?_end"),
    _token("tool_call_argument_begin") + "|" + _token("tool_sep"),
    rf"\s*(?:function\s*{_token('tool_sep')}\s*)?(?P<id>{_NAME})?\s*(?:(?P<separator><{_BAR})|[\n{{]|\Z)",
)
_NATIVE_ID = re.compile(r"(?:functions\.)?(?P<name>[\w.\-]{1,100}?):\d{1,9}\Z|functions\.(?P<bare>[\w.\-]{1,100})\Z")


def read_sectioned(scan: Scan, match: re.Match[str]) -> list[Leak]:
    """A call between begin and end tokens, its name before a separator token and its arguments as JSON after it."""
    head = _HEAD.match(scan.text, match.end())
    if head is None:
        return []
    body, end, closed = scan.block(_BEGIN, _END, match.end())
    separators = list(_ARGUMENTS.finditer(body))
    after = body[separators[-1].end() :] if separators else body[body.find("{") :] if "{" in body else ""
    deepseek = "▁" in match[0] or (bool(separators) and "sep" in separators[-1][0])
    said = head["id"] or ""
    if deepseek:
        name, after = said or after.split("\n")[0].strip(), after[after.find("{") :].rstrip().removesuffix("```")
    else:
        native = _NATIVE_ID.match(said)
        name = (native["name"] or native["bare"]) if native else ""
    arguments = json_object(after) if after.strip() else None
    variant = "" if name else "no_tool_name"
    dialect = "deepseek" if deepseek else "kimi_k2"
    return [Leak(name, arguments, closed and arguments is not None, match.start(), end, dialect, variant)]


_INNER, _INNER_END = _compiled(r"<(?P<key>[\w.-]{1,64})>", r"</[\w.-]{1,64}>")


def read_own_tag(scan: Scan, name: str, start: int) -> list[Leak]:
    """A call whose tag is the tool's own name, with a pair of tags for each parameter."""
    opening, closing = re.compile(f"<{re.escape(name)}>"), re.compile(f"</{re.escape(name)}>")
    body, end, closed = scan.block(opening, closing, start + len(name) + 2)
    arguments = arguments_in(body, _INNER, _INNER_END)
    if not closed or (body.strip() and not arguments):
        return []
    return _named(name, arguments, (start, end), "own_tags")


CHANNELLED = rf"{_OPEN}{_SP}call\b[^<]{{0,300}}{_SEP}"
_CALL, _CALL_END, _ARGUMENT, _ARGUMENT_END, _ATTRIBUTE = _compiled(
    CHANNELLED,
    rf"{_CLOSE}{_SP}call{_SP}{_SEP}",
    rf"{_OPEN}{_SP}argument\b[^<]{{0,60}}?key{_SP}=\W{{0,3}}(?P<key>[^\"'<>\\]{{1,100}})\W{{0,2}}"
    rf"(?:[^<]{{0,60}}?type{_SP}=\W{{0,3}}(?P<kind>\w{{1,20}}))?[^<]{{0,60}}{_SEP}",
    rf"{_CLOSE}{_SP}argument{_SP}{_SEP}",
    rf"\b(?:tool|name){_SP}=\W{{0,3}}(?P<name>{_NAME})",
)
_SPACED = re.compile(r"\|>\s+(?:call|tools)\b")


def read_channelled(scan: Scan, match: re.Match[str]) -> list[Leak]:
    """A call between open and close tokens, one such pair for each argument."""
    named = _ATTRIBUTE.search(match[0])
    body, end, closed = scan.block(_CALL, _CALL_END, match.end())
    values = parameters(body, _ARGUMENT, _ARGUMENT_END) if closed else None
    variant = "spaced" if _SPACED.search(match[0]) else ""
    if variant and values is not None:
        values = {key: value.strip() if isinstance(value, str) else value for key, value in values.items()}
    name = named["name"] if named else ""
    return [Leak(name, values, values is not None, match.start(), end, "kimi_k3", variant)]


ADDRESSED = (
    rf"<\|(?:start|channel)\|>[^<]{{0,60}}\bto=(?:functions\.)?{_NAME}[^<]{{0,40}}"
    rf"(?:<\|(?:channel|constrain)\|>[^<]{{0,40}}){{0,2}}<\|message\|>"
)
_RECIPIENT = re.compile(rf"\bto=(?:functions\.)?(?P<name>{_NAME})")


def read_addressed(scan: Scan, match: re.Match[str]) -> list[Leak]:
    """A message addressed to a function, with JSON as its text."""
    named = _RECIPIENT.search(match[0])
    position = after_space(scan.text, match.end())
    _, end, whole = json_calls(scan, position)
    arguments = json_object(scan.text[position:end]) if whole else None
    return _named(named["name"] if named else "", arguments, (match.start(), end), "harmony")
