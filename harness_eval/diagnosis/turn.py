"""One turn of any dialogue as a diagnosis needs it, whether it was recorded on the wire or by a trial."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from harness_eval.diagnosis.labels import Finding
from harness_eval.types import Json, ToolCall


def canonical(call: ToolCall) -> tuple[str, str]:
    """A call's name, and its arguments in one spelling."""
    return call.name, json.dumps(call.arguments, sort_keys=True, default=_plain)


def _plain(value: object) -> Json:
    return dict(value) if isinstance(value, Mapping) else str(value)


@dataclass(frozen=True)  # without slots, since what is asked for again and again is kept
class Turn:
    """What the model said in one turn, what its calls brought, and what was found in the turn by itself.

    `results` has the text shown for each call, None where that is unknown (no later request was recorded). `offered`
    holds the names of the tools the model had, None where that is unknown. `told` is what the harness itself said
    before the turn (nudges, reminders, notices, a summary), `compacted` whether a compaction came right before it.
    `hidden` has the numbers of those earlier turns whose results the request no longer showed, `cut` whether each
    result was shown in part only, where that is known; `prompt_tokens` is 0 where nobody counted.
    """

    text: str
    thinking: str | None
    calls: tuple[ToolCall, ...]
    results: tuple[str | None, ...]
    finding: Finding
    offered: frozenset[str] | None = None
    told: tuple[str, ...] = ()
    compacted: bool = False
    hidden: frozenset[int] = frozenset()
    cut: tuple[bool, ...] = ()
    prompt_tokens: int = 0

    @cached_property
    def asked(self) -> tuple[tuple[str, str], ...]:
        """The turn's calls, each as `canonical` spells it."""
        return tuple(map(canonical, self.calls))
