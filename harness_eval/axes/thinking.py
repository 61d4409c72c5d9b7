"""Axis thinking: what the model is shown of its own earlier reasoning."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import ClassVar

from pydantic import Field

from harness_eval.axes.level import Level
from harness_eval.types import Action, Step, View


class Thinking(Level):
    """What becomes of reasoning history."""

    axis: ClassVar[str] = "thinking"


class Keep(Thinking):
    """All reasoning is sent back, as models trained on whole histories expect."""


class Drop(Thinking):
    """No reasoning is sent back; the field is left out."""

    def view(self, view: View) -> View:
        """Without thinking."""
        return _each(view, lambda action: dataclasses.replace(action, thinking=None))


class Empty(Thinking):
    """The reasoning field is sent back, but empty: a placeholder that some servers ask for."""

    def view(self, view: View) -> View:
        """With empty thinking where there was some."""
        return _each(view, lambda a: a if a.thinking is None else dataclasses.replace(a, thinking=""))


class Last(Thinking):
    """Only the newest steps keep their reasoning."""

    steps: int = Field(default=1, ge=1)

    def view(self, view: View) -> View:
        """Without thinking in all but the newest `steps` steps."""
        newest = {id(step) for step in view.steps[-self.steps :]}
        events = tuple(
            event if not isinstance(event, Step) or id(event) in newest else _changed(event, _without)
            for event in view.events
        )
        return dataclasses.replace(view, events=events)


class AsText(Thinking):
    """Reasoning is sent back as part of the visible text, as some harnesses do when the model changes."""

    def view(self, view: View) -> View:
        """With thinking moved into the text."""
        return _each(view, _as_text)


def _changed(step: Step, change: Callable[[Action], Action]) -> Step:
    return dataclasses.replace(step, action=change(step.action))


def _each(view: View, change: Callable[[Action], Action]) -> View:
    events = tuple(_changed(event, change) if isinstance(event, Step) else event for event in view.events)
    return dataclasses.replace(view, events=events)


def _without(action: Action) -> Action:
    return dataclasses.replace(action, thinking=None)


def _as_text(action: Action) -> Action:
    if not action.thinking:
        return _without(action)
    text = f"<thinking>\n{action.thinking}\n</thinking>\n{action.text}".rstrip("\n")
    return dataclasses.replace(action, thinking=None, text=text)
