"""What a user can do about a label: one sentence each, for whatever costs a score, a trial or a harness."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_ASK_THE_SERVER = "look at the raw log, try without streaming, and check the server's tool-call parser"
_LATER = "nothing was judged: resume the run later"

_HARNESS: Mapping[str, str] = {
    "harness.context_elided": "a choice of the harness: compare it with one that keeps all results",
    "harness.empty_history_message": "try the profile of the model it serves, which says how silent turns are written",
    "harness.history_poisoned": "leave this harness out here, or ask the server to accept broken calls in the history",
    "harness.history_rewrites_name": "a choice of the harness: compare it with one that leaves calls as they were made",
    "harness.id_charset": "try the profile of the model it serves, which says what call ids look like",
    "harness.message_order": "leave this harness out here, or choose its level that puts such a message elsewhere",
    "harness.orphan_tool_result": "leave this harness out here: it drops a call whose result it keeps",
    "harness.param_rejected": "try the profile of the model it serves, or take the parameter out of the settings",
    "harness.prompt_schema_mismatch": "mend the harness: its prompt and its tool schema must name the same parameters",
    "harness.reasoning_dropped": "try the profile of the model it serves, or a harness that keeps the reasoning",
    "harness.reasoning_policy_mismatch": "the server refuses, or demands, reasoning in the history: try the profile of "
    "the model it serves, or a thinking level that fits",
    "harness.result_dropped": "mend the harness: every result must reach the model",
    "harness.schema_rejected": "choose a level with plainer tool schemas, or a server that accepts these",
    "harness.taught_text_dialect": "a choice of the harness: compare it with one that writes calls natively",
    "harness.thinking_signature": "keep the signature with the reasoning, or switch thinking off",
    "harness.tool_name_rejected": "rename the tool, or offer fewer, as the server's message says",
    "harness.unanswered_tool_call": "leave this harness out here: it lets a call go without a result",
}

_LIMITS: Mapping[str, str] = {
    "limit.context_overflow": "serve a longer window, or use a harness that compacts earlier",
    "limit.output_tokens_in_call": "raise the limit of output tokens",
    "limit.output_tokens_reasoning": "raise the limit of output tokens, or lower the thinking",
    "limit.steps": "raise the limit of steps if trials were still getting on",
    "limit.total_tokens": "raise the limit of tokens if trials were still getting on",
}

_INFRA: Mapping[str, str] = {
    "infra.access_refused": "check the key, and that it may use this model",
    "infra.address_unknown": "check the address and the name of the model",
    "infra.deadline": "raise the time limits of the endpoint and of trials, or ask less at once",
    "infra.empty_choices": f"{_LATER}, and look at the log of the gateway",
    "infra.error_in_200": f"{_LATER}, and look at the error that the gateway wrapped",
    "infra.error_in_stream": f"{_LATER}, or try without streaming",
    "infra.gateway": "check the address and the proxy before the server, then resume the run",
    "infra.not_openai_shape": "check the address: it is that of another interface",
    "infra.overloaded": f"{_LATER}, or with less at once",
    "infra.quota_exhausted": "fill up the account, then resume the run",
    "infra.rate_limited": "lower the concurrency, then resume the run",
    "infra.stream_truncated": "try without streaming, or check the time limits of proxies, then resume the run",
}

_SERVING: Mapping[str, str] = {
    "gateway.reasoning_placeholder": "ask for the reasoning itself, or serve the model without the gateway",
    "gateway.thinking_not_applied": "check how this gateway switches thinking, or choose another thinking level",
    "serving.answer_in_reasoning": "check the server's reasoning parser against the model's template",
    "serving.crash_on_schema": "update the server, or choose a level with plainer tool schemas",
    "serving.empty_tool_deltas": "try without streaming, and update the server",
    "serving.grammar_not_enforced": "switch on guided decoding at the server, or do not count on strict schemas",
    "serving.history_reasoning_ignored": "check the template, and under which key it takes earlier reasoning",
    "serving.id_format_foreign": "try the profile of the model it serves, which writes ids as it was trained on",
    "serving.markup_in_arguments": f"the server's fault: {_ASK_THE_SERVER}",
    "serving.markup_in_name": f"the server's fault: {_ASK_THE_SERVER}",
    "serving.parser_mismatch": "start the server with the tool-call parser that belongs to this model",
    "serving.phantom_tool_calls": f"the server's fault: {_ASK_THE_SERVER}",
    "serving.tool_call_dropped": f"the server's fault: {_ASK_THE_SERVER}",
    "serving.unknown_tool_filtered": "know that unknown tools never show here; use a server that passes all calls on",
}

_UNDETERMINED: Mapping[str, str] = {
    "model.planning_churn": "look at the trial, and compare with a harness without a planning tool",
    "model.repeats_done_work_after_compaction": "look at what the compaction kept, and compare with a longer window",
    "model.task_lost_after_compaction": "look at what the compaction kept, and compare with a longer window",
    "undetermined.args_double_encoded": "look at the raw log: the server's tool-call parser may encode arguments twice",
    "undetermined.bad_args_json": f"arguments broke off: {_ASK_THE_SERVER}",
    "undetermined.call_in_reasoning": "run with `--recovery reasoning`, and check the server's reasoning parser",
    "undetermined.empty_turn": "look at the raw log, try without streaming, and raise the limit of output tokens",
    "undetermined.markup_leak": _ASK_THE_SERVER,
    "undetermined.reasoning_in_content": "check the server's reasoning parser against the model's template",
    "undetermined.request_cut": "check the server's window and what proxies let through, then resume the run",
    "undetermined.thought_only": "look at the raw log, check the reasoning parser, raise the limit of output tokens",
}

_MACHINES: Mapping[str, str] = {
    "evaluator.infra_scored_zero": "mend the verifier: a failure of the machines must not score",
    "evaluator.mislabelled_timeout": "look at the verifier's time limit and at what it wrote",
    "evaluator.timeout_misattributed": "raise the verifier's time limit, then resume the run",
    "sandbox.disk_full": "make room on the disk, then resume the run",
    "sandbox.exec_hang": "look at which command hangs, and run fewer trials at once",
    "sandbox.leaked_container": "remove the container that was left behind",
    "sandbox.leaked_process": "end the process that was left behind",
}

REMEDIES: Mapping[str, str] = MappingProxyType(
    {**_HARNESS, **_LIMITS, **_INFRA, **_SERVING, **_UNDETERMINED, **_MACHINES}
)


def remedy(label: str) -> str:
    """What can be done about a label; "" where there is nothing to do, or it is not known."""
    return REMEDIES.get(label, "")
