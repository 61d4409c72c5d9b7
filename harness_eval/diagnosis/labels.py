"""The vocabulary of what can happen in a turn or a trial, each with its owner and its effect on the score."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

from harness_eval.types import Owner

Blame: TypeAlias = Literal[
    "model", "harness", "serving", "gateway", "provider", "sandbox", "evaluator", "undetermined", "none"
]
Effect: TypeAlias = Literal[
    "tolerated", "model_feedback", "model_failure", "reported_separately", "excluded", "config_abort"
]
EFFECTS: tuple[Effect, ...] = get_args(Effect)

_BOUNDARIES: Mapping[Blame, Owner] = {
    "serving": "endpoint",
    "gateway": "endpoint",
    "provider": "endpoint",
    "evaluator": "task",
    "sandbox": "sandbox",
    "harness": "harness",
}


@dataclass(frozen=True, slots=True)
class Label:
    """One thing that can happen: who must act, what it does to the score, and what it means in a few words."""

    name: str
    owner: Blame
    effect: Effect
    meaning: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A label given to a turn, a dialogue or a trial, with what was seen; `also` names what else was met there.

    `owner` and `effect` are the label's own unless the evidence says otherwise.
    """

    label: str
    owner: Blame
    effect: Effect
    evidence: str = ""
    also: tuple[str, ...] = ()


_UNPRINTABLE = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]")


def escaped(text: str) -> str:
    """A text without characters that command a terminal or turn its direction: each is written as its number."""
    return _UNPRINTABLE.sub(lambda match: ascii(match[0])[1:-1], text)


def found(label: str, evidence: str = "", *, owner: Blame | None = None, also: Iterable[str] = ()) -> Finding:
    """A finding of this label; `owner` overrides the label's own where the evidence points elsewhere."""
    known = LABELS[label]
    return Finding(label, owner or known.owner, known.effect, escaped(evidence), tuple(also))


def boundary_of(owner: Blame) -> Owner | None:
    """The boundary that an owner belongs to; None for the model, for nobody, and where it cannot be told."""
    return _BOUNDARIES.get(owner)


_VOCABULARY: Mapping[tuple[Blame, Effect], Mapping[str, str]] = {
    ("none", "tolerated"): {
        "ok.tool_call": "calls that can be read",
        "ok.final_answer": "an answer without a call",
        "ok.draft_in_reasoning": "a draft of the call in the reasoning beside the call itself",
        "ok.id_constant": "every call of the dialogue has the same id",
        "ok.id_reused_across_turns": "call ids begin anew each turn",
        "ok.reasoning_details": "reasoning comes as a list of details",
        "ok.reasoning_field_alias": "reasoning comes under another key than the usual one",
        "ok.report": "a number with its denominator",
        "ok.resume": "a resumed run owes what was lost and nothing else",
        "ok.schema_accepted": "a schema that was reported as refused is accepted",
        "ok.tool_result": "a result that had to be made printable",
        "ok.usage_missing": "token counts are missing, zero or early",
    },
    ("serving", "tolerated"): {
        "serving.duplicate_id_in_turn": "two calls of one turn share an id",
        "serving.index_collision": "parallel calls are streamed under one index",
        "serving.index_missing": "streamed calls have no index",
        "serving.terminator_leak": "an end marker of the template at the end of the text",
        "serving.think_tag_leak": "a lone tag of the reasoning block in the text",
        "serving.tool_choice_finish": "a forced call ends with finish reason stop",
        "serving.tool_choice_ignored": "the tool choice that was asked for is ignored",
    },
    ("gateway", "tolerated"): {
        "serving.args_placeholder": "an empty object is streamed before the arguments",
        "gateway.args_snapshots": "each delta repeats the arguments from their beginning",
    },
    ("evaluator", "tolerated"): {
        "evaluator.cleanup_overrides_verdict": "an error of the clean-up after the verdict",
    },
    ("model", "model_feedback"): {
        "model.args_double_encoded": "an array or object given as a JSON string",
        "model.args_wrong_type": "an argument of the wrong type",
        "model.bad_args_json": "arguments that are no JSON",
        "model.foreign_param_names": "parameter names of another harness",
        "model.missing_required": "a required argument is missing",
        "model.tool_name_case": "the right tool in the wrong letter case",
        "model.unknown_tool_foreign": "a tool of another harness",
        "model.unknown_tool_invented": "a tool that nobody offered",
    },
    ("undetermined", "model_feedback"): {
        "undetermined.args_double_encoded": "the whole arguments as a JSON string, perhaps by the server",
    },
    ("sandbox", "model_feedback"): {
        "sandbox.output_limit": "a flood of output was cut",
    },
    ("model", "model_failure"): {
        "model.asked_user": "asked the user something and stopped",
        "model.claimed_action_not_taken": "claimed to have used a tool",
        "model.ignored_truncation": "took a fragment for the whole",
        "model.ignores_stop": "went on after being told to stop",
        "model.intent_emission_mismatch": "announced one tool and called another",
        "model.loop_after_truncation": "asked again and again for a result that was cut",
        "model.loop_identical_calls": "repeated a call whose result did not change",
        "model.loop_on_dedup_notice": "took a notice that nothing changed for a failed read",
        "model.premature_stop": "announced the next step and stopped",
        "model.wrong_answer": "stopped in good order; the verifier says no",
    },
    ("none", "model_failure"): {
        "limit.steps": "all turns were used",
        "limit.total_tokens": "all tokens of the trial were used",
    },
    ("harness", "reported_separately"): {
        "harness.context_elided": "earlier results were blanked",
        "harness.history_rewrites_name": "an error is put back as a call of another tool",
        "harness.result_dropped": "a result was never shown to the model",
        "harness.taught_text_dialect": "the model copies the way the harness writes calls as text",
        "limit.context_overflow": "the prompt is longer than the window",
        "limit.output_tokens_in_call": "the token limit cut a call",
        "limit.output_tokens_reasoning": "the token limit was used up before an answer or a call",
    },
    ("serving", "reported_separately"): {
        "serving.answer_in_reasoning": "the answer stands in the reasoning and the text is empty",
        "serving.grammar_not_enforced": "a strict schema was accepted and not enforced",
        "serving.history_reasoning_ignored": "earlier reasoning does not reach the prompt",
        "serving.id_format_foreign": "call ids are not those that the model was trained on",
        "serving.markup_in_arguments": "markup of the template inside an argument",
        "serving.markup_in_name": "markup of the template in a tool's name",
        "serving.tool_call_dropped": "a call was generated and not delivered",
        "serving.unknown_tool_filtered": "the server drops calls of tools it does not know",
    },
    ("gateway", "reported_separately"): {
        "gateway.reasoning_placeholder": "a placeholder stands for the reasoning",
    },
    ("evaluator", "reported_separately"): {
        "evaluator.mislabelled_timeout": "what is told as a time-out was none",
    },
    ("sandbox", "reported_separately"): {
        "sandbox.leaked_container": "a container was left behind",
        "sandbox.leaked_process": "a process outlived its time limit",
    },
    ("undetermined", "reported_separately"): {
        "model.planning_churn": "plans were rewritten again and again",
        "model.repeats_done_work_after_compaction": "finished work was done again after a compaction",
        "model.task_lost_after_compaction": "something of the task was lost in a compaction",
        "undetermined.bad_args_json": "arguments that break off without a limit being reached",
        "undetermined.call_in_reasoning": "a call stands in the reasoning",
        "undetermined.empty_turn": "nothing came",
        "undetermined.markup_leak": "a call stands in the text in the template's own markup",
        "undetermined.reasoning_in_content": "reasoning stands in the text and the answer is missing",
        "undetermined.thought_only": "only reasoning came",
    },
    ("gateway", "excluded"): {
        "infra.deadline": "an outer time limit ended the retries",
        "infra.empty_choices": "a success without choices",
        "infra.error_in_200": "an error inside a success",
        "infra.error_in_stream": "an error inside a stream",
        "infra.gateway": "a proxy answered instead of the server",
        "infra.stream_truncated": "the stream broke off",
    },
    ("provider", "excluded"): {
        "infra.overloaded": "the engine is overloaded",
        "infra.rate_limited": "too many requests",
    },
    ("serving", "excluded"): {
        "serving.empty_tool_deltas": "streamed calls that hold nothing",
        "serving.phantom_tool_calls": "finish reason tool_calls without a call",
    },
    ("undetermined", "excluded"): {
        "undetermined.request_cut": "the server saw only a part of the request",
    },
    ("sandbox", "excluded"): {
        "sandbox.disk_full": "the disk is full",
        "sandbox.exec_hang": "a command outlasts its limit",
    },
    ("evaluator", "excluded"): {
        "evaluator.infra_scored_zero": "a failure of the machines, which must not count as a zero",
        "evaluator.timeout_misattributed": "a time-out, whose text must not be graded",
    },
    ("harness", "config_abort"): {
        "harness.empty_history_message": "an assistant message without content is refused",
        "harness.history_poisoned": "a broken call in the history is refused for ever",
        "harness.id_charset": "call ids that this server refuses",
        "harness.message_order": "a message between a call and its result is refused",
        "harness.orphan_tool_result": "a result without its call is refused",
        "harness.param_rejected": "a parameter of the request is refused",
        "harness.prompt_schema_mismatch": "the prompt teaches a parameter that the schema does not have",
        "harness.reasoning_dropped": "history without its reasoning is refused",
        "harness.reasoning_policy_mismatch": "reasoning in the history is refused, or its absence is",
        "harness.schema_rejected": "a tool's schema is refused",
        "harness.thinking_signature": "reasoning without its signature is refused",
        "harness.tool_name_rejected": "a tool's name, or the number of tools, is refused",
        "harness.unanswered_tool_call": "a call without a result is refused",
    },
    ("serving", "config_abort"): {
        "serving.crash_on_schema": "a schema makes the server fail",
        "serving.parser_mismatch": "the server's parser does not know the template's markup",
    },
    ("gateway", "config_abort"): {
        "gateway.thinking_not_applied": "thinking was asked for and not done",
        "infra.not_openai_shape": "a success in a foreign envelope",
    },
    ("provider", "config_abort"): {
        "infra.access_refused": "the key, or the access, is refused",
        "infra.address_unknown": "the model or the address is unknown",
        "infra.quota_exhausted": "the account is empty",
    },
}

LABELS: Mapping[str, Label] = MappingProxyType(
    {
        name: Label(name, owner, effect, meaning)
        for (owner, effect), names in _VOCABULARY.items()
        for name, meaning in names.items()
    }
)
