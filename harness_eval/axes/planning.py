"""Axis planning: which scaffolding the harness gives for planning."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Literal

from pydantic import Field

from harness_eval.axes import operations
from harness_eval.axes.level import Level
from harness_eval.axes.tool import TOOL_NAME, Parameter, Tool
from harness_eval.types import Note, Step, Trajectory


class Planning(Level):
    """What helps the model to plan."""

    axis: ClassVar[str] = "planning"


class Unplanned(Planning):
    """Nothing: planning is left to the model."""


class Todo(Planning):
    """A tool that keeps a list of todo items, and a reminder when it has not been used for some steps (0: never)."""

    remind_after: int = Field(default=0, ge=0)
    tool: str = Field(default="todo_write", pattern=TOOL_NAME)
    parameter: str = "todos"
    text_key: Literal["content", "title", "step"] = "content"

    def instructions(self) -> str:
        """To keep the list."""
        return f"Keep a todo list with the tool {self.tool}: write it before you start, mark each item when it is done."

    def amend(self, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        """With the todo tool."""
        items = {
            "type": "object",
            "properties": {
                self.text_key: {"type": "string"},
                "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
            },
            "required": [self.text_key, "status"],
        }
        meaning = f"The whole list: each item with {self.text_key} and status."
        parameter = Parameter(self.parameter, "items", meaning, "array", items=items)
        todo = Tool(self.tool, "Write the todo list, replacing the old one.", (parameter,), operations.plan, "plan")
        return (*tools, todo)

    def notes(self, record: Trajectory) -> tuple[Note, ...]:
        """A reminder when the list is stale."""
        if not self.remind_after or self._steps_without(record) < self.remind_after:
            return ()
        return (Note(f"The todo list has not been updated lately. Use {self.tool} if that helps.", "reminder"),)

    def _steps_without(self, record: Trajectory) -> int:
        """Steps since the list was last written or a reminder was given."""
        since = 0
        for event in reversed(record.events):
            if isinstance(event, Note) and event.kind == "reminder":
                break
            if isinstance(event, Step) and any(call.name == self.tool for call in event.action.calls):
                break
            since += isinstance(event, Step)
        return since


class PlanFirst(Planning):
    """The first turn is for a plan in words; the work begins after it."""

    def notes(self, record: Trajectory) -> tuple[Note, ...]:
        """The request for a plan, before anything else; then the word to go on."""
        if not record.events:
            return (Note("First write a short plan for this task, in words only. Call no tool yet.", "plan"),)
        if len(record.steps) == 1 and isinstance(record.events[-1], Step) and not record.steps[0].action.calls:
            return (Note("Good. Now carry out the plan.", "plan"),)
        return ()


class PlanField(Planning):
    """Every call must carry a plan: what has been found and what comes next."""

    def amend(self, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        """With a required parameter `plan` on every tool."""
        plan = Parameter("plan", "", "What you have found so far and what you will do next, in one or two sentences.")
        return tuple(dataclasses.replace(tool, parameters=(plan, *tool.parameters)) for tool in tools)


class Reflect(Planning):
    """Every few steps the harness asks the model to check its progress against the task."""

    every: int = Field(default=4, ge=1)

    def notes(self, record: Trajectory) -> tuple[Note, ...]:
        """The request, once after every `every` steps."""
        steps = len(record.steps)
        if not steps or steps % self.every or not isinstance(record.events[-1], Step):
            return ()
        return (Note("Before you go on, compare what you have done with every part of the task.", "reminder"),)

    def acted(self, record: Trajectory) -> bool:
        """Whether it asked at least once."""
        return any(isinstance(event, Note) and event.kind == "reminder" for event in record.events)
