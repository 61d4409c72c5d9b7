"""Axis planning: which scaffolding the harness gives for planning."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from pydantic import Field

from harness_eval.axes import operations
from harness_eval.axes.level import Level
from harness_eval.axes.tool import Parameter, Tool
from harness_eval.types import Note, Step, Trajectory

_TODO = "todo_write"


class Planning(Level):
    """What helps the model to plan."""

    axis: ClassVar[str] = "planning"


class Unplanned(Planning):
    """Nothing: planning is left to the model."""


class Todo(Planning):
    """A tool that keeps a list of todo items, and a reminder when it has not been used for some steps (0: never)."""

    remind_after: int = Field(default=0, ge=0)

    def instructions(self) -> str:
        """To keep the list."""
        return f"Keep a todo list with the tool {_TODO}: write it before you start and mark each item when it is done."

    def amend(self, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        """With the todo tool."""
        items = {
            "type": "object",
            "properties": {
                "content": {"type": "string"},
                "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
            },
            "required": ["content", "status"],
        }
        parameter = Parameter(
            "todos", "items", "The whole list: each item with content and status.", "array", items=items
        )
        return (
            *tools,
            Tool(_TODO, "Write the todo list, replacing the old one.", (parameter,), operations.plan, "plan"),
        )

    def notes(self, record: Trajectory) -> tuple[Note, ...]:
        """A reminder when the list is stale."""
        if not self.remind_after or not record.steps:
            return ()
        since = 0
        for event in reversed(record.events):
            if isinstance(event, Note) and event.kind == "reminder":
                break
            if isinstance(event, Step):
                if any(call.name == _TODO for call in event.action.calls):
                    break
                since += 1
        stale = since >= self.remind_after
        return (
            (Note(f"The todo list has not been updated lately. Use {_TODO} if that helps.", "reminder"),)
            if stale
            else ()
        )


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
