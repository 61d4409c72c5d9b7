"""Axis description: in which notation a text protocol tells the model about its tools."""

from __future__ import annotations

import json
from abc import abstractmethod
from typing import ClassVar
from xml.sax.saxutils import escape

from harness_eval.axes.level import Level
from harness_eval.axes.tool import Parameter, Tool

_TYPESCRIPT = {"integer": "number", "array": "any[]", "object": "Record<string, any>"}
_PYTHON = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict"}


class Description(Level):
    """How tools are described."""

    axis: ClassVar[str] = "description"

    @abstractmethod
    def render(self, tools: tuple[Tool, ...]) -> str:
        """The tools as text for the system prompt."""


class JsonSchema(Description):
    """One JSON object a line: name, description and the parameters as JSON Schema, as native tools have them."""

    def render(self, tools: tuple[Tool, ...]) -> str:
        """One line a tool."""
        return "\n".join(
            json.dumps({"name": t.name, "description": t.description, "parameters": t.schema()}, ensure_ascii=False)
            for t in tools
        )


class Typescript(Description):
    """A TypeScript namespace with one commented function type a tool."""

    def render(self, tools: tuple[Tool, ...]) -> str:
        """One `type NAME = (_: {...}) => any;` a tool."""
        return "namespace tools {\n\n" + "\n\n".join(_typescript(tool) for tool in tools) + "\n\n}"


class PythonSignature(Description):
    """Python function signatures with docstrings that explain each argument."""

    def render(self, tools: tuple[Tool, ...]) -> str:
        """One `def NAME(...) -> str:` a tool."""
        return "\n\n".join(_python(tool) for tool in tools)


class Xml(Description):
    """Nested XML elements for tools and parameters."""

    def render(self, tools: tuple[Tool, ...]) -> str:
        """One `<tool>` element a tool."""
        return "<tools>\n" + "\n".join(_xml(tool) for tool in tools) + "\n</tools>"


class Prose(Description):
    """Sentences and lists, without any formal notation."""

    def render(self, tools: tuple[Tool, ...]) -> str:
        """One paragraph a tool."""
        return "\n\n".join(_prose(tool) for tool in tools)


def _choices(parameter: Parameter) -> str:
    return f" One of: {', '.join(parameter.choices)}." if parameter.choices else ""


def _typescript(tool: Tool) -> str:
    lines = [f"// {tool.description}", f"type {tool.name} = (_: {{"]
    for p in tool.parameters:
        kind = " | ".join(f'"{choice}"' for choice in p.choices) or _TYPESCRIPT.get(p.type, p.type)
        lines += [f"  // {p.description}", f"  {p.name}{'' if p.required else '?'}: {kind};"]
    return "\n".join([*lines, "}) => any;"])


def _python(tool: Tool) -> str:
    ordered = sorted(tool.parameters, key=lambda p: not p.required)
    signature = ", ".join(f"{p.name}: {_PYTHON[p.type]}{'' if p.required else ' = None'}" for p in ordered)
    lines = [f"def {tool.name}({signature}) -> str:", f'    """{tool.description}', "", "    Args:"]
    lines += [f"        {p.name}: {p.description}{_choices(p)}" for p in ordered]
    return "\n".join([*lines, '    """'])


def _xml(tool: Tool) -> str:
    lines = ["<tool>", f"  <name>{tool.name}</name>", f"  <description>{escape(tool.description)}</description>"]
    lines += [
        f'  <parameter name="{p.name}" type="{p.type}" required="{str(p.required).lower()}">'
        f"{escape(p.description + _choices(p))}</parameter>"
        for p in tool.parameters
    ]
    return "\n".join([*lines, "</tool>"])


def _prose(tool: Tool) -> str:
    lines = [f"The tool {tool.name}. {tool.description}"]
    lines += [
        f"- {p.name} ({p.type}, {'required' if p.required else 'may be left out'}): {p.description}{_choices(p)}"
        for p in tool.parameters
    ]
    return "\n".join(lines if tool.parameters else [*lines, "It takes no parameters."])
