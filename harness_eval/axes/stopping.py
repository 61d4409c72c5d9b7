"""Axis stopping: what ends a trial, and what the model hears when it stops in another way."""

from __future__ import annotations

from abc import abstractmethod
from enum import Enum
from typing import ClassVar

from pydantic import Field

from harness_eval.axes import operations
from harness_eval.axes.level import Level
from harness_eval.axes.tool import TOOL_NAME, Parameter, Tool
from harness_eval.types import Note, Step, Trajectory

_NUDGES = 3


class Stop(Enum):
    """The verdict that a trial is over."""

    FINISHED = "finished"


class Stopping(Level):
    """When it is over."""

    axis: ClassVar[str] = "stopping"

    @abstractmethod
    def judge(self, record: Trajectory) -> Stop | Note | None:
        """After a step: over, a word to the model, or neither."""


def silent(step: Step) -> bool:
    """Whether a step neither called a tool nor tried to."""
    return not step.action.calls and not step.action.malformed


def _planning_turn(record: Trajectory) -> bool:
    """Whether the last step answers a request for a plan: it is no attempt to stop."""
    before = record.events[-2] if len(record.events) > 1 else None
    return isinstance(before, Note) and before.kind == "plan" and len(record.steps) == 1


def _nudge_or_stop(record: Trajectory, text: str) -> Stop | Note | None:
    if not silent(record.steps[-1]) or _planning_turn(record):
        return None
    in_a_row = 0
    for step in reversed(record.steps):
        if not silent(step):
            break
        in_a_row += 1
    # A model that keeps talking to nobody will not come back; what it has done is judged as it stands.
    return Stop.FINISHED if in_a_row > _NUDGES else Note(text, "nudge")


def _submissions(record: Trajectory, tool: str) -> int:
    return sum(
        call.name == tool and not observation.failed
        for step in record.steps
        for call, observation in zip(step.action.calls, step.observations, strict=False)
    )


class NoCall(Stopping):
    """A reply without a call is the end."""

    def judge(self, record: Trajectory) -> Stop | Note | None:
        """Over when the last step called nothing."""
        return Stop.FINISHED if silent(record.steps[-1]) and not _planning_turn(record) else None

    def instructions(self) -> str:
        """To answer without a call at the end."""
        return "When the task is done, answer with a short closing sentence and no further call."


class SubmitTool(Stopping):
    """A tool for handing in is the end; a reply without a call is answered with a nudge."""

    tool: str = Field(default="submit", pattern=TOOL_NAME)

    def instructions(self) -> str:
        """To call it."""
        return f"When the task is done, call the tool {self.tool}. Only that ends your work."

    def amend(self, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        """With the tool for handing in."""
        message = Parameter("message", "message", "One sentence on what was done.")
        submit = Tool(self.tool, "End the work and hand it in.", (message,), operations.finish, "stop")
        return (*tools, submit)

    def judge(self, record: Trajectory) -> Stop | Note | None:
        """Over when it was called."""
        return Stop.FINISHED if _submissions(record, self.tool) else self.nudge(record)

    def nudge(self, record: Trajectory) -> Stop | Note | None:
        """What a turn without a call gets."""
        return _nudge_or_stop(record, f"Nothing was called. Continue with the task, or call {self.tool} if it is done.")


class ConfirmTwice(SubmitTool):
    """The tool for handing in must be called a second time, after a request to check the work."""

    times: int = Field(default=2, ge=2, le=3)

    def judge(self, record: Trajectory) -> Stop | Note | None:
        """Over when it was called as often as is wanted; a note after each earlier call."""
        if _submissions(record, self.tool) >= self.times:
            return Stop.FINISHED
        if any(call.name == self.tool for call in record.steps[-1].action.calls):
            return Note(f"Check every part of the task once more, then call {self.tool} again to confirm.", "confirm")
        return self.nudge(record)


class Sentinel(Stopping):
    """A command that prints an agreed word is the end."""

    word: str = Field(default="TASK_COMPLETE_7F3A", pattern=r"^[A-Z][A-Z0-9_]{7,}$")

    def instructions(self) -> str:
        """Which command it is."""
        return f"When the task is done, run this command and nothing else with it: echo {self.word}"

    def judge(self, record: Trajectory) -> Stop | Note | None:
        """Over when a result's first line is the word."""
        if any(o.shown.strip().splitlines()[:1] == [self.word] for o in record.steps[-1].observations):
            return Stop.FINISHED
        return _nudge_or_stop(record, f"Nothing was run. Continue with the task, or run: echo {self.word}")
