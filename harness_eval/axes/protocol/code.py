"""Protocols whose calls are a small program. It is read, never run: each statement must be one call with literals.

The documented subset: `NAME(...)`, `x = NAME(...)` and `print(NAME(...))` in Python, `await tools.NAME({...});` with or
without `const x =` in TypeScript. Everything else is a malformed call, and the model is told what may stand there.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from harness_eval.axes.protocol.base import Reading, TextProtocol, blocks, parse_json
from harness_eval.axes.tool import Tool, find_tool
from harness_eval.types import Malformed, ToolCall


def _program(text: str, fence: str) -> tuple[str, list[str]]:
    """The text without its fenced programs, and the programs."""
    opening = re.compile(rf"^```(?:{fence})\n", re.MULTILINE)
    found, rest = blocks(text, opening, re.compile(r"\n?^```[ \t]*$", re.MULTILINE))
    return rest, [inner for _, inner in found]


def _numbered(named: list[tuple[str, dict[str, Any]]]) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(f"call_{number}", name, arguments) for number, (name, arguments) in enumerate(named))


class PythonCode(TextProtocol):
    """A fenced Python program whose statements are calls of the tools as functions."""

    syntax = (
        "The tools are Python functions. To use them, write one program in your reply:\n"
        '```python\nresult = NAME(PARAMETER="VALUE")\n```\n'
        "Each statement must be one call with literal values; loops, imports and expressions are not run. "
        "The results come back in the next message."
    )

    def write(self, call: ToolCall, tools: tuple[Tool, ...]) -> str:
        """The call as a statement in a program of its own."""
        del tools
        arguments = ", ".join(f"{key}={value!r}" for key, value in call.arguments.items())
        return f"```python\nresult = {call.name}({arguments})\n```"

    def carries(self, call: ToolCall) -> bool:
        """Not a value that would end the fence."""
        return "```" not in self.write(call, ())[3:-3]

    def read(self, text: str, tools: tuple[Tool, ...]) -> Reading:
        """Every program's calls, in order."""
        rest, programs = _program(text, "python|py")
        named: list[tuple[str, dict[str, Any]]] = []
        for program in programs:
            try:
                named += [_python_call(statement, tools) for statement in ast.parse(program).body]
            except (SyntaxError, ValueError, RecursionError) as error:
                return Reading(rest, (), (Malformed("", "", f"```python\n{program}\n```", str(error)),))
        return Reading(rest, _numbered(named))


def _python_call(statement: ast.stmt, tools: tuple[Tool, ...]) -> tuple[str, dict[str, Any]]:
    value = statement.value if isinstance(statement, ast.Expr | ast.Assign | ast.AnnAssign) else None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "print" and value.args:
        value = value.args[0]
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name):
        raise ValueError(f"line {statement.lineno}: each statement must be one call of a tool")
    name = value.func.id
    tool = find_tool(tools, name)
    order = [parameter.name for parameter in tool.parameters] if tool else []
    try:
        arguments = {key: ast.literal_eval(each) for key, each in zip(order, value.args, strict=False)}
        arguments |= {keyword.arg or "": ast.literal_eval(keyword.value) for keyword in value.keywords}
    except ValueError:
        raise ValueError(f"line {statement.lineno}: the values of a call must be literals") from None
    if len(value.args) > len(order):
        raise ValueError(f"line {statement.lineno}: {name} takes its values by name")
    return name, {key: list(each) if isinstance(each, tuple) else each for key, each in arguments.items()}


class TypescriptCode(TextProtocol):
    """A fenced TypeScript program whose statements await calls of the tools with an object of values."""

    syntax = (
        "The tools are asynchronous TypeScript functions. To use them, write one program in your reply:\n"
        '```typescript\nconst result = await tools.NAME({ PARAMETER: "VALUE" });\n```\n'
        "Each statement must be one call with literal values; anything else is not run. "
        "The results come back in the next message."
    )

    def write(self, call: ToolCall, tools: tuple[Tool, ...]) -> str:
        """The call as a statement in a program of its own."""
        del tools
        values = ", ".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in call.arguments.items())
        return f"```typescript\nconst result = await tools.{call.name}({{ {values} }});\n```"

    def carries(self, call: ToolCall) -> bool:
        """Not a value that would end the fence."""
        return "```" not in self.write(call, ())[3:-3]

    def read(self, text: str, tools: tuple[Tool, ...]) -> Reading:
        """Every program's calls, in order."""
        del tools
        rest, programs = _program(text, "typescript|ts|javascript|js")
        named: list[tuple[str, dict[str, Any]]] = []
        for program in programs:
            try:
                named += _typescript_calls(program)
            except ValueError as error:
                return Reading(rest, (), (Malformed("", "", f"```typescript\n{program}\n```", str(error)),))
        return Reading(rest, _numbered(named))


_START = re.compile(r"\s*(?:(?:const|let|var)\s+\w+(?:\s*:\s*[\w<>\[\]]+)?\s*=\s*)?(?:await\s+)?(?:tools\.)?(\w+)\s*\(")
_TOKEN = re.compile(
    r"""\s+|//[^\n]*|/\*.*?\*/|(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`)"""
    r"""|(?P<word>[A-Za-z_$][\w$]*)|(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<mark>[{}\[\],:)])""",
    re.DOTALL,
)
_LITERALS = {"true", "false", "null"}


def _typescript_calls(program: str) -> list[tuple[str, dict[str, Any]]]:
    named = []
    position = 0
    while program[position:].strip(" \t\r\n;"):
        start = _START.match(program, position)
        if not start:
            line = program[position:].strip().splitlines()[0]
            raise ValueError(f"each statement must be one call of a tool with literal values, got {line[:80]!r}")
        source, position = _literal(program, start.end())
        named.append((start.group(1), _object(source)))
        position += len(program[position:]) - len(program[position:].lstrip(" \t\r\n;"))
    return named


def _literal(program: str, position: int) -> tuple[str, int]:
    """The argument list from `position` to its closing parenthesis as JSON text, and where it ends."""
    parts: list[str] = []
    while True:
        token = _TOKEN.match(program, position)
        if not token:
            raise ValueError(f"this value is no literal: {program[position : position + 40]!r}")
        position = token.end()
        if token["mark"] == ")":
            return "".join(parts), position
        if token["string"]:
            parts.append(_json_string(token["string"]))
        elif token["word"]:
            parts.append(token["word"] if token["word"] in _LITERALS else json.dumps(token["word"]))
        elif token["mark"] in ("}", "]") and parts and parts[-1] == ",":
            parts[-1] = token["mark"]
        else:
            parts.append(token["number"] or token["mark"] or "")


def _object(source: str) -> dict[str, Any]:
    try:
        value = parse_json(source) if source else {}
    except ValueError:
        raise ValueError("the values of a call must be one object of literals") from None
    if not isinstance(value, dict):
        raise ValueError("a call takes one object of values")
    return value


def _json_string(quoted: str) -> str:
    if quoted[0] == '"':
        # A raw line break is no valid JSON, but models write it.
        return quoted.replace("\n", "\\n")
    if quoted[0] == "`" and "${" in quoted:
        raise ValueError("a template with ${...} is no literal")
    inner = re.sub(r"\\(['`$])", r"\1", quoted[1:-1])
    inner = re.sub(r'(?<!\\)((?:\\\\)*)"', r'\1\\"', inner)
    return f'"{inner}"'.replace("\n", "\\n").replace("\t", "\\t")
