"""What a server finds wrong with a request, in the wordings of many stacks."""

from __future__ import annotations

from typing import Any

import pytest

from harness_eval.diagnosis.labels import LABELS
from harness_eval.endpoints.request_faults import request_fault

WORDINGS = {
    "harness.schema_rejected": [
        "Invalid schema for function 'edit': schema must have a 'type' key.",
        "tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12",
        "input_schema does not support oneOf, allOf, or anyOf at the top level",
        "Invalid JSON payload received. Unknown name additionalProperties at 'tools[0].function_declarations",
        "Failed to compile grammar for tool calls",
        "Failed to convert the parameters of function 'x' to a JSON schema",
        "Unsupported JSON Schema structure: $ref cycles are not supported",
        "tools[0].function.description exceeds the maximum length of 1024",
        "unknown field tools[0].strict",
        "The value at tools[2].function.parameters.properties is not a dictionary",
    ],
    "harness.tool_name_rejected": [
        "Invalid 'tools[0].function.name': string does not match pattern. Expected '^[a-zA-Z0-9_-]+$'.",
        "tools.3.custom.name: String should have at most 128 characters",
        "tools: Tool names must be unique.",
        "Duplicate function name found: bash",
        "Invalid function name fs.read: only letters, digits, _ and - are allowed",
        "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 151.",
        "Too many tools: at most 128 functions are supported",
        "function name is invalid, must start with a letter",
    ],
    "harness.param_rejected": [
        "invalid temperature: only 1 is allowed for this model",
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "Unsupported value: 'temperature' does not support 0 with this model.",
        "Unrecognized request argument supplied: reasoning_effort",
        "max_completion_tokens is too large: 200000",
        "parallel_tool_calls is not supported by this model",
        "top_p must be 0.95",
        "This model does not support tools",
        "response_format of type json_schema is not available",
        "Bad Request",
        "",
    ],
    "harness.message_order": [
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "deepseek-reasoner does not support successive user or assistant messages (messages[1] and messages[2])",
        "System message must be at the beginning.",
        "Unexpected role 'system' after role 'assistant'",
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
        "The first message must use the user role",
    ],
    "harness.orphan_tool_result": [
        "tool_call_id  is not found",
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1.",
        "No tool call found for function call output with call_id call_9.",
        "Tool message has no corresponding tool call",
    ],
    "harness.unanswered_tool_call": [
        "An assistant message with 'tool_calls' must be followed by tool messages",
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01",
        "No tool output found for function call call_1.",
        "Please ensure that the number of function response parts is equal to the number of function call parts",
    ],
    "harness.empty_history_message": [
        "Invalid request: the message at position 4 with role 'assistant' must not be empty",
        "Invalid request: text content is empty",
        "messages.3: all messages must have non-empty content except for the optional final assistant message",
        "messages: text content blocks must be non-empty",
        "Invalid assistant message: content or tool_calls must be set",
        "The text field in the ContentBlock object at messages.1.content.0 is blank.",
    ],
    "harness.reasoning_dropped": [
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
        "Missing `reasoning_content` field in the assistant message at message index 1",
        "Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
        "When `thinking` is enabled, a final `assistant` message must start with a thinking block",
        "reasoning_content must not be empty for assistant messages",
    ],
    "harness.reasoning_policy_mismatch": [
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        "The reasoning_content is an intermediate result for display purposes only and will not be included",
        "for 'role:assistant' the following must be satisfied: property 'reasoning_content' is unsupported",
        "'loc': ['body', 'messages', 2, 'reasoning_content'], 'msg': 'Extra inputs are not permitted'",
        "Unknown parameter: 'messages[1].reasoning_content'.",
    ],
    "harness.thinking_signature": [
        "messages.1.content.0: Invalid `signature` in `thinking` block",
        "messages.5.content.1: Invalid `signature` in `thinking`",
        "messages.1.content.0.thinking.signature: Field required",
        "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified",
        "Function call is missing a thought_signature in functionCall parts.",
    ],
    "harness.id_charset": [
        "messages.3.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40.",
        "Tool call id was functions.run:0 but must be a-z, A-Z, 0-9, with a length of 9.",
        "'toolUse.toolUseId' failed to satisfy constraint: regular expression pattern: [a-zA-Z0-9_-]+",
    ],
    "harness.history_poisoned": [
        "Expecting property name enclosed in double quotes: line 1 column 28 (char 27)",
        "Unterminated string starting at: line 1 column 20 (char 19)",
        "Invalid control character at: line 1 column 20 (char 19)",
        "Extra data: line 1 column 3 (char 2)",
        "invalid character '}' looking for beginning of object key string",
        "Invalid 'messages[3].tool_calls[0].function.arguments': expected valid JSON",
        "Failed to parse tool call arguments as JSON",
        "messages.1.content.1.tool_use.input: Input should be a valid dictionary",
    ],
    "undetermined.request_cut": [
        "invalid model: ",
        "you must provide a model parameter",
        "unexpected end of JSON input",
        "[{'type': 'json_invalid', 'loc': ['body', 8388608], 'msg': 'JSON decode error'}]",
        "Could not parse the JSON body of your request.",
        "Missing required parameter: 'messages'.",
        "unexpected EOF",
    ],
    "serving.parser_mismatch": [
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    ],
}
CALL = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"cmd": "x"}'}}
USER = {"role": "user", "content": "x"}
CALLS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
BROKEN = {"role": "assistant", "tool_calls": [{**CALL, "function": {"name": "run", "arguments": '{"cmd": "x'}}]}
FOLLOWED = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."


@pytest.mark.parametrize(
    ("label", "said"), [(label, said) for label, all_said in WORDINGS.items() for said in all_said]
)
def test_a_request_fault_is_told_from_its_words(label: str, said: str) -> None:
    assert request_fault(said) == label


def test_every_label_of_a_request_fault_is_in_the_vocabulary() -> None:
    assert set(WORDINGS) <= set(LABELS)
    mismatched = {"harness.history_rewrites_name", "harness.prompt_schema_mismatch"}  # never told by an error
    told = {name for name, label in LABELS.items() if (label.owner, label.effect) == ("harness", "config_abort")}
    assert told - mismatched <= set(WORDINGS)


@pytest.mark.parametrize(
    ("messages", "said", "label"),
    [
        ([USER, CALLS, USER, RESULT], FOLLOWED, "harness.message_order"),
        ([USER, CALLS, USER], FOLLOWED, "harness.unanswered_tool_call"),
        ([USER, CALLS, CALLS, RESULT], FOLLOWED, "harness.unanswered_tool_call"),
        ([USER, RESULT, USER], FOLLOWED, "harness.orphan_tool_result"),
        ([USER, CALLS, USER, RESULT], "tool message must be preceded by a call", "harness.message_order"),
        ([USER, CALLS, RESULT], FOLLOWED, "harness.unanswered_tool_call"),
        ([USER, RESULT], "Bad Request", "harness.orphan_tool_result"),
        ([USER, CALLS], "Bad Request", "harness.unanswered_tool_call"),
        ([USER, BROKEN, RESULT], "Bad Request", "harness.history_poisoned"),
        ([USER, {"role": "assistant", "content": ""}, USER], "Bad Request", "harness.empty_history_message"),
        ([USER, CALLS, RESULT], "Bad Request", "harness.param_rejected"),
        ([USER, BROKEN, RESULT], "unexpected end of JSON input", "harness.history_poisoned"),
        ([USER, CALLS, RESULT], "unexpected end of JSON input", "undetermined.request_cut"),
        (
            [USER, CALLS, RESULT],
            "Unterminated string starting at: line 1 column 9 (char 8)",
            "undetermined.request_cut",
        ),
    ],
)
def test_the_request_decides_where_the_words_do_not(messages: list[Any], said: str, label: str) -> None:
    assert request_fault(said, {"messages": messages}) == label


def test_a_complaint_at_the_end_of_what_was_sent_is_a_cut_body_even_where_the_request_is_unknown() -> None:
    said = "Unterminated string starting at: line 1 column 8388001 (char 8388000)"
    assert request_fault(said, None, sent=8_400_000) == "undetermined.request_cut"
    assert request_fault(said, None, sent=0) == "harness.history_poisoned"


@pytest.mark.parametrize("request_", [{}, {"messages": None}, {"messages": ["x", 3]}, {"messages": [{"role": "tool"}]}])
def test_a_request_of_any_shape_can_be_looked_at(request_: dict[str, Any]) -> None:
    assert request_fault("Bad Request", request_) in LABELS


def test_calls_of_any_shape_can_be_looked_at() -> None:
    for calls in ("x", [1], [{}], [{"function": "x"}], [{"function": {"arguments": None}}]):
        message = {"role": "assistant", "content": "x", "tool_calls": calls}
        assert request_fault("Bad Request", {"messages": [message]}) in LABELS
