"""What is wrong with one call: its name, then its JSON, then its arguments under the tool's schema."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from harness_eval.diagnosis.conformity import Violation, names_in, violations
from harness_eval.diagnosis.foreign import likeness, origin_of_parameter, origin_of_tool
from harness_eval.diagnosis.labels import Blame
from harness_eval.diagnosis.offer import Offer, line_at
from harness_eval.types import Json, RawCall

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_MARKUP = re.compile(r"[<>|｜▁]|\n")
_TEMPLATE_PREFIX = re.compile(r"functions?[.:]|tool[.:]")
_SHOWN = 80
_DEEPEST = 300  # levels; the interpreter gives up at some 1,000, less what it is in already

# An end tag of a template that nothing in the value opens, or one of its control tokens.
_TAG_END = re.compile(
    r"</(?P<tag>parameter|function|tool_call|arg_value|arg_key|invoke|function_calls|tool_calls)>\s{0,9}(?:</\w{1,20}>\s{0,9})*\Z"
    r"|</(?P<inner>parameter|arg_value)>\s{0,9}<(?:parameter[ =]|arg_key>)"
)
_CONTROL = re.compile(
    r"<\|(?:tool_call\w{0,30}|open|close|sep|im_end|im_start|python_tag|message|channel)\|>"
    r"|<[|｜‖]{1,2}/?DSML|<[|｜]tool▁\w{1,30}"
)
_EDGE = 120  # characters at the end of a value where a control token is a leak rather than content


class Problem(NamedTuple):
    """A label with what was seen; `owner` overrides the label's own."""

    label: str
    evidence: str
    owner: Blame | None = None


def problems_of(call: RawCall, offer: Offer, cap: Blame | None) -> Iterator[Problem]:
    """What is wrong with a call; nothing if it can be carried out.

    Args:
        call: the call as the server sent it.
        offer: what the request offered.
        cap: whose doing it is that the token limit was reached in this reply; None if it was not.
    """
    if named := _name_problem(call.name, offer):
        yield named
        if named.label != "model.tool_name_case":
            return
    arguments = read_arguments(call.arguments)
    if isinstance(arguments, str):
        yield _unreadable(call, arguments, cap)
        return
    yield from _markup_in(call, arguments)
    yield from _schema_problems(call, arguments, offer)


def read_arguments(text: str) -> dict[str, Json] | str:
    """The arguments of a call, or why they cannot be read."""
    try:
        value = json.loads(text) if text.strip() else {}
    except RecursionError:
        return "nested too deeply"
    except ValueError as error:
        return str(error)
    if value is None:
        return {}
    if is_too_deep(value):
        return "nested too deeply"
    return value if isinstance(value, dict) else f"no object but {type(value).__name__}"


def is_too_deep(value: Json, levels: int = _DEEPEST) -> bool:
    """Whether a value is nested so deeply that one cannot rely on its being written again."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        inner = [each.values() if isinstance(each, dict) else each for each in level]
        level = [each for values in inner for each in values if isinstance(each, dict | list)]
        if not level:
            return False
    return True


def quoted(text: str, longest: int = _SHOWN) -> str:
    """A text on one line, cut to so many characters."""
    line = " ".join(text[: 4 * longest].split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _name_problem(name: str, offer: Offer) -> Problem | None:
    names = offer.names
    if not name:
        return Problem("serving.tool_call_dropped", "a call without a name")
    if name not in (names or ()) and _is_garbled(name, names or ()):
        return Problem("serving.markup_in_name", f"the name {quoted(name)!r}")
    if names is None or name in names:
        return None
    if alike := [known for known in names if known.casefold() == name.casefold()]:
        return Problem("model.tool_name_case", f"{name!r} where {alike[0]!r} is offered")
    among = f"not among {quoted(', '.join(sorted(names)), 60)}" if names else "where nothing is offered"
    if origin := origin_of_tool(name):
        return Problem("model.unknown_tool_foreign", f"{name!r}, a tool of {origin}, {among}")
    return Problem("model.unknown_tool_invented", f"{quoted(name)!r} {among}")


def _is_garbled(name: str, names: Collection[str]) -> bool:
    """Whether the name holds markup, or has something glued to the name of a tool that is offered."""
    if _MARKUP.search(name) or _TEMPLATE_PREFIX.sub("", name, count=1) in names:
        return True
    offered = any(name.startswith(known) for known in names)
    return offered and not _NAME.fullmatch(name)


def _unreadable(call: RawCall, reason: str, cap: Blame | None) -> Problem:
    text = call.arguments.strip()
    seen = f"{quoted(call.name, 30)}({quoted(text)}): {quoted(reason)}"
    if _encoded_whole(text):
        return Problem("undetermined.args_double_encoded", f"the whole arguments as a string: {seen}")
    cut = _breaks_off(text)
    if cap is not None and (cut or not text.endswith(("}", "]"))):
        return Problem("limit.output_tokens_in_call", f"the token limit cut {seen}", cap)
    rest = _after_json(text)
    if rest and (_CONTROL.match(rest) or _TAG_END.match(rest)):
        return Problem("serving.markup_in_arguments", f"{quoted(rest, 40)!r} after {seen}")
    if cut or rest.startswith("{"):
        return Problem("undetermined.bad_args_json", seen)
    return Problem("model.bad_args_json", seen)


def _encoded_whole(text: str) -> bool:
    try:
        value = json.loads(text)
        return isinstance(value, str) and isinstance(json.loads(value), dict)
    except (ValueError, RecursionError):
        return False


def _breaks_off(text: str) -> bool:
    """Whether a text is the beginning of a JSON value, with nothing wrong but that the rest is missing."""
    try:
        json.loads(text, strict=False)
    except RecursionError:
        return False
    except json.JSONDecodeError as error:
        if error.msg.startswith("Unterminated string"):
            return True
        beginning = text[error.pos :]
        return not beginning or any(word.startswith(beginning) for word in ("true", "false", "null", "-"))
    return False


def _after_json(text: str) -> str:
    """What follows a whole JSON object at the beginning of a text."""
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return ""
    return text[end:].lstrip() if isinstance(value, dict) else ""


def _markup_in(call: RawCall, arguments: Mapping[str, Json]) -> Iterator[Problem]:
    for key, value in arguments.items():
        texts = [key, value] if isinstance(value, str) else [key]
        for text in texts:
            if mark := _leftover(text):
                yield Problem(
                    "serving.markup_in_arguments", f"{mark!r} in {quoted(call.name, 30)}({quoted(key, 30)}=…)"
                )
                return


def _leftover(text: str) -> str:
    """Markup in a value that belongs to the template and not to what the model writes there."""
    text = text.rstrip()
    edge = max(len(text) - _EDGE, 0)
    control = _CONTROL.search(text)
    if control and (control.start() >= edge or len(text) < 4 * _EDGE):
        # What stands between quotation marks is meant: somebody looks for the token, or writes about it.
        return "" if text[: control.start()].endswith(('"', "'", "`", "\\")) else control[0]
    end = _TAG_END.search(text, edge)
    if end is None:
        return ""
    tag = end["tag"] or end["inner"]
    return "" if re.search(rf"<{tag}\b", text[: end.start()]) else end[0][:40]


def _schema_problems(call: RawCall, arguments: Mapping[str, Json], offer: Offer) -> Iterator[Problem]:
    schema = offer.schema(call.name)
    if schema is None:
        framed = [key for key, value in arguments.items() if _is_framed(value)]
        if framed:
            seen = f"{framed[0]} is JSON as a string between line breaks: {quoted(str(arguments[framed[0]]))!r}"
            yield Problem("undetermined.args_double_encoded", seen)
        return
    met = violations(arguments, schema)
    found = [problem for problem in _mistakes(call, arguments, met, offer) if problem]
    strict = offer.is_strict(call.name) and (found or any(each.kind == "value" for each in met))
    if strict:
        seen = found[0].evidence if found else f"{call.name}: {met[0].text}"
        yield Problem("serving.grammar_not_enforced", f"the schema was to be enforced; {seen}")
        yield from found or [Problem("model.args_wrong_type", seen)]
        return
    yield from found


def _mistakes(
    call: RawCall, arguments: Mapping[str, Json], met: Sequence[Violation], offer: Offer
) -> Iterator[Problem | None]:
    """The model's mistakes among what breaks the schema: keys, then what is missing, then values."""
    schema = offer.schema(call.name) or {}
    missing = [each.at for each in met if each.kind == "missing"]
    unknown = [each.at for each in met if each.kind == "unknown" and each.at not in names_in(schema)]
    absent = [key for key in names_in(schema) if key not in arguments]
    foreign = [key for key in unknown if _is_foreign(key, missing, absent, schema)]
    if foreign:
        yield _foreign(call.name, foreign[0], missing or absent, offer)
    elif missing:
        yield Problem("model.missing_required", f"{call.name} without {', '.join(missing)}: {quoted(call.arguments)}")
    for each in met:
        value = arguments.get(each.at)
        if each.kind == "encoded":
            owner = "undetermined" if _is_framed(value) else "model"
            yield Problem(f"{owner}.args_double_encoded", f"{call.name}: {quoted(each.text, 120)}")
        elif each.kind == "type":
            yield Problem("model.args_wrong_type", f"{call.name}: {quoted(each.text, 120)}")


def _is_foreign(key: str, missing: list[str], absent: list[str], schema: Mapping[str, Json]) -> bool:
    """Whether a key that the schema lacks stands for one of its own, or is refused by it."""
    known = bool(missing) or schema.get("additionalProperties") is False
    return known or any(likeness(key, other) for other in absent)


def _foreign(tool: str, key: str, absent: list[str], offer: Offer) -> Problem:
    wanted = next((other for other in absent if likeness(key, other)), absent[0] if absent else "")
    expected = f" where {wanted!r} is expected" if wanted else ""
    everywhere = {name for schema in offer.schemas.values() for name in names_in(schema)}
    if key not in everywhere and (line := _taught(key, offer.prompt())):
        return Problem("harness.prompt_schema_mismatch", f"{tool}({key!r}){expected}; the prompt says {line!r}")
    origin = origin_of_parameter(key)
    known = f", as in {origin}" if origin and origin != "several" else ""
    return Problem("model.foreign_param_names", f"{tool}({key!r}){expected}{known}")


def _taught(key: str, prompt: str) -> str:
    """The line of the prompt that speaks of a parameter of this name; a plain word must be marked as a name there."""
    word = re.escape(key)
    if not re.search(r"[_\-A-Z\d]", key[1:]):
        word = rf"(?:[`'\"]{word}[`'\"]|\b{word}\s?=|(?:parameter|argument|key|pass|set|provide)\s+{word}\b"
        word += rf"|\b{re.escape(key)}\s+(?:parameter|argument|key)\b)"
    match = re.search(rf"(?<![\w-]){word}(?![\w-])" if word == re.escape(key) else word, prompt)
    return line_at(prompt, match.start()) if match else ""


def _is_framed(value: Json) -> bool:
    """Whether a value is JSON as a string, with the line breaks around it that a parser of tags leaves there."""
    if not isinstance(value, str) or not value.startswith("\n") or not value.endswith("\n"):
        return False
    try:
        return isinstance(json.loads(value), list | dict)
    except (ValueError, RecursionError):
        return False
