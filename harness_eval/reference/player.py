"""The scripted agent: a request in, an utterance out, and nothing kept between two requests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from harness_eval.reference.coupling import Coupling, spoilt
from harness_eval.reference.moment import moment_of
from harness_eval.reference.obeying import obeyed
from harness_eval.reference.reading import Situation, read_request
from harness_eval.reference.scripts import Scripts
from harness_eval.reference.skills import Call, completed, skills_of
from harness_eval.reference.transcript import read_prompt
from harness_eval.reference.turns import Turn, decide
from harness_eval.reference.writing import Utterance, utter
from harness_eval.types import Json

_ATTEMPTS = 2  # to end by a call, before it only talks
_SHORT_PROMPT = 300  # characters; a probe of an endpoint, no task
_UNKNOWN = "I am a scripted agent and have no plan for this task, so I end here."


@dataclass(frozen=True, slots=True)
class Player:
    """Plays the plans of these tasks, with these couplings; `seed` enters every draw beside the request's own."""

    scripts: Scripts
    couplings: tuple[Coupling, ...] = ()
    seed: int = 0

    def reply(self, body: Mapping[str, Json]) -> Utterance:
        """The answer to a chat-completions body, the same for the same body."""
        return self._answer(read_request(body), required=body.get("tool_choice") == "required")

    def complete(self, body: Mapping[str, Json]) -> Utterance:
        """The answer to a plain-completions body."""
        return self._answer(read_prompt(body), required=False)

    def _answer(self, situation: Situation, *, required: bool) -> Utterance:
        texts = (situation.task, *situation.opening)  # some harnesses speak of the machine before they name the task
        script = next(filter(None, map(self.scripts.find, texts)), None)
        if script is None:
            turn = obeyed(situation) or _unknown(situation, required=required)
        else:
            moment = moment_of(situation, script)
            turn = spoilt(decide(moment), moment, self.couplings, self.draw_seed(situation.seed))
        return utter(turn, situation.dialect)

    def draw_seed(self, trial_seed: int | None) -> int:
        """The seed of a trial's draws: its own, shifted by the server's."""
        return (trial_seed or 0) + (self.seed << 32)


def _unknown(situation: Situation, *, required: bool) -> Turn:
    """One sentence and the end; a tool is called only where a short prompt says which, or where a call is required."""
    thinking = "I do not know this task."
    asked = [offer for offer in situation.offers if _asks_for(situation.task, offer.name)]
    if situation.turns or not (situation.offers and (required or asked)):
        skill = skills_of(situation.offers).get("submit")
        ends = sum(turn.called for turn in situation.turns) < _ATTEMPTS
        return Turn("end", _UNKNOWN, thinking, skill.call(_UNKNOWN) if skill and ends else None)
    offer = (asked or situation.offers)[0]
    return Turn("work", "I do what is asked.", thinking, Call(offer.name, completed(offer, {}, situation.task[:80])))


def _asks_for(prompt: str, tool: str) -> bool:
    wanted = re.search(rf"\b(?:call|use)\b[^.]*(?<![\w-]){re.escape(tool)}(?![\w-])", prompt, re.IGNORECASE)
    return bool(wanted) and len(prompt) <= _SHORT_PROMPT
