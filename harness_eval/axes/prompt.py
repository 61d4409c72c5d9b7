"""Axis prompt: the system prompt's length and style, and reminders in the middle of the conversation."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from harness_eval.axes.level import Level
from harness_eval.types import Note, Step, Trajectory

_SHORT = (
    "You are an agent that works on a task in a Linux sandbox, alone: nobody answers questions. Look before you change "
    "anything, work in small steps, read each result before the next one, and check your work at the end."
)
_HANDBOOK = """You are an agent that works on a task in a Linux sandbox, alone: nobody answers questions.

# How to work
- Read the task to its end first. Note every exact name, format, number and constraint; they are all checked.
- Look before you change: list the directory, read the files that matter, run what can be run.
- Work in small steps. One change at a time, then its effect.
- Read every result. A failing command is information: find out why before you try another.
- A long output may be cut. When the part that you need is missing, narrow the command.

# Changing files
- Change what the task asks for and nothing else. Keep style, indentation and line ends of a file as they are.
- Prefer small exact edits to writing a file anew.
- Never edit a test or a checker to make it pass, unless the task says so.

# Commands
- Commands must end by themselves: no editor, no pager, no prompt. Give programs what they need as arguments.
- There is no network. Only what is installed can be used.
- Quote paths. Do not remove what you did not make.

# The end
- Before you stop, go through the task sentence by sentence and check each against the files as they are now.
- Say in one sentence what was done. Do not claim what you have not seen."""


class Prompt(Level):
    """What the model is told about its job."""

    axis: ClassVar[str] = "prompt"


class Short(Prompt):
    """A few sentences on how to work."""

    def instructions(self) -> str:
        """The sentences."""
        return _SHORT


class OneLine(Prompt):
    """One line and no advice."""

    def instructions(self) -> str:
        """The line."""
        return "You are an agent in a Linux sandbox. Do the task."


class Handbook(Prompt):
    """A long handbook with rules for working, editing, running commands and ending."""

    def instructions(self) -> str:
        """The handbook."""
        return _HANDBOOK


class Reminders(Short):
    """The short prompt, and the same reminder again after every few steps."""

    every: int = Field(default=3, ge=1)

    def notes(self, record: Trajectory) -> tuple[Note, ...]:
        """The reminder, once after every `every` steps."""
        steps = len(record.steps)
        if not steps or steps % self.every or not isinstance(record.events[-1], Step):
            return ()
        return (Note(f"Reminder: {steps} steps so far. Keep to the task and its constraints.", "reminder"),)

    def acted(self, record: Trajectory) -> bool:
        """Whether it reminded at least once."""
        return any(isinstance(event, Note) and event.kind == "reminder" for event in record.events)


class Verbatim(Prompt):
    """A system prompt that stands in the harness file, for rebuilding a particular agent."""

    text: str = Field(min_length=1)

    def instructions(self) -> str:
        """The text."""
        return self.text
