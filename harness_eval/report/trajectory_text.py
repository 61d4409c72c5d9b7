"""Texts of a trial as they can be shown: nothing invisible, nothing that looks like a credential, gaps marked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness_eval.axes.truncation import FifthHead, LastLines, Middle, Silent, Tail, Truncation
from harness_eval.errors import redact
from harness_eval.types import Observation

_LINES = "\n\t"
_UNSEEN = (
    *(0xAD, 0x61C, 0x180E, 0x200B),
    *range(0x200E, 0x2010),
    *range(0x2028, 0x202F),
    *range(0x2060, 0x2070),
    0xFEFF,
    *range(0xFFF9, 0xFFFC),
)
_VISIBLE: Mapping[int, str] = (
    {code: chr(0x2400 + code) for code in range(32) if chr(code) not in _LINES}
    | {127: "\u2421"}
    | {code: f"\\x{code:02x}" for code in range(0x80, 0xA0)}
    | {code: f"\\u{code:04x}" for code in (*_UNSEEN, *range(0xD800, 0xE000))}
    | {code: f"\\U{code:08x}" for code in range(0xE0000, 0xE0080)}
)
_NOTICE = re.compile(r"^\[output truncated: .*\]$", re.MULTILINE)
_FOLDED, _FOLDED_LINES = 1_100, 14  # characters and line breaks above which a text is folded
_PREVIEW, _PREVIEW_LINES = 360, 5  # what of it is seen then
_MARGIN = 512  # characters beyond a cut that are read for credentials, so that no half of one is left


def visible(text: str) -> str:
    """A text with what commands a terminal, turns its direction or cannot be seen written as its sign or number."""
    return text.translate(_VISIBLE)


class Clean(str):
    """A text that can be shown, once its markup is escaped: nothing invisible, nothing that looks like a credential."""

    __slots__ = ()


def clean(text: str) -> Clean:
    """The text with what is invisible made visible and credentials replaced."""
    return text if isinstance(text, Clean) else Clean(visible(redact(text)))


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A text for a page: its head and, if it is too long for the page, its tail; `length` in characters in all."""

    head: Clean
    tail: Clean
    length: int
    left_out: int = 0

    @property
    def long(self) -> bool:
        """Whether it is better folded."""
        return (
            len(self.head) + len(self.tail) > _FOLDED or self.head.count("\n") + self.tail.count("\n") > _FOLDED_LINES
        )

    @property
    def preview(self) -> Clean:
        """Its first lines."""
        return Clean("\n".join(self.head[:_PREVIEW].splitlines()[:_PREVIEW_LINES]))


def excerpt(text: str, most: int) -> Excerpt:
    """At most so many characters of a text: two thirds of them from its beginning, the rest from its end."""
    if len(text) <= most:
        return Excerpt(clean(text), Clean(), len(text))
    head, tail = most - most // 3, most // 3
    first = redact(text[: head + _MARGIN])[:head]
    last = redact(text[-tail - _MARGIN :])[-tail:] if tail else ""
    return Excerpt(Clean(visible(first)), Clean(visible(last)), len(text), len(text) - head - tail)


@dataclass(frozen=True, slots=True)
class Gap:
    """Where a result was cut: characters shown to the model and in all, and what it was told about it."""

    shown: int
    length: int
    notice: str

    @property
    def hidden(self) -> int:
        """Characters that the model was not shown."""
        return max(0, self.length - self.shown)


@dataclass(frozen=True, slots=True)
class Result:
    """A result as the model saw it: what stands before the gap and after it; no gap where nothing was cut."""

    before: str
    after: str = ""
    gap: Gap | None = None

    @property
    def place(self) -> str:
        """Which part was left out, in words."""
        return "the middle" if self.before and self.after else "the end" if self.before else "the beginning"


def result(observation: Observation, truncation: Truncation | None) -> Result:
    """An observation with the place of its cut: at the notice, or where this level cuts without one."""
    text = observation.shown
    if observation.full_length == len(text):
        return Result(text)
    notices = [] if _says_nothing(truncation) else list(_NOTICE.finditer(text))
    if notices:
        notice = notices[0] if isinstance(truncation, Tail | LastLines) else notices[-1]
        before, after = text[: notice.start()].removesuffix("\n"), text[notice.end() :].removeprefix("\n")
        return Result(before, after, Gap(len(before) + len(after), observation.full_length, notice[0]))
    place = _silent_place(text, truncation)
    before, after = text[:place], text[place:]
    if before and after:
        after = after.removeprefix("\n")  # the harness's own, between the two parts
    return Result(before, after, Gap(len(before) + len(after), observation.full_length, ""))


def _says_nothing(truncation: Truncation | None) -> bool:
    """Whether this level cuts without a word: a line that looks like a notice is then the tool's own."""
    return isinstance(truncation, Silent) or getattr(truncation, "notice", "") == "silent"


def _silent_place(text: str, truncation: Truncation | None) -> int:
    if isinstance(truncation, Middle):
        return min(len(text), truncation.cap // 2)
    if isinstance(truncation, FifthHead):
        return min(len(text), truncation.cap // 5)
    return 0 if isinstance(truncation, Tail | LastLines) else len(text)


def spans(numbers: Iterable[int]) -> str:
    """`1–3, 5`: numbers in order, runs of them as one."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ", ".join("–".join(map(str, run)) for run in runs)


def steps(numbers: Iterable[int]) -> str:
    """`step 3`, `steps 1–3, 5`."""
    known = sorted(numbers)
    return f"step{'s' if len(known) > 1 else ''} {spans(known)}"
