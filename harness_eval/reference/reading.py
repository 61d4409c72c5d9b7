"""A request as its reader understands it: the task, what is offered, how to call, what was done, what is asked now."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from harness_eval.reference.offers import Offer, Parameter, described_offers, native_offers
from harness_eval.reference.results import Result, unframed
from harness_eval.reference.surroundings import folder_named, shows_calls, without_reminders
from harness_eval.types import Json

_DIALECTS: tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (name, re.compile(example), re.compile(call, re.MULTILINE))
    for name, example, call in (
        ("dsml", r"<｜DSML｜invoke", r"<｜DSML｜invoke "),
        ("xml-function", r"<function=", r"<function=\S"),
        ("xml-json", r"<tool_call>", r"<tool_call>"),
        ("fenced-bash", r"```bash", r"^```(?:bash|sh|shell)$"),
        ("python-code", r"```python", r"^```(?:python|py)$"),
        ("typescript-code", r"```typescript", r"^```(?:typescript|ts)$"),
        ("json-text", r'\{"tool":', r'\{\s*"tool"\s*:'),
    )
)
"""Each text dialect: its name, what its example in the system prompt holds, and what a call in a reply holds."""


SHELL = Offer("bash", "Run a shell command.", (Parameter("command", "The shell command to run."),))
"""The one tool where a turn is a bare command."""

BARE_COMMANDS = ("fenced-bash", "command-line")
"""The dialects in which a turn is a command and no tool or parameter has a name."""

_NEXT = "\n\nNext task: "
_THOUGHT = re.compile(r"<(think|thinking)>.*?</\1>\s*", re.DOTALL)
_SENTINEL = re.compile(r"\becho ['\"]?([A-Z][A-Z0-9_]{7,})\b")
_SUMMARY_WANTED = re.compile(r"\b(?:write|give|make|produce|create|provide)\b[^.]*\bsummar", re.IGNORECASE)
_PLAN_WANTED = re.compile(r"\bplan\b", re.IGNORECASE)
_WITHOUT_CALL = re.compile(r"\bin words\b|\b(?:no|any) tools?\b|\bdo not (?:call|use|act)\b", re.IGNORECASE)

SUMMARY_OPENING = "This is what was done on the task until now."
"""How the agent begins every summary, so that it knows one again in whatever way it is put back."""


@dataclass(slots=True)
class Turn:
    """One own message: what was said and thought (None: no thinking is shown), and what came back, notes last."""

    text: str
    thinking: str | None
    called: bool
    results: list[Result] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Situation:
    """All that one request says.

    `opening` holds what the user said after the task and before the first own message. `dialect` is how calls are
    written: native, one of the text dialects, command-line (on the completions wire), or "" where no call can be made.
    """

    system: str = ""
    task: str = ""
    offers: tuple[Offer, ...] = ()
    dialect: str = ""
    opening: list[str] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    seed: int | None = None

    @property
    def notes(self) -> list[str]:
        """What the user said last, after the newest own message and its results."""
        return self.turns[-1].notes if self.turns else self.opening

    @property
    def sentinel(self) -> str:
        """The word whose printing ends the work, or ""."""
        match = _SENTINEL.search(self.system) or _SENTINEL.search(self.task)
        return match[1] if match else ""

    @property
    def asks_summary(self) -> bool:
        """Whether the conversation is about to be shortened and a summary is wanted."""
        wanted = map(without_reminders, self.notes)
        return any(_SUMMARY_WANTED.search(note) and SUMMARY_OPENING not in note for note in wanted)

    @property
    def asks_plan(self) -> bool:
        """Whether a plan in words is wanted, before any call."""
        wanted = map(without_reminders, self.notes)
        return any(_PLAN_WANTED.search(note) and _WITHOUT_CALL.search(note) for note in wanted)

    @property
    def folder(self) -> str:
        """The working directory as far as it is told, or ""."""
        return folder_named((self.system, self.task, *self.opening))

    @property
    def summarised(self) -> bool:
        """Whether a summary stands for a part of the conversation."""
        return any(SUMMARY_OPENING in text for text in self.memories())

    def memories(self) -> Iterator[str]:
        """Everything in which the agent can find its own words, newest first; never a tool's result."""
        for turn in reversed(self.turns):
            yield from reversed(turn.notes)
            yield turn.text
        yield from reversed(self.opening)


def read_request(body: Mapping[str, Json]) -> Situation:
    """What a chat-completions body says."""
    messages = [message for message in body.get("messages") or () if isinstance(message, dict)]
    system = "\n\n".join(_text(m) for m in messages if m.get("role") in ("system", "developer"))
    situation = Situation(system, seed=body.get("seed"))
    native = native_offers(body.get("tools"))
    situation.dialect = "native" if native else _dialect(system)
    situation.offers = native or ((SHELL,) if situation.dialect in BARE_COMMANDS else described_offers(system))
    for message in messages:
        _take(situation, message)
    return situation


def _take(situation: Situation, message: Mapping[str, Json]) -> None:
    role, text = message.get("role"), _text(message)
    turn = situation.turns[-1] if situation.turns else None
    if role == "assistant":
        situation.turns.append(_own(message, text, situation.dialect))
    elif role == "tool" and turn:
        turn.results.append(unframed(text))
    elif role != "user":
        return
    elif not situation.task:
        situation.task = text
    elif _NEXT in text:
        situation.task, situation.turns = text.partition(_NEXT)[2], []  # what came before were examples
    elif turn is None:
        situation.opening.append(text)
    elif turn.called and not turn.results:
        turn.results.append(unframed(text))
    else:
        turn.notes.append(text)


def _own(message: Mapping[str, Json], text: str, dialect: str) -> Turn:
    thinking = message.get("reasoning_content", message.get("reasoning"))
    said = _THOUGHT.sub("", text)
    if thinking is None and said != text:
        thinking = text  # a harness may show earlier reasoning as text
    marks = {name: call for name, _, call in _DIALECTS}
    written = dialect in marks and bool(marks[dialect].search(said))
    called = bool(message.get("tool_calls")) or written or (dialect == "native" and shows_calls(said))
    return Turn(said, thinking, called)


def _dialect(system: str) -> str:
    return next((name for name, example, _ in _DIALECTS if example.search(system)), "")


def _text(message: Mapping[str, Json]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
