"""The scripted agent: a request in, an utterance out, and nothing kept between two requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness_eval.reference.coupling import Coupling, spoilt
from harness_eval.reference.moment import moment_of
from harness_eval.reference.reading import Situation, read_request
from harness_eval.reference.scripts import Scripts
from harness_eval.reference.skills import Call, completed, skills_of
from harness_eval.reference.transcript import read_prompt
from harness_eval.reference.turns import Turn, decide
from harness_eval.reference.writing import Utterance, utter
from harness_eval.types import Json

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
        script = self.scripts.find(situation.task)
        if script is None:
            turn = _unknown(situation, required=required)
        else:
            moment = moment_of(situation, script)
            turn = spoilt(decide(moment), moment, self.couplings, self.draw_seed(situation.seed))
        return utter(turn, situation.dialect)

    def draw_seed(self, trial_seed: int | None) -> int:
        """The seed of a trial's draws: its own, shifted by the server's."""
        return (trial_seed or 0) + (self.seed << 32)


def _unknown(situation: Situation, *, required: bool) -> Turn:
    """One sentence and the end; a tool is called only where the request names one to call, or a call is required."""
    thinking = "I do not know this task."
    asked = [offer for offer in situation.offers if f" {offer.name} " in f" {situation.task} ".replace("`", " ")]
    if situation.turns or not (required or asked):
        skill = skills_of(situation.offers).get("submit")
        ends = sum(turn.called for turn in situation.turns) < 2
        return Turn("end", _UNKNOWN, thinking, skill.call(_UNKNOWN) if skill and ends else None)
    offer = (asked or list(situation.offers))[0]
    return Turn("work", "I do what is asked.", thinking, Call(offer.name, completed(offer, {}, situation.task[:80])))
