"""Axis errors: what a bad call gets, and whether it is repaired."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from harness_eval.axes.level import Level
from harness_eval.axes.tool import Parameter, Tool, find_tool
from harness_eval.types import ToolCall, Trajectory

BAD_CALLS = frozenset(
    f"model.{kind}"
    for kind in (
        "args_wrong_type",
        "bad_args_json",
        "foreign_param_names",
        "missing_required",
        "tool_name_case",
        "unknown_tool_invented",
    )
)
"""Labels of calls that no tool could carry out as they were written."""


class Errors(Level):
    """How a call that cannot be carried out is answered. After `patience` such turns in a row the trial ends."""

    axis: ClassVar[str] = "errors"

    patience: int = Field(default=5, ge=1)

    def word(self, problem: str, tools: tuple[Tool, ...]) -> str:
        """The answer to a bad call."""
        del tools
        return f"Error: {problem}"

    def repair(self, call: ToolCall, tools: tuple[Tool, ...]) -> ToolCall:
        """The call as the harness understands it."""
        del tools
        return call

    def acted(self, record: Trajectory) -> bool:
        """Whether this level had to answer a call, or could have repaired one."""
        refused = any(o.refused for step in record.steps for o in step.observations)
        return refused or any(label in BAD_CALLS for step in record.steps for label in step.labels)


class Explain(Errors):
    """Says what is wrong with the call."""


class Terse(Errors):
    """Says only that the call was bad."""

    def word(self, problem: str, tools: tuple[Tool, ...]) -> str:
        """Two words."""
        return "Invalid call."


class ListTools(Errors):
    """Says what is wrong and lists the tools with their parameters."""

    def word(self, problem: str, tools: tuple[Tool, ...]) -> str:
        """The problem and the list."""
        known = "\n".join(f"- {tool.name}({', '.join(p.name for p in tool.parameters)})" for tool in tools)
        return f"Error: {problem}\nThe tools are:\n{known}"


class SilentRepair(Errors):
    """Repairs letter case, look-alike names and types without a word; what is left is explained."""

    def repair(self, call: ToolCall, tools: tuple[Tool, ...]) -> ToolCall:
        """With the tool's own names and types where they can be guessed safely."""
        tool = find_tool(tools, call.name) or _only([tool for tool in tools if _bare(tool.name) == _bare(call.name)])
        if tool is None:
            return call
        names = {_bare(p.name): p for p in tool.parameters}
        arguments: dict[str, Any] = {}
        for name, value in call.arguments.items():
            parameter = names.get(_bare(name))
            arguments[parameter.name if parameter else name] = _fitted(value, parameter)
        return ToolCall(call.id, tool.name, arguments)


def _bare(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _only(found: list[Tool]) -> Tool | None:
    return found[0] if len(found) == 1 else None


def _fitted(value: Any, parameter: Parameter | None) -> Any:
    if parameter is None or parameter.accepts(value):
        return value
    if parameter.type == "integer" and isinstance(value, str) and value.strip().lstrip("-").isdigit():
        return int(value)
    if parameter.type == "boolean" and str(value).lower() in {"true", "false"}:
        return str(value).lower() == "true"
    return str(value) if parameter.type == "string" and isinstance(value, int | float) else value
