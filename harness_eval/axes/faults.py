"""Axis faults: probes of how the model behaves when its tools misbehave. Each fault leaves the task solvable."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from pydantic import Field

from harness_eval.axes.level import Level
from harness_eval.axes.tool import Outcome, Tool, find_tool
from harness_eval.types import ToolCall, Trajectory

_EDITING_ROLES = {"old", "patch", "edits"}


class Refusal(str):
    """Why a call is refused, in words for the model."""

    __slots__ = ()


class Faults(Level):
    """What is made to go wrong."""

    axis: ClassVar[str] = "faults"

    def before(self, call: ToolCall, number: int, tools: tuple[Tool, ...]) -> ToolCall | Outcome | Refusal:
        """The call to go on with, or what it gets instead of being run; `number` counts the trial's calls from 0.

        A refusal is worded by the errors axis like any call that cannot be carried out.
        """
        del number, tools
        return call

    def after(self, outcome: Outcome, number: int) -> Outcome:
        """What the model gets of an outcome."""
        del number
        return outcome


class FaultFree(Faults):
    """Nothing is made to go wrong."""


class MissingTool(Faults):
    """The tool for editing files is offered, but every call of it is answered with the word that it is not there."""

    said: ClassVar[str] = "is not available in this environment; use another tool"

    def before(self, call: ToolCall, number: int, tools: tuple[Tool, ...]) -> ToolCall | Outcome | Refusal:
        """Refuses calls of the editing tool."""
        tool = find_tool(tools, call.name)
        if tool and {parameter.role for parameter in tool.parameters} & _EDITING_ROLES:
            return Refusal(f"{call.name} {self.said}")
        return call

    def acted(self, record: Trajectory) -> bool:
        """Whether a call was refused in a step that the model had written without a mistake."""
        sound = [step for step in record.steps if not any(label.startswith("model.") for label in step.labels)]
        return any(o.refused for step in sound for _, o in zip(step.action.calls, step.observations, strict=False))


class FailingCall(Faults):
    """Every few calls, one fails before it is run, with the word that trying again may help."""

    every: int = Field(default=4, ge=2)
    said: ClassVar[str] = "Error: the tool host did not respond. The call was not run; try it again."

    def before(self, call: ToolCall, number: int, tools: tuple[Tool, ...]) -> ToolCall | Outcome:
        """Refuses the call whose turn it is."""
        return Outcome(self.said, failed=True) if number % self.every == self.every - 1 else call

    def acted(self, record: Trajectory) -> bool:
        """Whether a call failed so."""
        return _seen(record, self.said)


class TruncatedResult(Faults):
    """Every few calls, the result ends in the middle, without a word about it."""

    every: int = Field(default=3, ge=2)
    keep: int = Field(default=80, ge=1)

    def after(self, outcome: Outcome, number: int) -> Outcome:
        """Cuts the result whose turn it is."""
        cut = number % self.every == self.every - 1
        return dataclasses.replace(outcome, text=outcome.text[: self.keep]) if cut else outcome

    def acted(self, record: Trajectory) -> bool:
        """Whether a result came out exactly as long as a cut one."""
        return any(len(o.shown) == self.keep for step in record.steps for o in step.observations)


class IncompatibleSchema(Faults):
    """The schema names the shell's parameter in one way, the tool accepts only another and says so when called."""

    suffix: ClassVar[str] = "_line"
    said: ClassVar[str] = "is not accepted by this version of the tool; pass it as"

    def before(self, call: ToolCall, number: int, tools: tuple[Tool, ...]) -> ToolCall | Outcome:
        """Translates the accepted name back, and refuses the one in the schema."""
        tool = find_tool(tools, call.name)
        declared = next((p.name for p in tool.parameters if p.role == "command" and not p.choices), "") if tool else ""
        accepted = f"{declared}{self.suffix}"
        if not declared or (declared not in call.arguments and accepted not in call.arguments):
            return call
        if accepted not in call.arguments:
            return Outcome(f"Error: parameter {declared!r} {self.said} {accepted!r}", failed=True)
        others = {key: value for key, value in call.arguments.items() if key not in {declared, accepted}}
        return ToolCall(call.id, call.name, {**others, declared: call.arguments[accepted]})

    def acted(self, record: Trajectory) -> bool:
        """Whether a call was refused so."""
        return _seen(record, self.said)


def _seen(record: Trajectory, text: str) -> bool:
    return any(text in o.shown for step in record.steps for o in step.observations)
