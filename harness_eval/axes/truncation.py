"""Axis truncation: how much of a tool's result is shown, which part of it, and what the model is told of the rest.

A cut is made once, when an observation is recorded. All sizes are in characters of the result; the notice comes on top.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Literal

from pydantic import Field

from harness_eval.axes.level import Level
from harness_eval.types import Trajectory

Notice = Literal["silent", "marker", "advice"]

_ADVICE = " Narrow the command or read a part of the file to see the rest."


class Truncation(Level):
    """What is shown of a long result."""

    axis: ClassVar[str] = "truncation"

    @abstractmethod
    def cut(self, text: str, spill_path: str = "") -> str:
        """The result as shown; the text itself if it is short enough. `spill_path` is where the whole is kept."""

    def spills(self, text: str) -> bool:
        """Whether the whole text must be kept in a file."""
        del text
        return False

    def acted(self, record: Trajectory) -> bool:
        """Whether any result was cut."""
        return any(o.full_length != len(o.shown) for step in record.steps for o in step.observations)


def _notice(kind: Notice, left_out: int) -> str:
    if kind == "silent":
        return ""
    return f"[output truncated: {left_out} characters left out.{_ADVICE if kind == 'advice' else ''}]"


def _joined(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


class Middle(Truncation):
    """The head and the tail in equal parts, the middle left out with a marker."""

    cap: int = Field(default=30_000, ge=100)
    notice: Notice = "marker"

    def cut(self, text: str, spill_path: str = "") -> str:
        """Half of the cap from either end."""
        if len(text) <= self.cap:
            return text
        half = self.cap // 2
        return _joined(text[:half], _notice(self.notice, len(text) - 2 * half), text[-half:])


class Whole(Truncation):
    """Everything, however long."""

    def acted(self, record: Trajectory) -> bool:
        """Whether a result was shown that the canonical level would have cut."""
        return any(o.full_length > Middle().cap for step in record.steps for o in step.observations)

    def cut(self, text: str, spill_path: str = "") -> str:
        """The text."""
        return text


class Head(Truncation):
    """The beginning, with advice on how to see the rest."""

    cap: int = Field(default=16_000, ge=100)
    notice: Notice = "advice"

    def cut(self, text: str, spill_path: str = "") -> str:
        """The first `cap` characters."""
        return text if len(text) <= self.cap else _joined(text[: self.cap], _notice(self.notice, len(text) - self.cap))


class Tail(Truncation):
    """The end, as shells that scroll show it."""

    cap: int = Field(default=10_000, ge=100)
    notice: Notice = "marker"

    def cut(self, text: str, spill_path: str = "") -> str:
        """The last `cap` characters."""
        return text if len(text) <= self.cap else _joined(_notice(self.notice, len(text) - self.cap), text[-self.cap :])


class FifthHead(Truncation):
    """A fifth of the cap from the beginning and four fifths from the end."""

    cap: int = Field(default=25_000, ge=100)
    notice: Notice = "marker"

    def cut(self, text: str, spill_path: str = "") -> str:
        """Head 20 %, tail 80 %."""
        if len(text) <= self.cap:
            return text
        head = self.cap // 5
        tail = self.cap - head
        return _joined(text[:head], _notice(self.notice, len(text) - self.cap), text[-tail:])


class LastLines(Truncation):
    """Only the last lines."""

    lines: int = Field(default=50, ge=1)
    notice: Notice = "marker"

    def cut(self, text: str, spill_path: str = "") -> str:
        """The last `lines` lines."""
        lines = text.splitlines()
        if len(lines) <= self.lines:
            return text
        kept = "\n".join(lines[-self.lines :])
        return _joined(_notice(self.notice, len(text) - len(kept)), kept)


class PreviewAndFile(Truncation):
    """A short preview of what is too long; the whole goes to a file that the model is told of."""

    cap: int = Field(default=50_000, ge=100)
    preview: int = Field(default=2_000, ge=100)

    def cut(self, text: str, spill_path: str = "") -> str:
        """The first `preview` characters and where the rest is."""
        if len(text) <= self.cap:
            return text
        where = (
            f"[output truncated: {len(text)} characters in all, kept in {spill_path}; read it in parts or search it]"
        )
        return _joined(text[: self.preview], where)

    def spills(self, text: str) -> bool:
        """When it is longer than the cap."""
        return len(text) > self.cap


class Silent(Truncation):
    """The beginning, and not a word about the rest."""

    cap: int = Field(default=10_000, ge=100)

    def cut(self, text: str, spill_path: str = "") -> str:
        """The first `cap` characters."""
        return text[: self.cap]
