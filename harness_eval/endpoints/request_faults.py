"""What a server finds wrong with a request (400, 422): from its words, and from the request where that is known."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from harness_eval.types import Json

_ORPHAN = "harness.orphan_tool_result"
_UNANSWERED = "harness.unanswered_tool_call"
_ORDER = "harness.message_order"
_EMPTY = "harness.empty_history_message"
_POISONED = "harness.history_poisoned"
_CUT = "undetermined.request_cut"
_PARAMETER = "harness.param_rejected"

_REASONING = r"(reasoning(_content|_details)?\b|thinking blocks?\b)"
_UNWANTED = r"(unsupported|unexpected|unknown|extra|unrecognized|remove|n[o']t (allow|support|accept|includ)\w{0,9})"
_ID = r"(tool_?(call|use)_?id|tool_use\.id|tool_calls?\W{0,4}\d{0,5}\W{0,3}id|tool call id|\bcall_id)"
_NAMED = r"(function|tools?\W{1,4}\d{1,5}\W{0,3}((custom|function)\W{0,3})?)\W{0,3}name"
_NAME = f"({_NAMED}|(tool|function) names?|toolspec\\.name)"
_FORM = r"pattern|regular expression|characters|too (long|short)|length"

# Wordings of many stacks; the first that fits counts, so that narrower ones stand before wider ones.
_WORDINGS: Sequence[tuple[str, tuple[str, ...]]] = (
    ("serving.parser_mismatch", (r"--enable-auto-tool-choice", r"--tool-call-parser")),
    (
        "harness.thinking_signature",
        (
            r"signature\W.{0,40}(thinking|thought)",
            r"(thinking|thought).{0,60}signature",
            r"thinking\W{0,3} blocks?.{0,60}(cannot be modified|must remain)",
        ),
    ),
    ("harness.reasoning_policy_mismatch", (_REASONING + r".{0,60}must be (passed|sent) back",)),
    (
        "harness.reasoning_dropped",
        (
            _REASONING + r".{0,80}(missing|required|must be (provided|included|present|set)|(is|not be) empty)",
            r"(missing|requires?|without).{0,40}(reasoning_(content|details)|thinking block)",
            r"expected `?(redacted_)?thinking.{0,80}found",
            r"must start with a thinking block",
        ),
    ),
    (
        "harness.reasoning_policy_mismatch",
        (
            r"reasoning_(content|details).{0,120}(not |n't |unsupported|unexpected|unknown|extra |remove|display)",
            _UNWANTED + r".{0,60}(reasoning_(content|details)|thinking block)",
        ),
    ),
    (
        "harness.id_charset",
        (_ID + r"\b.{0,160}(alphanumeric|a-z|invalid format|" + _FORM + ")",),
    ),
    (
        "harness.tool_name_rejected",
        (
            _NAME + r"\b.{0,160}(invalid|unique|duplicat|reserved|start with|" + _FORM + ")",
            r"(invalid|illegal|duplicated?) (tool|function) names?",
            r"(tool|function) names? must",
            r"too many (tools|functions)",
            r"tools\W{0,3} array too long",
            r"(maximum|at most|up to|more than|limit).{0,30}\b(tools|functions)\b",
        ),
    ),
    (
        _ORPHAN,
        (
            r"tool_?call_?id\W.{0,40}not (found|exist|match)",
            r"unexpected.{0,20}tool_?use_?id",
            r"no tool call found",
            r"role\W{0,4}tool\W.{0,40}(must|response to)",
            r"preced\w{1,9} message with .tool_calls",
            r"(tool|function) (message|result|response|output)s?\b.{0,60}(without|must follow|must be preceded|orphan)",
            r"(tool|function) (message|result|response|output)s?\b.{0,60}(no (matching|corresponding|preceding))",
            r"(tool|function) (message|result|response|output)s?\b.{0,60}d(oes|o|id) not match",
            r"tool_?result.{0,60}(no|not|without).{0,30}(corresponding|preceding|previous|matching)",
        ),
    ),
    (
        _UNANSWERED,
        (
            r"tool_calls?\W.{0,30}must be followed by",
            r"not have response messages",
            r"insufficient tool messages",
            r"tool_?use\W.{0,30}without.{0,10}tool_?result",
            r"no tool output found",
            r"(missing|no|without) (tool )?(results?|responses?|outputs?) (for|to)\b",
            r"number of function (responses?|calls?)\b",
        ),
    ),
    (
        _ORDER,
        (
            r"(immediately|directly|right) after",
            r"roles? must alternate",
            r"successive (user|assistant)",
            r"(unexpected|invalid|wrong|incorrect) (role|message order|order)",
            r"expected last role|after role\b",
            r"system (message|role|prompt)s?\b.{0,40}(must be|beginning|first|only)",
            r"(first|last) message (must|should)",
            r"(must|cannot|can't) (start|begin|end) with (an? )?(user|system|assistant|tool)",
        ),
    ),
    (_PARAMETER, (r"response_format",)),
    (
        "harness.schema_rejected",
        (
            r"json.?schema|input_?schema|invalid schema|flavou?red",
            r"structural_tag|grammar|\$ref\b|\b(any|one|all)of\b|additionalproperties",
            r"schema.{0,60}(invalid|not |unsupported|error|fail)",
            r"(unsupported|fail\w{0,5}).{0,40}schema",
            r"(function|tools?|function_declarations?)\W.{0,60}(parameters|properties)\b",
            r"tools\W{1,3}\d{1,5}\W|tool (definition|schema)",
        ),
    ),
    (
        _POISONED,
        (
            r"arguments\b.{0,80}(json|parse|valid|decode|dict|object)",
            r"(invalid|malformed|fail\w{0,5}|could not|cannot).{0,60}(tool|function).{0,3}calls?.{0,30}arguments",
            r"tool_use\.input",
        ),
    ),
    (
        _CUT,
        (
            r"(invalid|unknown|missing|no) model( name)?\s{0,3}:?\s{0,3}(''|\"\"|``)?\s{0,3}$",
            r"model\W{0,4}(''|\"\"|``)",
            r"model\W{0,3}(name )?(is (required|missing|empty)|must (be (provided|specified|set)|not be empty))",
            r"model\W{0,3}(name )?cannot be empty|must provide a model",
            r"missing.{0,30}\b(model|messages)\b|messages\W.{0,20}(field required|is (required|missing))",
            r"json_invalid|json decode error|not valid json|(malformed|invalid) json",
            r"unexpected (end|eof)|premature end",
            r"(incomplete|truncated) (body|json|request)|(body|request) (was )?truncated",
            r"(parse|decode|read) (the )?(json |request )?body|(parse|decode|malformed|invalid) request body",
            r"(parse|decode|malformed) (the )?(json|request)\W{0,9}$",
        ),
    ),
    (
        _POISONED,
        (
            r"expecting (property name|value|',' delimiter|':' delimiter)|unterminated string|extra data: line",
            r"invalid (control character|\\?escape)|invalid character .{1,4} (looking|in |after)",
            r"unexpected (character|token)",
        ),
    ),
    (
        _EMPTY,
        (
            r"non-?empty",
            r"(text|content|message|position \d{1,9}).{0,60}(is|are|was|be|must) (not be )?(empty|blank|null)\b",
            r"empty (text|content|message|assistant)",
            r"content or tool_calls",
            r"(contents?|content field) (is )?required",
            r"must not be empty",
        ),
    ),
)
_COMPILED = tuple((label, re.compile("|".join(wordings), re.IGNORECASE | re.DOTALL)) for label, wordings in _WORDINGS)
_PAIRING = frozenset({_ORPHAN, _UNANSWERED, _ORDER})
_POSITION = re.compile(r"\(char (\d{1,12})\)|['\"]body['\"],\s?(\d{1,12})\b")


def request_fault(said: str, request: Mapping[str, Json] | None = None, sent: int = 0) -> str:
    """The label for what a server said (bounded in length by the caller) about a request of `sent` bytes.

    Where the words leave several readings, the request decides; without it the most usual one counts.
    """
    label = next((label for label, wording in _COMPILED if wording.search(said)), "")
    messages = _messages(request)
    if label in _PAIRING:
        return _unpaired(messages) or label
    if label in (_CUT, _POISONED):
        return _unreadable(label, said, sent, messages)
    return label or _unpaired(messages) or _broken(messages) or _PARAMETER


def _messages(request: Mapping[str, Json] | None) -> list[dict[str, Json]]:
    messages = (request or {}).get("messages")
    return [message for message in messages if isinstance(message, dict)] if isinstance(messages, list) else []


def _unreadable(label: str, said: str, sent: int, messages: Sequence[Mapping[str, Json]]) -> str:
    """Whether the server stumbled over JSON inside the history or over a body that was cut on its way."""
    if _broken(messages) == _POISONED:
        return _POISONED
    if messages and not re.search(r"arguments|tool_use", said):
        return _CUT
    stated = _POSITION.search(said)
    # A position near the end of all that was sent is where the body ends, not where an argument does.
    if stated and sent and int(stated[1] or stated[2]) > 0.5 * sent:
        return _CUT
    return label


def _unpaired(messages: Sequence[Mapping[str, Json]]) -> str:
    """How calls and results fail to pair up, or ""."""
    owed: list[Json] = []
    between = False
    for message in messages:
        calls = message.get("tool_calls")
        if message.get("role") == "tool":
            if message.get("tool_call_id") not in owed:
                return _ORPHAN
            if between:
                return _ORDER
            owed.remove(message.get("tool_call_id"))
        elif isinstance(calls, list) and calls:
            if owed:
                return _UNANSWERED
            owed, between = [call.get("id") for call in calls if isinstance(call, dict)], False
        else:
            between = bool(owed)
    return _UNANSWERED if owed else ""


def _broken(messages: Sequence[Mapping[str, Json]]) -> str:
    """What single messages of the history lack: readable arguments, or anything at all."""
    assistants = [message for message in messages if message.get("role") == "assistant"]
    if any(not _is_json(text) for message in assistants for text in _arguments(message)):
        return _POISONED
    empty = any(not message.get("content") and not message.get("tool_calls") for message in assistants)
    return _EMPTY if empty else ""


def _arguments(message: Mapping[str, Json]) -> list[Json]:
    calls = message.get("tool_calls")
    functions = [call.get("function") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    return [function.get("arguments") for function in functions if isinstance(function, dict)]


def _is_json(text: Json) -> bool:
    try:
        json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return False
    return True
