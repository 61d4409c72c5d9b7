"""The couplings that can be planted in the scripted agent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from harness_eval.reference.coupling import COUPLINGS, Coupling
from harness_eval.reference.moment import Moment
from harness_eval.reference.planted import planted
from harness_eval.reference.progress import How, Progress
from harness_eval.reference.reading import BARE_COMMANDS
from harness_eval.reference.skills import Call, Skill
from harness_eval.reference.turns import Turn, end, ways_now

_MANY_TOOLS = 20  # between a few unrelated tools beside the largest toolset (16) and many beside the smallest (25)
_DETOURS = 3
_LAST_TRY: How = "again twice"
_TRAINED_ROLES = {
    "command": "command",
    "verb": "command",
    "path": "path",
    "text": "file_text",
    "old": "old_str",
    "new": "new_str",
    "patch": "patch",
    "edits": "edits",
    "keys": "commands",
}
_VERBS = {"read": "view", "write": "create", "replace": "str_replace", "edits": "str_replace", "patch": "str_replace"}


def make_couplings(strengths: Mapping[str, float]) -> tuple[Coupling, ...]:
    """The couplings of these names and strengths.

    Raises:
        ConfigError: an unknown name (with the nearest known), or a strength outside of 0..1.
    """
    return planted("coupling", COUPLINGS, strengths)


def _direct(turn: Turn, moment: Moment) -> tuple[Call, Skill] | None:
    """The most direct call for the work of this turn with its tool; None where names play no part."""
    if turn.purpose != "work" or moment.situation.dialect in BARE_COMMANDS:
        return None
    call = ways_now(moment)[0]
    return call, next(skill for skill in moment.skills.values() if skill.offer.name == call.name)


def _gives_up(moment: Moment) -> bool:
    return moment.here.how == _LAST_TRY or moment.here.form == "stopped"


class NativeCallsOnly(Coupling):
    """Knows no calls but native ones.

    Where calls are text it writes them in a markup of its own, which no protocol reads, and gives up after three tries.
    """

    hits: ClassVar = {
        "protocol": (
            "json-text",
            "xml-json",
            "xml-function",
            "dsml",
            "fenced-bash",
            "python-code",
            "typescript-code",
            "worked-completion",
            "worked-json-text",
            "worked-fenced-bash",
        )
    }

    def spoil(self, turn: Turn, moment: Moment, luck: float) -> Turn:
        """The call as words that are no call."""
        if turn.call is None or moment.situation.dialect == "native":
            return turn
        if _gives_up(moment):
            return replace(end(moment, "My calls are not answered"), call=None)
        arguments = ", ".join(f"{name}: {value!r}" for name, value in turn.call.arguments.items())
        return replace(turn, text=f"{turn.text}\n\n[call {turn.call.name} ({arguments})]", call=None)


class TrainedToolNames(Coupling):
    """Knows only the names bash and str_replace_editor.

    Work that is offered under another name it asks of the trained name all the same, and gives up after three tries.
    """

    hits: ClassVar = {
        "toolset": (
            "pascal-case",
            "snake-case",
            "camel-case",
            "path-old-text",
            "verb-noun",
            "apply-patch",
            "opaque-aliases",
        )
    }

    def spoil(self, turn: Turn, moment: Moment, luck: float) -> Turn:
        """The same call under the trained name."""
        direct = _direct(turn, moment)
        if direct is None:
            return turn
        call, skill = direct
        name = "str_replace_editor" if skill.kind in _VERBS or skill.kind == "editor" else "bash"
        if call.name == name:
            return turn
        if _gives_up(moment):
            return end(moment, f"The tool {name} does not work")
        values = _by_role(call, skill)
        if skill.kind in _VERBS:
            values = {"verb": _VERBS[skill.kind], **values}
        return replace(turn, call=Call(name, {_TRAINED_ROLES[role]: value for role, value in values.items()}))


class TrainedParameterNames(Coupling):
    """Knows only the parameter names command, path, file_text, old_str and new_str, whatever the tool wants.

    It gives up after three tries.
    """

    hits: ClassVar = TrainedToolNames.hits

    def spoil(self, turn: Turn, moment: Moment, luck: float) -> Turn:
        """The same call with the trained names."""
        direct = _direct(turn, moment)
        if direct is None:
            return turn
        call, skill = direct
        trained = {skill.roles[role].name: _TRAINED_ROLES[role] for role in _by_role(call, skill)}
        if all(name == own for name, own in trained.items()):
            return turn
        if _gives_up(moment):
            return end(moment, f"The tool {call.name} refuses my arguments")
        arguments = {trained.get(name, name): value for name, value in call.arguments.items()}
        return replace(turn, call=Call(call.name, arguments))


def _by_role(call: Call, skill: Skill) -> dict[str, object]:
    return {
        role: call.arguments[parameter.name]
        for role, parameter in skill.roles.items()
        if parameter.name in call.arguments and role in _TRAINED_ROLES
    }


class TruncationGivesUp(Coupling):
    """Takes a result with a truncation notice for the whole of it and ends there, with its work partly done.

    A cut that is not announced does not touch it, and neither does one after its last change.
    """

    hits: ClassVar = {"truncation": ("middle", "head", "tail", "fifth-head", "last-lines", "preview-and-file")}

    def spoil(self, turn: Turn, moment: Moment, luck: float) -> Turn:
        """The end, as soon as a cut result is the newest."""
        if turn.purpose != "words" and moment.result and moment.result.cut:
            return end(moment, "The output holds nothing else, so this is all there is to do")
        return turn


class LostAfterCompaction(Coupling):
    """Takes the summary of its own work for the final report and ends there, with its work partly done."""

    hits: ClassVar = {"context": ("summary",)}

    def spoil(self, turn: Turn, moment: Moment, luck: float) -> Turn:
        """The end, as soon as a summary is seen."""
        if turn.purpose != "words" and moment.situation.summarised:
            return end(moment, "As the summary says, the work is done")
        return turn


class NeedsThinking(Coupling):
    """Without its earlier reasoning it deliberates in the visible text, acts no more, and so ends.

    The more of its visible turns lack their reasoning, the surer it drifts: it does when the draw is below strength
    times that share. So at strength 1 no reasoning at all (left out or empty) is always fatal, and keeping that of the
    newest turn alone is less harmful than dropping all. Reasoning shown as text counts as shown.
    """

    hits: ClassVar = {"thinking": ("drop", "empty", "last")}

    def spoil(self, turn: Turn, moment: Moment, luck: float) -> Turn:
        """Deliberation without a call."""
        if turn.purpose == "words" or luck >= self.strength * self.lacking(moment):
            return turn
        said = "Wait. Did I check this already? I would have to think it over again. One thing, or perhaps another."
        return Turn("end", said, "")

    @staticmethod
    def lacking(moment: Moment) -> float:
        """The share of its visible turns with a call that lack their reasoning."""
        turns = [own for own in moment.situation.turns if own.called]
        return sum(not own.thinking for own in turns) / len(turns) if turns else 0.0


class NeedsTodo(Coupling):
    """Without a todo list it loses sight of all goals of a task but the first; tasks of one goal do not touch it."""

    hits: ClassVar = {"planning": ("unplanned", "plan-first", "plan-field", "reflect")}

    def spoil(self, turn: Turn, moment: Moment, luck: float) -> Turn:
        """The end, where the second goal would begin."""
        goals = moment.script.plan.goals
        if "todo" in moment.skills or len(goals) < 2 or turn.purpose == "words" or moment.here.done:
            return turn
        if moment.step.goal in (None, goals[0]) and moment.here.form != "stopped":
            return turn
        return end(moment, f"With {goals[0]} done, the task is done")


class WandersWithManyTools(Coupling):
    """With more than twenty tools it tries some that have nothing to do with the task and forgets what it was at.

    Before its second step it makes three such calls, then it tells what they brought and ends.
    """

    hits: ClassVar = {"distractors": ("many", "crowd")}

    def spoil(self, turn: Turn, moment: Moment, luck: float) -> Turn:
        """A detour, or the end after the last one."""
        useful = {skill.offer.name for kind, skill in moment.skills.items() if kind != "other"}
        others = [offer for offer in moment.situation.offers if offer.name not in useful]
        if len(moment.situation.offers) <= _MANY_TOOLS or moment.here.step < 2 or turn.purpose == "words" or not others:
            return turn
        number = max((int(n) for m in moment.situation.memories() for n in re.findall(r"Detour (\d+)\b", m)), default=0)
        if number >= _DETOURS or moment.here.ended:
            return end(moment, "I looked at many things and found nothing else to do")
        place = Progress(moment.here.step, moment.here.of, moment.here.how, moment.here.values)
        offer = others[int(luck * 997 + number) % len(others)]
        call = Skill("other", offer, {}).call("I wonder what this shows.")
        return Turn("work", f"Detour {number + 1}. {place.line()}. I try {offer.name} first.", turn.thinking, call)


class NeverSubmits(Coupling):
    """Knows only one end: an answer without a call, with the last piece of work told in it.

    Under another rule it says so before its last change instead of making it, and says it again whenever it is asked
    to go on; so the work stays undone, which a verifier of files sees, however the trial is ended.
    """

    hits: ClassVar = {"stopping": ("submit-tool", "confirm-twice", "sentinel")}

    def spoil(self, turn: Turn, moment: Moment, luck: float) -> Turn:
        """The closing words, from the last change on."""
        ends_by_call = "submit" in moment.skills or bool(moment.situation.sentinel)
        steps = moment.script.plan.steps
        changes = [number for number, step in enumerate(steps, 1) if step.kind in ("create", "edit")]
        last_change = changes[-1] if changes else 2
        if not ends_by_call or turn.purpose == "words" or moment.here.step < last_change:
            return turn
        said = "All that is left is to be changed as I said; with that the task is done"
        return replace(end(moment, said), call=None)
