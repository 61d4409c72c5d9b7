"""A tool as data: what the model reads of it, and the operation that stands behind it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from harness_eval.axes.desk import Desk

Operation: TypeAlias = Callable[[Desk, Mapping[str, Any]], Awaitable["Outcome"]]
ParameterType: TypeAlias = Literal["string", "integer", "number", "boolean", "array", "object"]

TOOL_NAME = r"^[A-Za-z][A-Za-z0-9_-]{0,63}$"
"""What servers accept as the name of a tool."""

_FITS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (dict,),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an operation brought, before any cut; `labels` name what the box had to do about it."""

    text: str
    failed: bool = False
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a call cannot be carried out: its label (of the vocabulary of failures), and words for the model."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. `role` is the operation's own name for it; "" means that it is accepted and ignored."""

    name: str
    role: str
    description: str
    type: ParameterType = "string"
    required: bool = True
    choices: tuple[str, ...] = ()
    items: Mapping[str, Any] | None = None

    def schema(self) -> dict[str, Any]:
        """The parameter as JSON Schema."""
        schema: dict[str, Any] = {"type": self.type, "description": self.description}
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.type == "array":
            schema["items"] = dict(self.items or {"type": "string"})
        return schema

    def wanted(self) -> str:
        """The type and the choices in words."""
        return self.type + (f", one of {', '.join(self.choices)}" if self.choices else "")

    def accepts(self, value: Any) -> bool:
        """Whether a value has this parameter's type (a boolean is no integer), each item of an array included."""
        if not _fits(value, self.type) or (self.choices and value not in self.choices):
            return False
        kind = str((self.items or {}).get("type", "string"))
        return self.type != "array" or all(_fits(item, kind) for item in value)


def _fits(value: Any, kind: str) -> bool:
    return isinstance(value, _FITS.get(kind, (object,))) and (kind == "boolean" or not isinstance(value, bool))


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that is offered. `kind` is work, plan, stop or distractor."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    operation: Operation = field(compare=False)
    kind: Literal["work", "plan", "stop", "distractor"] = "work"

    def schema(self) -> dict[str, Any]:
        """The tool's parameters as one plain JSON Schema object (no references, a type at every node)."""
        return {
            "type": "object",
            "properties": {parameter.name: parameter.schema() for parameter in self.parameters},
            "required": [parameter.name for parameter in self.parameters if parameter.required],
        }

    def problem(self, arguments: Mapping[str, Any]) -> Problem | None:
        """What is wrong with these arguments, or None."""
        known = {parameter.name: parameter for parameter in self.parameters}
        missing = [p.name for p in self.parameters if p.required and p.name not in arguments]
        unknown = [name for name in arguments if name not in known]
        if unknown:
            text = f"unknown parameter {', '.join(map(repr, unknown))}; {self.name} takes {', '.join(known) or 'none'}"
            return Problem("model.foreign_param_names", text)
        if missing:
            return Problem("model.missing_required", f"missing required parameter {', '.join(map(repr, missing))}")
        for name, value in arguments.items():
            if not known[name].accepts(value) and (value is not None or known[name].required):
                return Problem("model.args_wrong_type", f"parameter {name!r} must be {known[name].wanted()}")
        return None

    async def call(self, desk: Desk, arguments: Mapping[str, Any]) -> Outcome:
        """Run the operation with the arguments under the operation's own names."""
        roles = {p.name: p.role for p in self.parameters if p.role}
        named = {roles[name]: value for name, value in arguments.items() if name in roles and value is not None}
        return await self.operation(desk, named)


def find_tool(tools: tuple[Tool, ...], name: str) -> Tool | None:
    """The tool of that exact name, or None."""
    return next((tool for tool in tools if tool.name == name), None)


def find_problem(tools: tuple[Tool, ...], name: str, arguments: Mapping[str, Any]) -> Problem | None:
    """Why this call cannot be carried out with these tools, or None."""
    tool = find_tool(tools, name)
    if tool is not None:
        return tool.problem(arguments)
    if any(each.name.lower() == name.lower() for each in tools):
        return Problem("model.tool_name_case", f"there is no tool {name!r}; names are case-sensitive")
    return Problem("model.unknown_tool_invented", f"there is no tool {name!r}")
