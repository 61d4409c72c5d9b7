"""One turn's view from inside of the agent: the situation, its plan, and where in the plan it stands now."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from harness_eval.reference.plan import PlanStep, fill
from harness_eval.reference.progress import How, Progress, newest_progress
from harness_eval.reference.reading import Situation, Turn
from harness_eval.reference.results import Result
from harness_eval.reference.scripts import Script
from harness_eval.reference.skills import Call, Skill, skills_of
from harness_eval.reference.surroundings import from_root

RENAMED = "parameter_"
"""What is learned under this beginning is the name under which a tool really takes a parameter."""

_SHOWS_FILE = re.compile(r"cat ([\w./-]+)")
_HARDER: dict[How, How | None] = {
    "": "again",
    "again": "again twice",
    "again twice": None,
    "narrower": "narrowest",
    "narrowest": None,
}


@dataclass(frozen=True, slots=True)
class Moment:
    """What the agent knows before it decides.

    `last` is the newest place that it can read of itself, None at the beginning; `here` the place from which it goes
    on, after it has looked at the newest result; `result` that result, if `last` was followed by one.
    """

    situation: Situation
    script: Script
    skills: Mapping[str, Skill]
    last: Progress | None
    here: Progress
    result: Result | None

    @property
    def step(self) -> PlanStep:
        """The step that comes now; there is none once all are done."""
        return self.script.plan.steps[self.here.step - 1]

    def words(self, text: str) -> str:
        """A sentence of the plan with everything learned filled in, and a name in place of what was not."""
        return re.sub(r"\$\{(\w+)\}", lambda match: self.here.values.get(match[1], f"the {match[1]}"), text)

    def adapted(self, call: Call) -> Call:
        """The call with those parameter names that were asked for when it was refused; never a choice between verbs.

        Paths become absolute where they must be and the working directory is known.
        """
        offer = next((offer for offer in self.situation.offers if offer.name == call.name), None)
        if offer and (folder := self.situation.folder):
            call = Call(call.name, from_root(offer, call.arguments, folder))
        verbs = {parameter.name for parameter in offer.parameters if parameter.choices} if offer else set()
        known = {name: self.here.values.get(f"{RENAMED}{name}") for name in call.arguments if name not in verbs}
        return Call(call.name, {known.get(name) or name: value for name, value in call.arguments.items()})

    def content_seen(self, path: str) -> str | None:
        """The newest view of a file that is still to be seen, as far as it was shown."""
        for turn in reversed(self.situation.turns):
            place = newest_progress([turn.text], len(self.script.plan.steps))
            if place and not place.done and turn.results and self._shows(place, path):
                return turn.results[0].lines
        return None

    def _shows(self, place: Progress, path: str) -> bool:
        step = self.script.plan.steps[place.step - 1]
        try:
            if step.kind == "read":
                return fill(step.arguments["path"], place.values) == path
            command = _SHOWS_FILE.fullmatch(step.arguments.get("command", ""))
        except KeyError:
            return False
        return bool(command and command[1] == path)


def moment_of(situation: Situation, script: Script) -> Moment:
    """Where the agent is, from nothing but what it is shown."""
    of = len(script.plan.steps)
    last = newest_progress(situation.memories(), of)
    result = None
    here = last or Progress(1, of)
    if last and last.form == "acting":
        turn = _turn_of(situation, of)
        result = turn.results[0] if turn and turn.results else None
        here = _harder(last, "again") if result is None else _after(script.plan.steps[last.step - 1], last, result)
    return Moment(situation, script, skills_of(situation.offers), last, here, result)


def _turn_of(situation: Situation, of: int) -> Turn | None:
    return next((turn for turn in reversed(situation.turns) if newest_progress([turn.text], of)), None)


def _after(step: PlanStep, last: Progress, result: Result) -> Progress:
    """The place after a result: the next step, or the same step in another way."""
    values = {**last.values, **_learned(step, result)}
    if result.renamed:
        values[f"{RENAMED}{result.renamed[0]}"] = result.renamed[1]
    here = replace(last, values=values, form="next")
    changes = step.kind in ("create", "edit")
    if result.refused or (changes and result.in_trouble):
        return _harder(here, "again")
    if all(name in values for name in step.learn):
        return replace(here, step=here.step + 1, how="")
    return _harder(here, "narrower" if step.otherwise else "narrowest")


def _harder(last: Progress, start: How) -> Progress:
    """The next way of the same step, or the next step when there is no other way left."""
    here = replace(last, form="next")
    how = start if start.startswith("narrow") and not last.how.startswith("narrow") else _HARDER[last.how]
    return replace(here, step=here.step + 1, how="") if how is None else replace(here, how=how)


def _learned(step: PlanStep, result: Result) -> dict[str, str]:
    found = {}
    for name, pattern in step.learn.items():
        match = re.search(pattern, result.text, re.MULTILINE) or re.search(pattern, result.lines, re.MULTILINE)
        if match and match[1] is not None:
            found[name] = match[1]
    return found
