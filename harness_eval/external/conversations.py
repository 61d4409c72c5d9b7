"""Which of a harness's requests belong together: its main conversation, what goes on beside it, and summaries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from harness_eval.external.heard import Heard
from harness_eval.gateway.exchange import Exchange

_SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)
_TELLING = 40  # characters: a shorter line may stand anywhere by chance


@dataclass(slots=True)
class Conversation:
    """Requests of which each continues the one before. `replaced` has those that begin with another history, `again`
    those that ask the same once more."""

    turns: list[Heard] = field(default_factory=list)
    replaced: set[int] = field(default_factory=set)
    again: set[int] = field(default_factory=set)

    @property
    def answered(self) -> list[Heard]:
        """The turns that have a reply."""
        return [turn for turn in self.turns if turn.reply is not None]

    def take(self, turn: Heard) -> bool:
        """Whether this request belongs here; if so it does from now on."""
        if not self.turns:
            self.turns.append(turn)
            return True
        last, number = self.turns[-1], turn.exchange.number
        if turn.keys == last.keys and turn.tools == last.tools:
            self.again.add(number)
        elif not self._goes_on(turn):
            if not self._begins_anew(turn):
                return False
            self.replaced.add(number)
        self.turns.append(turn)
        return True

    def _goes_on(self, turn: Heard) -> bool:
        """Whether a request shows the last reply, or what was asked last and more."""
        newest = next((each.reply for each in reversed(self.turns) if each.reply is not None), None)
        if newest is not None and turn.echo(newest) is not None:
            return True
        last = self.turns[-1]
        return turn.tools == last.tools and turn.keys[: len(last.keys)] == last.keys

    def _begins_anew(self, turn: Heard) -> bool:
        """Whether a request of the same harness, with the same tools, tells a summary instead of the history."""
        return (
            bool(turn.tools)
            and turn.tools == self.turns[0].tools
            and len(self.answered) > 1
            and (turn.system == self.turns[0].system or any(tells(turn, each) for each in self.answered))
        )


@dataclass(frozen=True, slots=True)
class Talk:
    """All exchanges of a trial, sorted: each is in the main conversation, among the summaries, or beside both.

    `summaries` has, by the number of the first request of the main conversation that tells it, the exchange in which a
    summary was asked for, which may have been a turn of that conversation.
    """

    main: Conversation
    summaries: dict[int, Heard]
    beside: tuple[Heard, ...]

    @property
    def every(self) -> list[Heard]:
        """All of them in the order of their requests, each once."""
        found = {turn.exchange.number: turn for turn in (*self.main.turns, *self.summaries.values(), *self.beside)}
        return [found[number] for number in sorted(found)]

    def is_summary(self, turn: Heard) -> bool:
        """Whether this is where a summary was asked for."""
        return any(turn is each for each in self.summaries.values())


def sorted_out(exchanges: Sequence[Exchange], instruction: str) -> Talk:
    """The exchanges of one trial by what they are for."""
    found: list[Conversation] = []
    for turn in map(Heard, sorted(exchanges, key=lambda each: each.number)):
        for conversation in reversed(found):
            if conversation.take(turn):
                break
        else:
            found.append(Conversation([turn]))
    if not found:
        return Talk(Conversation(), {}, ())
    main = max(found, key=lambda each: _importance(each, instruction))
    summaries = _summaries(main, [turn for each in found for turn in each.answered])
    asked = {turn.exchange.number for turn in summaries.values()}
    beside = [turn for each in found if each is not main for turn in each.turns]
    return Talk(main, summaries, tuple(turn for turn in beside if turn.exchange.number not in asked))


def _importance(conversation: Conversation, instruction: str) -> tuple[bool, bool, int, int]:
    first = conversation.turns[0]
    told = " ".join(instruction.split()) in " ".join(first.said.split())
    tools = any(turn.tools for turn in conversation.turns)
    return told, tools, len(conversation.answered), -first.exchange.number


def tells(turn: Heard, earlier: Heard) -> bool:
    """Whether a request says by itself what an earlier reply said, which is then a summary."""
    reply = earlier.reply
    if reply is None or reply.calls:
        return False
    inner = _SUMMARY.search(reply.text)
    lines = [line.strip() for line in (inner[1] if inner else reply.text).splitlines()]
    longest = max(lines, key=len, default="")
    return len(longest) >= _TELLING and longest in turn.said


def _summaries(main: Conversation, answered: Sequence[Heard]) -> dict[int, Heard]:
    found: dict[int, Heard] = {}
    for earlier in answered:
        later = [turn for turn in main.turns if turn.exchange.number > earlier.exchange.number]
        first = next((turn for turn in later if tells(turn, earlier)), None)
        if first is not None:
            found[first.exchange.number] = earlier
    return found
