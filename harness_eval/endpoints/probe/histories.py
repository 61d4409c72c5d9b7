"""What of a history reaches the prompt, told by the tokens that the server counts."""

from __future__ import annotations

from dataclasses import replace

from harness_eval.endpoints.probe import questions
from harness_eval.endpoints.probe.check import Answer, Check, unknown
from harness_eval.errors import HarnessEvalError, HarnessFailure
from harness_eval.types import Reply, Request, estimate_tokens

_NOTHING = 0.1  # of what was expected: a smaller difference is none
_PARTLY = 0.6
_FILTERED = "serving.unknown_tool_filtered"
_GENEROUS = 1.3  # times an estimate of tokens: more is not explained by what is shown
_UNKNOWN_TOOLS = "unknown_tools"


def history_reasoning(told: Request, kept: Answer, dropped: Answer) -> Check:
    """Whether earlier reasoning reaches the prompt, from one history with it and without it."""
    name = "history_reasoning"
    if isinstance(kept, Reply) and isinstance(dropped, HarnessFailure):
        label = dropped.label or "harness.reasoning_dropped"
        return Check(name, "yes", f"a history without its reasoning is refused: {dropped}", label)
    if isinstance(kept, HarnessFailure) and isinstance(dropped, Reply):
        label = kept.label or "harness.reasoning_policy_mismatch"
        return Check(name, "no", f"a history with its reasoning is refused: {kept}", label)
    more = _longer(name, kept, dropped)
    if isinstance(more, Check):
        return more
    expected = estimate_tokens(questions.reasoning_text(told))
    counted = f"about {expected} tokens of reasoning make the prompt {max(more, 0)} tokens longer"
    if more < _NOTHING * expected:
        return Check(name, "no", f"it does not reach the prompt: {counted}", "serving.history_reasoning_ignored")
    partly = "only a part of it reaches the prompt" if more < _PARTLY * expected else "it reaches the prompt"
    return Check(name, "yes", f"{partly}: {counted}")


def _longer(name: str, one: Answer, other: Answer) -> int | Check:
    """By how many tokens the prompt of one answer is longer than the other's; what keeps it unknown, where it is."""
    for answer in (one, other):
        if isinstance(answer, HarnessEvalError):
            return unknown(name, answer)
    assert isinstance(one, Reply), "errors are dealt with"
    assert isinstance(other, Reply), "errors are dealt with"
    if not (one.usage.prompt and other.usage.prompt):
        return Check(name, "unknown", "the server does not count prompt tokens")
    return one.usage.prompt - other.usage.prompt


def unknown_tools(told: Request, kept: Answer, foreign: Answer, ordered: Answer | None) -> Check:
    """Whether calls of tools that are not offered pass in both directions.

    Args:
        told: a history.
        kept: what it brings.
        foreign: what it brings when its newest call is one of a tool that is not offered.
        ordered: what an order to make such a call brings; None where other calls do not come back either.
    """
    there, back = _there(told, kept, foreign), _back(ordered)
    if there.status == "no" or back.status == "unknown":
        return there
    if back.status == "no" or there.status == "unknown":
        return back
    return replace(there, detail=f"{there.detail}, and {back.detail}")


def _there(told: Request, kept: Answer, foreign: Answer) -> Check:
    if isinstance(kept, Reply) and isinstance(foreign, HarnessFailure):
        seen = f"a history that calls a tool which is not offered is refused: {foreign}"
        return Check(_UNKNOWN_TOOLS, "no", seen, foreign.label or "harness.history_poisoned")
    less = _longer(_UNKNOWN_TOOLS, kept, foreign)
    if isinstance(less, Check):
        return less
    expected = estimate_tokens(questions.newest_call_text(told))
    if less > expected / 2:
        seen = f"a call of a tool that is not offered is missing in the prompt, which is {less} tokens shorter"
        return Check(_UNKNOWN_TOOLS, "no", seen, _FILTERED)
    return Check(_UNKNOWN_TOOLS, "yes", "a call of a tool that is not offered stays in the history")


def _back(ordered: Answer | None) -> Check:
    if ordered is None:
        return Check(_UNKNOWN_TOOLS, "unknown", "no call comes back at all")
    if isinstance(ordered, HarnessEvalError):
        phantom = ordered.label == "serving.phantom_tool_calls"
        seen = f"an order to call a tool that is not offered brings no call: {ordered}"
        return Check(_UNKNOWN_TOOLS, "no", seen, _FILTERED) if phantom else unknown(_UNKNOWN_TOOLS, ordered)
    if any(call.name == questions.FOREIGN for call in ordered.calls):
        return Check(_UNKNOWN_TOOLS, "yes", "a call of a tool that is not offered comes back")
    if not (ordered.text.strip() or ordered.calls or ordered.finish_reason == "length"):
        return Check(_UNKNOWN_TOOLS, "no", "an order to call a tool that is not offered brings nothing", _FILTERED)
    shown = estimate_tokens(ordered.text) + max(estimate_tokens(ordered.thinking or ""), ordered.usage.reasoning)
    missed = ordered.usage.completion - _GENEROUS * shown
    if not ordered.calls and missed > _PARTLY * estimate_tokens(questions.foreign_call_text()):
        seen = f"an order to call a tool that is not offered brings no call, and {missed:.0f} tokens are not shown"
        return Check(_UNKNOWN_TOOLS, "no", seen, _FILTERED)
    return Check(_UNKNOWN_TOOLS, "unknown", "the model called no tool that is not offered, so none could be dropped")
