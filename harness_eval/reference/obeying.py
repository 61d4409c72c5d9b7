"""Plain orders: where the newest words say which tool to call with which arguments, the scripted agent obeys."""

from __future__ import annotations

import json
import re

from harness_eval.reference.reading import Situation
from harness_eval.reference.skills import Call
from harness_eval.reference.turns import Turn

_ORDER = re.compile(r"\bcall the tool (?P<name>[\w.-]+) with the arguments (?=\{)", re.IGNORECASE)
_DECODER = json.JSONDecoder()


def obeyed(situation: Situation) -> Turn | None:
    """The call that was ordered last, or, once no further order has come, the newest result; None without any order.

    Like a model it calls what it is told to, whether or not such a tool is offered.
    """
    call = _ordered(_newest(situation))
    if call is not None:
        return Turn("work", "I do what is asked.", f"I am told to call {call.name} and with what, so I do.", call)
    if situation.turns and _ordered(situation.task):
        return Turn("end", _newest(situation), "There is no further order, so the newest result is the answer.")
    return None


def _newest(situation: Situation) -> str:
    """The words that came last: of the user, else of a tool; the task itself before the first own message."""
    if not situation.turns:
        return "\n".join([situation.task, *situation.opening])
    last = situation.turns[-1]
    return "\n".join(last.notes or [result.text for result in last.results])


def _ordered(words: str) -> Call | None:
    match = _ORDER.search(words)
    if match is None:
        return None
    try:
        arguments, _ = _DECODER.raw_decode(words, match.end())
    except ValueError:
        return None
    return Call(match["name"], arguments)
