"""Where the scripted agent is in its plan, written as a line that it says and later reads again.

The agent has no memory but the conversation, as a model has none, so its place and what it learned stand in its text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Form: TypeAlias = Literal["acting", "next", "stopped"]
How: TypeAlias = Literal["", "again", "again twice", "narrower", "narrowest"]

_HEADS: dict[Form, str] = {"acting": "Step", "next": "Next is step", "stopped": "I stop at step"}
_LINE = re.compile(
    r"\b(?:(?P<head>Next is step|I stop at step|Step) (?P<step>\d+) of (?P<of>\d+)"
    r"(?:, (?P<how>again twice|again|narrower|narrowest)(?![a-z]))?|All (?P<all>\d+) steps are done)"
)
_NAME = re.compile(r"(?: \(|, )([A-Za-z_]\w*)=")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Progress:
    """A place in a plan of `of` steps, counted from 1; `of` + 1 means that all are done.

    `form` says whether the message that holds the line does the step, is before it, or gives up at it. `how` is empty
    for a step's first try; "again" repeats a refused call in another way, "narrower" looks again where a result did
    not show what was looked for.
    """

    step: int
    of: int
    how: How = ""
    values: Mapping[str, str] = field(default_factory=dict)
    form: Form = "next"

    @property
    def done(self) -> bool:
        """Whether no step is left."""
        return self.step > self.of

    @property
    def ended(self) -> bool:
        """Whether the agent will do nothing more."""
        return self.done or self.form == "stopped"

    def line(self) -> str:
        """The place and all that was learned, in one line."""
        known = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in self.values.items())
        inner = f" ({known})" if known else ""
        if self.done:
            return f"All {self.of} steps are done{inner}"
        how = f", {self.how}" if self.how else ""
        return f"{_HEADS[self.form]} {self.step} of {self.of}{how}{inner}"


def names_a_place(text: str) -> bool:
    """Whether the agent says in this text where it is, in a plan of whatever length."""
    return bool(_LINE.search(text))


def newest_progress(texts: Iterable[str], of: int) -> Progress | None:
    """The last place that the last of these texts names, for a plan of that many steps.

    Args:
        texts: what the agent said, newest first.
        of: the length of its plan.
    """
    for text in texts:
        found = [place for match in _LINE.finditer(text) if (place := _place(match, text)).of == of]
        if found:
            return found[-1]
    return None


def _place(match: re.Match[str], text: str) -> Progress:
    values = _values(text, match.end())
    if match["all"]:
        return Progress(int(match["all"]) + 1, int(match["all"]), values=values)
    form = next(form for form, head in _HEADS.items() if head == match["head"])
    how: How = match["how"] or ""  # type: ignore[assignment]  # the pattern allows nothing else
    return Progress(int(match["step"]), int(match["of"]), how, values, form)


def _values(text: str, position: int) -> dict[str, str]:
    values: dict[str, str] = {}
    while match := _NAME.match(text, position):
        try:
            value, position = _DECODER.raw_decode(text, match.end())
        except ValueError:
            break
        values[match.group(1)] = str(value)
    return values
