"""What one reply is: stages 3 to 5 of the order of decision, on a reply whose calls travel beside its text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from harness_eval.diagnosis import speech
from harness_eval.diagnosis.arguments import Problem, problems_of, quoted, read_arguments
from harness_eval.diagnosis.foreign import is_public_tool
from harness_eval.diagnosis.labels import LABELS, Blame, Finding, found
from harness_eval.diagnosis.leaked import content_leaks, leak_problem, reasoning_leaks
from harness_eval.diagnosis.offer import Offer, offer_in
from harness_eval.errors import redact
from harness_eval.types import Json, Reply

PLAIN = frozenset({"ok.tool_call", "ok.final_answer", "ok.tool_result"})
CUT_FINISHES = frozenset({"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"})

_LONGEST = 200  # characters of evidence
_SIDELINES = frozenset({"ok.usage_missing"})  # never what a turn is about
_OF_ORDER = ("serving.", "gateway.", "ok.draft", "ok.reasoning_details", "ok.")

_SAID = r"(?:content|response|answer|text|message|output|reply)"
_PLACEHOLDER = re.compile(
    rf"[(\[<{{*]{{1,2}}\s?(?:(?:empty|no|blank|missing)(?:\s(?:assistant\s)?{_SAID})?|{_SAID}\s(?:is\s)?(?:empty|omitted|missing))"
    r"\s?[)\]>}*]{1,2}|[.…]{1,9}",
    re.IGNORECASE,
)
_TERMINATED = re.compile(
    r"(?:<\|close\|>\s?\w{1,20}\s?<\|sep\|>|<\|(?:im_end|end|return|eot_id|end_of_msg|endoftext)\|>|</(?:response|answer|"
    r"message|final)>|<[|｜]end▁of▁sentence[|｜]>)\s*\Z"
)
_DELIBERATION = re.compile(
    r"\s*(?:hmm|wait\b|okay,? so|ok,? so|so,? the user|(?:okay,? )?the user (?:wants|asks|is asking|asked|said|needs)"
    r"|let me think|we need to|i need to (?:figure|think))",
    re.IGNORECASE,
)
_HESITATION = re.compile(
    r"(?:^|[.\n?!]\s*)(?:hmm|wait|actually|but wait|let me (?:think|reconsider|double)|on second thought|alternatively|"
    r"maybe i should|so the (?:next|first) step)\b",
    re.IGNORECASE,
)
_ANNOUNCED = re.compile(r"\b(?:call|calling|use|using|invoke|invoking|run|running)\s+(?:the\s+)?[`'\"]?([\w.-]{2,64})")
_SEARCHED = 2000  # characters at the end of what was said where an announcement counts


def label_reply(reply: Reply, request: Mapping[str, Json] | Offer | None, before: Sequence[Reply] = ()) -> Finding:
    """What a reply is, with everything else that was met in it.

    Args:
        reply: the reply as it was put together.
        request: the body that was sent, or the part of it that was recorded, or what it was found to offer; None when
            it is unknown.
        before: the replies to the turns before it, in order.
    """
    offer = request if isinstance(request, Offer) else offer_in(request)
    met = [*_found(reply, offer, before), *_around(reply, offer)]
    beside = _beside_calls(reply, offer) if reply.calls else ()
    plain = _plain(reply, offer)
    serious = [problem for problem in met if LABELS[problem.label].effect != "tolerated"]
    minor = [problem for problem in met if problem.label not in _SIDELINES]
    primary = (serious or minor or [plain])[0]
    also = dict.fromkeys(problem.label for problem in (*met, *beside) if problem.label != primary.label)
    return found(primary.label, evidence_of(primary.evidence), owner=primary.owner, also=also)


def evidence_of(text: str) -> str:
    """A text as evidence: without credentials, on one line, and short."""
    return quoted(redact(text), _LONGEST)


def cap_of(reply: Reply, offer: Offer) -> Blame | None:
    """Whose doing it is that a reply reached its token limit; None if it did not.

    A limit that was reached and is told as another end is the server's doing, since nobody can act on it.
    """
    if reply.finish_reason.lower() in CUT_FINISHES:
        return "harness"
    return "serving" if offer.limit and reply.usage.completion >= offer.limit else None


def is_empty(text: str) -> bool:
    """Whether a text is nothing, or a placeholder for nothing."""
    stripped = text.strip(" \t\r\n\u200b\ufeff")
    return not stripped or (len(stripped) < 80 and bool(_PLACEHOLDER.fullmatch(stripped)))


def _found(reply: Reply, offer: Offer, before: Sequence[Reply]) -> Iterator[Problem]:
    """What is wrong, in the order of decision."""
    cap = cap_of(reply, offer)
    if reply.calls:
        if offer.withdrawn:
            yield _unwanted(reply)
        else:
            for call in reply.calls:
                yield from problems_of(call, offer, cap)
    elif problem := _silence(reply, offer, before, cap):
        yield problem
    thinking = reply.thinking or ""
    if speech.is_placeholder(thinking) and any(letter.isalpha() for letter in thinking):
        yield Problem("gateway.reasoning_placeholder", f"{quoted(thinking)!r} as reasoning")


def _unwanted(reply: Reply) -> Problem:
    names = ", ".join(call.name for call in reply.calls)
    return Problem("model.ignores_stop", f"calls {quoted(names)} although the request offers no tool any more")


def _beside_calls(reply: Reply, offer: Offer) -> Iterator[Problem]:
    """What is remarkable in a turn that has calls: more of them as text, gaps, other intentions."""
    for leak in content_leaks(reply.text, offer):
        same = [
            call for call in reply.calls if call.name == leak.name and read_arguments(call.arguments) == leak.arguments
        ]
        if leak.complete and not same:
            yield Problem("undetermined.markup_leak", f"one more call as text: {quoted(reply.text[leak.start :])}")
            break
    if gap := _gap(reply):
        yield Problem("serving.unknown_tool_filtered", gap)
    if other := _announced_other(reply, offer):
        names = ", ".join(call.name for call in reply.calls)
        yield Problem("model.intent_emission_mismatch", f"speaks of calling {other} and calls {quoted(names)}")


def _gap(reply: Reply) -> str:
    """The ids of a turn, where they are counted within it and a number is missing."""
    numbered = [re.fullmatch(r"(?:functions\.)?(.*?)[:_]?(\d{1,3})", call.id) for call in reply.calls]
    counts = [int(match[2]) for match in numbered if match]
    prefixes = {match[1].removesuffix("_") for match in numbered if match}
    of_names = prefixes <= {call.name for call in reply.calls}
    if len(counts) != len(reply.calls) or len(counts) < 2 or counts[0] > 1 or not (of_names or len(prefixes) == 1):
        return ""
    steps = {after - one for one, after in pairwise(counts)}
    skipped = steps <= {1, 2, 3} and steps != {1}
    return f"ids {', '.join(call.id for call in reply.calls)}" if skipped else ""


def _announced_other(reply: Reply, offer: Offer) -> str:
    """A tool that the reply says it calls now, and does not."""
    called = {call.name.casefold() for call in reply.calls}
    said = f"{(reply.thinking or '')[-_SEARCHED:]}\n{reply.text[-_SEARCHED:]}"
    for name in (match.rstrip(".") for match in _ANNOUNCED.findall(said)):
        capital = any(letter.isupper() or letter == "_" for letter in name)
        known = name in offer.names if offer.names is not None else capital and is_public_tool(name)
        if known and name.casefold() not in called:
            return str(name)
    return ""


def _silence(reply: Reply, offer: Offer, before: Sequence[Reply], cap: Blame | None) -> Problem | None:
    """What a turn without calls is, unless it is an answer."""
    text, thinking = "" if is_empty(reply.text) else reply.text, reply.thinking or ""
    leaks = content_leaks(text, offer)
    if leaks:
        return leak_problem(text, leaks, offer, before, cap)
    answered = bool(text) and not speech.announces(text)
    thought = [] if cap and not text else reasoning_leaks(thinking, answered, offer)
    if thought:
        channelled = thought[0].dialect == "kimi_k3"
        label = "serving.tool_call_dropped" if channelled else "undetermined.call_in_reasoning"
        label = "serving.parser_mismatch" if thought[0].variant == "spaced" else label
        return Problem(label, f"{thought[0].dialect} in reasoning: {quoted(thinking[thought[0].start :], 120)}")
    if cap:
        used = f"{reply.usage.completion} tokens" if reply.usage.completion else f"finish {reply.finish_reason}"
        what = "nothing but reasoning" if not text else f"a text that was cut: …{quoted(text[-60:])}"
        return Problem("limit.output_tokens_reasoning", f"{used}, {what}", None if cap == "harness" else cap)
    return _deliberation(reply, text) if text else _nothing_said(reply, thinking)


def _nothing_said(reply: Reply, thinking: str) -> Problem:
    if not thinking.strip():
        said = f"{reply.text.strip()!r} and" if reply.text.strip() else "no text and"
        return Problem(
            "undetermined.empty_turn", f"{quoted(said)} no reasoning, finish {reply.finish_reason or 'unknown'}"
        )
    if "serving.think_tag_leak" in reply.oddities:
        return Problem("undetermined.reasoning_in_content", f"the text is reasoning: {quoted(thinking)}")
    if ended := _TERMINATED.search(thinking[-200:]):
        shown = quoted(thinking[: len(thinking) - 1][-120:], 120)
        return Problem("serving.answer_in_reasoning", f"reasoning ends with {ended[0].strip()!r}: …{shown}")
    placeholder = f", text {reply.text.strip()!r}" if reply.text.strip() else ""
    return Problem("undetermined.thought_only", f"reasoning {quoted(thinking)!r}{placeholder}")


def _deliberation(reply: Reply, text: str) -> Problem | None:
    """Reasoning that stands in the text with no answer after it; conservative, since answers may think aloud."""
    if reply.thinking is not None or not _DELIBERATION.match(text) or len(_HESITATION.findall(text)) < 2:
        return None
    return Problem("undetermined.reasoning_in_content", f"the text is reasoning: {quoted(text)}")


def _around(reply: Reply, offer: Offer) -> list[Problem]:
    """What is remarkable and borne, the most telling first."""
    met = [Problem(name, _shown(reply)) for name in reply.oddities if name in LABELS]
    if reply.reasoning_key in ("reasoning", "reasoning_details"):
        label = {"reasoning": "ok.reasoning_field_alias"}.get(reply.reasoning_key, "ok.reasoning_details")
        met.append(Problem(label, f"reasoning under the key {reply.reasoning_key}"))
    if reply.calls and reasoning_leaks(reply.thinking or "", False, offer, drafts=True):
        met.append(
            Problem("ok.draft_in_reasoning", f"reasoning {quoted(reply.thinking or '')!r}; calls {_shown(reply)}")
        )
    return [*_choice_problems(reply, offer), *sorted(met, key=lambda problem: _rank(problem.label))]


def _rank(label: str) -> int:
    return next((place for place, start in enumerate(_OF_ORDER) if label.startswith(start)), len(_OF_ORDER))


def _choice_problems(reply: Reply, offer: Offer) -> Iterator[Problem]:
    """What became of a tool choice."""
    choice, names = offer.choice, {call.name for call in reply.calls}
    seen = (
        f"tool choice {choice!r}, finish {reply.finish_reason!r}, calls {quoted(', '.join(sorted(names))) or 'nothing'}"
    )
    if choice in ("", "auto"):
        return
    if names and reply.finish_reason == "stop":
        yield Problem("serving.tool_choice_finish", seen)
    unmet = not names if choice == "required" else bool(names) if choice == "none" else choice not in names
    if unmet and (names or choice != "none"):
        yield Problem("serving.tool_choice_ignored", seen)


def _plain(reply: Reply, offer: Offer) -> Problem:
    if reply.calls or content_leaks(reply.text, offer):
        return Problem("ok.tool_call", _shown(reply))
    return Problem("ok.final_answer", _shown(reply))


def _shown(reply: Reply) -> str:
    if reply.calls:
        return ", ".join(f"{quoted(call.name, 40)}({quoted(call.arguments)})" for call in reply.calls[:8])
    return f"finish {reply.finish_reason or 'unknown'}, text {quoted(reply.text)!r}"
