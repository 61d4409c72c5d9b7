"""The labels of one step of a trial: from its reply, from what the harness read in it, and from what its calls met."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from harness_eval.diagnosis.labels import Finding, found
from harness_eval.diagnosis.leaks import leaks_in
from harness_eval.diagnosis.reply import CUT_FINISHES, label_reply
from harness_eval.types import Json, Reply, Request, Step

OK = "ok.tool_call"

# Thinking names many tools before it settles on one: what is called instead says something in a loop alone.
_TOO_COMMON = "model.intent_emission_mismatch"


def label_step(
    step: Step, request: Request, native: bool, checked: Sequence[str] = (), before: Sequence[Reply] = ()
) -> Finding:
    """What a step is, as the harness has met it.

    Args:
        step: the action as it was read, with the reply that it was read from.
        request: what was sent for it.
        native: whether calls travel beside the text; else a call that stands in the text as the harness wants it is
            one, and a native call is a leak.
        checked: for each of the action's calls `ok.tool_call` or the label of what was wrong with it; "" where the
            harness answered without looking at it.
        before: the replies to the steps before it.
    """
    reply = step.reply or Reply()
    finding = _native(reply, request, before) if native else _text(step, reply, request, before)
    finding = dataclasses.replace(finding, also=tuple(label for label in finding.also if label != _TOO_COMMON))
    wrong = [label for label in checked if label not in ("", OK)]
    if wrong and finding.effect == "tolerated":
        more = [label for label in (*wrong[1:], finding.label, *finding.also) if label != OK]
        return found(wrong[0], also=_distinct(more, wrong[0]))
    if finding.effect == "model_feedback" and _carried_out(step, checked):
        # A schema that the harness itself went back on: what it accepts is no mistake.
        also = [label for label in finding.also if not label.startswith("model.")]
        return found(OK, also=also)
    return finding


def _carried_out(step: Step, checked: Sequence[str]) -> bool:
    return bool(checked) and all(label == OK for label in checked) and not step.action.malformed


def _distinct(labels: Sequence[str], primary: str) -> list[str]:
    return [label for label in dict.fromkeys(labels) if label != primary]


def without_leaks(text: str) -> str:
    """The text without the calls that leaked into it whole."""
    for leak in reversed(leaks_in(text)):
        if leak.complete:
            text = text[: leak.start] + text[leak.end :]
    return text.strip()


def body_of(request: Request) -> dict[str, Json]:
    """A request in the shape that it has on the wire, as far as a diagnosis needs it."""
    messages = list(request.messages) or [{"role": "user", "content": request.prompt}]
    body: dict[str, Json] = {"messages": messages}
    if request.tools:
        body |= {"tools": list(request.tools), "parallel_tool_calls": request.parallel}
    return body if request.max_tokens is None else {**body, "max_tokens": request.max_tokens}


def _native(reply: Reply, request: Request, before: Sequence[Reply]) -> Finding:
    finding = label_reply(reply, body_of(request), before)
    if len(reply.calls) > 1 and not request.parallel:
        return dataclasses.replace(finding, also=tuple(dict.fromkeys((*finding.also, "serving.tool_choice_ignored"))))
    return finding


def _text(step: Step, reply: Reply, request: Request, before: Sequence[Reply]) -> Finding:
    """For a protocol whose calls stand in the text, only what it could not read itself is judged as a native reply."""
    if step.action.malformed:
        bad = step.action.malformed[0]
        if reply.finish_reason.lower() in CUT_FINISHES:
            return found("limit.output_tokens_in_call", bad.reason, also=reply.oddities)
        label = "undetermined.bad_args_json" if bad.cut else "model.bad_args_json"
        return found(label, bad.reason, also=reply.oddities)
    if step.action.calls:
        return found(OK, also=reply.oddities)
    if reply.calls:
        names = ", ".join(call.name for call in reply.calls)
        return found("undetermined.markup_leak", f"native calls that nobody asked for: {names}", also=reply.oddities)
    finding = label_reply(reply, body_of(request), before)
    if finding.label != OK:
        return finding
    return found("undetermined.markup_leak", finding.evidence, also=finding.also)  # in a form that was not read
