"""Protocols whose calls stand in the text of the reply."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from harness_eval.axes.protocol.base import (
    Reading,
    TextProtocol,
    Wire,
    arguments_or_problem,
    blocks,
    parse_json,
    shell_of,
)
from harness_eval.axes.tool import Tool, find_tool
from harness_eval.types import Malformed, ToolCall

_DECODER = json.JSONDecoder()


def typed(value: str, parameter: str, tool: Tool | None) -> Any:
    """A parameter's text as the type that its tool wants; text that does not fit stays text, for the errors axis."""
    known = {each.name: each.type for each in tool.parameters} if tool else {}
    if known.get(parameter, "string") == "string":
        return value
    try:
        return parse_json(value)
    except ValueError:
        return value


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _unframed(value: str) -> str:
    return value.removeprefix("\n").removesuffix("\n")


def _blocks(
    text: str, tags: tuple[str, str], read: Callable[[re.Match[str], str, int], ToolCall | Malformed]
) -> Reading:
    """All blocks between an opening and a closing tag (regular expressions) as calls, and the text without them."""
    opening, closing = (re.compile(tag, re.MULTILINE) for tag in tags)
    found, rest = blocks(text, opening, closing)
    read_ones = [read(match, inner, number) for number, (match, inner) in enumerate(found)]
    calls = tuple(each for each in read_ones if isinstance(each, ToolCall))
    malformed = tuple(each for each in read_ones if isinstance(each, Malformed))
    return Reading(rest, calls, malformed)


def _unclosed(reading: Reading, mark: str, whole: str) -> Reading:
    """The reading, with what follows a block that was opened and never closed as a malformed call."""
    if mark not in reading.text:
        return reading
    before, _, after = reading.text.partition(mark)
    broken = Malformed("", "", mark + after, f"a block {mark} is not closed; {whole}", cut=True)
    return Reading(before.strip(), reading.calls, (*reading.malformed, broken))


class JsonText(TextProtocol):
    """One JSON object in the reply, with the keys tool and arguments."""

    syntax = (
        "To call a tool, write one JSON object in your reply:\n"
        '{"tool": "NAME", "arguments": {"PARAMETER": VALUE}}\n'
        "The result comes back in the next message."
    )

    def write(self, call: ToolCall, tools: tuple[Tool, ...]) -> str:
        """The object on one line."""
        del tools
        return json.dumps({"tool": call.name, "arguments": dict(call.arguments)}, ensure_ascii=False)

    def read(self, text: str, tools: tuple[Tool, ...]) -> Reading:
        """Every object with a key `tool`; code fences around it are dropped."""
        del tools
        calls: list[ToolCall] = []
        rest, position = [], 0
        while (start := text.find("{", position)) >= 0:
            value, end = _object_at(text, start)
            if isinstance(value, dict) and isinstance(value.get("tool"), str):
                arguments = value.get("arguments", {})
                calls.append(
                    ToolCall(f"call_{len(calls)}", value["tool"], arguments if isinstance(arguments, dict) else {})
                )
                rest.append(text[position:start])
            else:
                rest.append(text[position:end])
            position = end
        remaining = re.sub(r"```(?:json)?\s*```", "", "".join([*rest, text[position:]])).strip()
        if not calls and re.search(r'\{\s*"tool"\s*:', remaining):
            before, _, after = remaining.partition("{")
            reason = "the JSON object of the call is not valid JSON"
            return Reading(before.strip(), (), (Malformed("", "", "{" + after, reason, _breaks_off("{" + after)),))
        return Reading(remaining, tuple(calls))


def _breaks_off(source: str) -> bool:
    """Whether a JSON text is sound as far as it goes."""
    try:
        parse_json(source)
    except json.JSONDecodeError as error:
        return error.pos >= len(source) or error.msg.startswith("Unterminated string")
    except ValueError:
        pass
    return False


def _object_at(text: str, start: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, start)
    except RecursionError:
        return None, len(text)
    except ValueError:
        return None, start + 1


class XmlJson(TextProtocol):
    """A JSON object with name and arguments between tool_call tags."""

    syntax = (
        "To call a tool, write:\n<tool_call>\n"
        '{"name": "NAME", "arguments": {"PARAMETER": VALUE}}\n</tool_call>\n'
        "The result comes back in the next message."
    )

    def write(self, call: ToolCall, tools: tuple[Tool, ...]) -> str:
        """The object between its tags."""
        del tools
        inner = json.dumps({"name": call.name, "arguments": dict(call.arguments)}, ensure_ascii=False)
        # The closing tag inside a value would end the block; JSON can spell '<' in another way.
        inner = inner.replace("</tool_call>", "\\u003c/tool_call>")
        return f"<tool_call>\n{inner}\n</tool_call>"

    def read(self, text: str, tools: tuple[Tool, ...]) -> Reading:
        """Every pair of tags."""
        del tools

        def one(match: re.Match[str], inner: str, number: int) -> ToolCall | Malformed:
            value = arguments_or_problem(inner)
            if isinstance(value, dict) and isinstance(value.get("name"), str):
                arguments = value.get("arguments", {})
                if isinstance(arguments, dict):
                    return ToolCall(f"call_{number}", value["name"], arguments)
            reason = value if isinstance(value, str) else "the object needs a name and an object of arguments"
            return Malformed(f"call_{number}", "", f"{match.group(0)}{inner}</tool_call>", reason)

        reading = _blocks(text, ("<tool_call>", "</tool_call>"), one)
        return _unclosed(reading, "<tool_call>", "end it with </tool_call>")


class XmlFunction(TextProtocol):
    """Tags that name the function and each parameter, values as plain text."""

    syntax = (
        "To call a tool, write:\n<function=NAME>\n<parameter=PARAMETER>\nVALUE\n</parameter>\n</function>\n"
        "with one parameter block for each parameter. The result comes back in the next message."
    )

    def write(self, call: ToolCall, tools: tuple[Tool, ...]) -> str:
        """The tags, one parameter after the other."""
        del tools
        inner = "".join(f"<parameter={key}>\n{_plain(value)}\n</parameter>\n" for key, value in call.arguments.items())
        return f"<function={call.name}>\n{inner}</function>"

    def carries(self, call: ToolCall) -> bool:
        """Not a value with this markup in it."""
        return not any(mark in _plain(v) for v in call.arguments.values() for mark in ("parameter", "/function>"))

    def read(self, text: str, tools: tuple[Tool, ...]) -> Reading:
        """Every function block; parameters that are not text are read as JSON."""

        def one(match: re.Match[str], inner: str, number: int) -> ToolCall | Malformed:
            tool = find_tool(tools, match.group(1))
            _, *parts = re.split(r"<parameter=([^>\s]{1,200})>", inner)
            named = zip(parts[::2], (part.rpartition("</parameter>")[0] for part in parts[1::2]), strict=True)
            values = {key: typed(_unframed(value), key, tool) for key, value in named}
            return ToolCall(f"call_{number}", match.group(1), values)

        reading = _blocks(text, (r"<function=([^>\s]{1,200})>", "</function>"), one)
        return _unclosed(reading, "<function=", "end it with </function>")


class Dsml(TextProtocol):
    """Invoke and parameter tags in a markup of its own, each parameter saying whether it is text."""

    syntax = (
        "To call tools, write:\n<｜DSML｜function_calls>\n"
        '<｜DSML｜invoke name="NAME">\n<｜DSML｜parameter name="PARAMETER" string="true">VALUE</｜DSML｜parameter>\n'
        "</｜DSML｜invoke>\n</｜DSML｜function_calls>\n"
        'A parameter that is no text has string="false" and its value as JSON. '
        "The result comes back in the next message."
    )

    def write(self, call: ToolCall, tools: tuple[Tool, ...]) -> str:
        """One invoke in its own outer pair of tags."""
        del tools
        lines = [
            f'<｜DSML｜parameter name="{key}" string="{"true" if isinstance(value, str) else "false"}">{_plain(value)}'
            "</｜DSML｜parameter>"
            for key, value in call.arguments.items()
        ]
        inner = "\n".join([f'<｜DSML｜invoke name="{call.name}">', *lines, "</｜DSML｜invoke>"])
        return f"<｜DSML｜function_calls>\n{inner}\n</｜DSML｜function_calls>"

    def carries(self, call: ToolCall) -> bool:
        """Not a value with this markup in it."""
        return not any("｜DSML｜" in _plain(value) for value in call.arguments.values())

    def read(self, text: str, tools: tuple[Tool, ...]) -> Reading:
        """Every invoke; the outer tags only frame them."""
        del tools
        opening = re.compile(r'<｜DSML｜parameter name="([^"]{1,200})"(?: string="(true|false)")?>')
        closing = re.compile("</｜DSML｜parameter>")

        def one(match: re.Match[str], inner: str, number: int) -> ToolCall | Malformed:
            values: dict[str, Any] = {}
            for start, value in blocks(inner, opening, closing)[0]:
                try:
                    values[start.group(1)] = parse_json(value) if start.group(2) == "false" else value
                except ValueError:
                    reason = f"{start.group(1)} is not valid JSON"
                    return Malformed(f"call_{number}", match.group(1), f"{match.group(0)}{inner}", reason)
            return ToolCall(f"call_{number}", match.group(1), values)

        bare = re.sub(r"\n?</?｜DSML｜function_calls>\n?", "\n", text)
        reading = _blocks(bare, (r'<｜DSML｜invoke name="([^"]{1,200})">', "</｜DSML｜invoke>"), one)
        return _unclosed(reading, "<｜DSML｜invoke", "end it with </｜DSML｜invoke>")


class FencedBash(TextProtocol):
    """One fenced block of bash a turn; the block is the command, and there is no other tool."""

    syntax = (
        "In each reply, write exactly one command in a block:\n```bash\nCOMMAND\n```\n"
        "It is run, and its output comes back in the next message."
    )

    def guide(self, wire: Wire) -> str:
        """Only the syntax: the one tool needs no description."""
        del wire
        return f"You work through a shell.\n\n{self.syntax}"

    def write(self, call: ToolCall, tools: tuple[Tool, ...]) -> str:
        """The command in its block."""
        _, key = shell_of(tools)
        return f"```bash\n{call.arguments.get(key, '')}\n```"

    def carries(self, call: ToolCall) -> bool:
        """Not a command with a fence in it."""
        return "```" not in "".join(map(_plain, call.arguments.values()))

    def read(self, text: str, tools: tuple[Tool, ...]) -> Reading:
        """The one block; two or more are refused, so that no command runs unseen."""
        name, key = shell_of(tools)
        tags = (r"^```(?:bash|sh|shell)\n", r"\n?^```[ \t]*$")
        reading = _blocks(text, tags, lambda _, inner, number: ToolCall(f"call_{number}", name, {key: inner}))
        if len(reading.calls) > 1:
            raw = "\n".join(self.write(call, tools) for call in reading.calls)
            return Reading(reading.text, (), (Malformed("", name, raw, "a reply must hold exactly one block"),))
        return _unclosed(reading, "```bash", "end it with ```")


class WorkedJsonText(JsonText):
    """As json-text, but the conversation begins with tasks that were worked before."""

    worked = True


class WorkedFencedBash(FencedBash):
    """As fenced-bash, but the conversation begins with tasks that were worked before."""

    worked = True
