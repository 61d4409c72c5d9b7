"""Axis context: how much of the record the model still sees, and how the rest is told.

Windows are *effective* ones, in tokens that a view may hold: a small one makes a level act on a short task.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Literal

from pydantic import Field

from harness_eval.axes.level import Level
from harness_eval.types import Compaction, Event, Note, Step, Trajectory, View

_SUMMARY_REQUEST = (
    "The conversation is about to be shortened. Write a summary from which the work can go on without the rest: the "
    "task with every exact name, number and constraint, what has been done, what was found, and what is still to do. "
    "Call no tool; answer with the summary alone."
)
_CLEARED = "[old result cleared]"


class Context(Level):
    """What is kept in view."""

    axis: ClassVar[str] = "context"

    def due(self, record: Trajectory, tokens: int) -> bool:
        """Whether the record must be compacted before the next request, whose prompt has about `tokens` tokens."""
        del record, tokens
        return False

    def covers(self, record: Trajectory) -> int:
        """How many events a compaction made now would cover."""
        return len(record.events)

    @property
    def summary_request(self) -> str:
        """What the model is asked for a summary with."""
        return _SUMMARY_REQUEST


class Full(Context):
    """Everything stays in view."""


class Window(Context):
    """Only the newest steps stay in view, with the task itself."""

    steps: int = Field(default=10, ge=1)

    def view(self, view: View) -> View:
        """Without what came before the newest steps."""
        places = [index for index, event in enumerate(view.events) if isinstance(event, Step)]
        if len(places) <= self.steps:
            return view
        return dataclasses.replace(view, events=view.events[places[-self.steps] :])


class ClearResults(Context):
    """Every step stays, but the results of all but the newest steps are blanked."""

    keep: int = Field(default=5, ge=1)

    def view(self, view: View) -> View:
        """With older results replaced by a short notice."""
        steps = view.steps
        if len(steps) <= self.keep:
            return view
        newest = {id(step) for step in steps[-self.keep :]}
        events = tuple(e if not isinstance(e, Step) or id(e) in newest else _cleared(e) for e in view.events)
        return dataclasses.replace(view, events=events)


class Summary(Context):
    """When the view fills its window, the model writes a summary that stands for all but the newest steps.

    With `steps` above 0, that many uncovered steps trigger it as well.
    """

    at: float = Field(default=0.7, gt=0, le=1)
    window: int = Field(default=128_000, ge=500)
    keep: int = Field(default=1, ge=0)
    inject: Literal["user", "acknowledged", "question", "handoff"] = "user"
    steps: int = Field(default=0, ge=0)

    def due(self, record: Trajectory, tokens: int) -> bool:
        """When the prompt passes `at` of the window, or steps their number, and at least one step would be covered."""
        last = _last_compaction(record.events)
        covered = last.covers if last else 0
        fresh = [event for event in record.events[covered : self.covers(record)] if isinstance(event, Step)]
        many = bool(self.steps) and len(fresh) + self.keep > self.steps
        return bool(fresh) and (many or tokens > self.at * self.window)

    def covers(self, record: Trajectory) -> int:
        """All events but those from the `keep` newest steps on."""
        places = [index for index, event in enumerate(record.events) if isinstance(event, Step)]
        if not self.keep:
            return len(record.events)
        return places[-self.keep] if len(places) > self.keep else 0

    def view(self, view: View) -> View:
        """The newest summary, then what it does not cover."""
        last = _last_compaction(view.events)
        if last is None:
            return view
        rest = tuple(event for event in view.events[last.covers :] if not isinstance(event, Compaction))
        return dataclasses.replace(view, events=_INJECTIONS[self.inject](last.notes) + rest)

    def acted(self, record: Trajectory) -> bool:
        """Whether anything was compacted."""
        return _last_compaction(record.events) is not None


def _last_compaction(events: tuple[Event, ...]) -> Compaction | None:
    return next((event for event in reversed(events) if isinstance(event, Compaction)), None)


def _cleared(step: Step) -> Step:
    shown = tuple(dataclasses.replace(o, shown=_CLEARED) for o in step.observations)
    return dataclasses.replace(step, observations=shown)


def _as_user(notes: str) -> tuple[Event, ...]:
    return (Note(f"Summary of the work so far:\n{notes}", "summary"),)


def _acknowledged(notes: str) -> tuple[Event, ...]:
    return (*_as_user(notes), Note("Understood. I continue from there.", "summary", "assistant"))


def _question(notes: str) -> tuple[Event, ...]:
    return (
        Note("What has been done so far?", "summary"),
        Note(f"Summary of the work so far:\n{notes}", "summary", "assistant"),
    )


def _handoff(notes: str) -> tuple[Event, ...]:
    text = (
        "You take over from a colleague who worked on this task before you. Their notes, a summary of the work so "
        f"far:\n{notes}\nCheck what you need to, and continue."
    )
    return (Note(text, "summary"),)


_INJECTIONS = {"user": _as_user, "acknowledged": _acknowledged, "question": _question, "handoff": _handoff}
