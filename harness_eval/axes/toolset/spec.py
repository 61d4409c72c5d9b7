"""A tool written as data, as it stands in YAML: its name, the operation behind it, its parameters and their roles."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from harness_eval.axes import operations
from harness_eval.axes.desk import Desk
from harness_eval.axes.tool import TOOL_NAME, Operation, Outcome, Parameter, ParameterType, Tool
from harness_eval.errors import nearest

OPERATIONS: dict[str, Operation] = {
    "shell": operations.shell,
    "shells": operations.shells,
    "read": operations.read,
    "write": operations.write,
    "replace": operations.replace,
    "insert": operations.insert,
    "editor": operations.editor,
    "edits": operations.edits,
    "patch": operations.patch,
    "find-text": operations.find_text,
    "find-files": operations.find_files,
    "list-files": operations.list_files,
    "plan": operations.plan,
    "think": operations.think,
    "finish": operations.finish,
}
_KINDS: dict[str, Literal["plan", "stop"]] = {"plan": "plan", "finish": "stop"}


class ParameterSpec(BaseModel):
    """One parameter. An empty `role` means that it is asked for and then ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: str = ""
    description: str
    type: ParameterType = "string"
    required: bool = True
    choices: tuple[str, ...] = ()
    items: dict[str, Any] | None = None


class ToolSpec(BaseModel):
    """One tool. `fixed` are arguments that the operation always gets, such as the numbering of lines."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=TOOL_NAME)
    operation: str
    description: str
    parameters: dict[str, ParameterSpec] = {}
    fixed: dict[str, Any] = {}

    @field_validator("operation")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in OPERATIONS:
            raise ValueError(f"unknown operation {value!r}; {nearest(value, OPERATIONS)}")
        return value

    def tool(self) -> Tool:
        """The tool that a harness offers."""
        parameters = tuple(
            Parameter(name, p.role, p.description, p.type, p.required, p.choices, p.items)
            for name, p in self.parameters.items()
        )
        return Tool(
            self.name,
            self.description,
            parameters,
            _with_fixed(OPERATIONS[self.operation], self.fixed),
            _KINDS.get(self.operation, "work"),
        )


def _with_fixed(operation: Operation, fixed: dict[str, Any]) -> Operation:
    if not fixed:
        return operation

    async def operate(desk: Desk, arguments: Any) -> Outcome:
        return await operation(desk, {**fixed, **arguments})

    return operate
