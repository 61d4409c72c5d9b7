"""Every noun of the package, as frozen records. Read this file first.

A trajectory is an append-only list of events and holds no wire format. A call and its observation live in the same
step, so an orphan of either cannot exist. What a model is shown is a `View` of the record; the record is never edited.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, TypeAlias

Json: TypeAlias = Any  # what json.loads returns; spelled out nowhere because Python cannot check it usefully
Message: TypeAlias = dict[str, Json]
Owner: TypeAlias = Literal["endpoint", "sandbox", "task", "harness"]


def estimate_tokens(text: str) -> int:
    """Tokens of a text where no server has counted them: a quarter of its characters, rounded up."""
    return (len(text) + 3) // 4


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request or of many: prompt (cached ones included), completion (reasoning included)."""

    prompt: int = 0
    completion: int = 0
    reasoning: int = 0
    cached: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, name) + getattr(other, name) for name in Usage.__slots__))

    @property
    def total(self) -> int:
        """Prompt and completion tokens together."""
        return self.prompt + self.completion


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that could be read: `id` is the server's (never a key), `arguments` the parsed object."""

    id: str
    name: str
    arguments: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Malformed:
    """A call that was meant but cannot be read: what was written, what is wrong, whether it breaks off at its end."""

    id: str
    name: str
    raw: str
    reason: str
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Action:
    """What the model said and asked for in one turn. `thinking` is None when none came (or none is shown)."""

    text: str = ""
    thinking: str | None = None
    calls: tuple[ToolCall, ...] = ()
    malformed: tuple[Malformed, ...] = ()


@dataclass(frozen=True, slots=True)
class Observation:
    """What one call brought: the text as shown, its length in characters before any cut, whether the call failed.

    `refused` means that the harness answered by itself and no tool ran.
    """

    shown: str
    full_length: int
    failed: bool = False
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One turn: the action and one observation for each of `action.calls`, then for each of `action.malformed`.

    `seconds` is the time of endpoint and tools together, `digest` the request's SHA-256, `reply` what came back.
    """

    action: Action
    observations: tuple[Observation, ...] = ()
    usage: Usage = Usage()
    seconds: float = 0.0
    finish_reason: str = ""
    labels: tuple[str, ...] = ()
    digest: str = ""
    reply: Reply | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """What the harness itself says between steps: a nudge, a reminder, a request for a plan, a summary put back."""

    text: str
    kind: str
    role: Literal["user", "assistant"] = "user"


@dataclass(frozen=True, slots=True)
class Compaction:
    """From here on the first `covers` events are told by `notes` instead; the events themselves stay in the record."""

    covers: int
    notes: str
    usage: Usage = Usage()
    seconds: float = 0.0
    digest: str = ""
    reply: Reply | None = None


Event: TypeAlias = Step | Note | Compaction


class StopReason(StrEnum):
    """Why a trial's agent stopped. Closed: all of these are results of the model under its harness."""

    FINISHED = "finished"
    STEPS = "steps"
    TOKENS = "tokens"
    OVERFLOW = "context-overflow"
    MALFORMED = "malformed"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Trajectory:
    """The record of a trial: the system prompt, the task's prompt, and all events in order. Append only."""

    system: str
    prompt: str
    events: tuple[Event, ...] = ()
    stop: StopReason | None = None

    def append(self, *events: Event) -> Trajectory:
        """The record with these events at its end."""
        return dataclasses.replace(self, events=self.events + events)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps alone, in order."""
        return tuple(event for event in self.events if isinstance(event, Step))

    @property
    def usage(self) -> Usage:
        """Tokens of all steps and compactions."""
        return sum((event.usage for event in self.events if not isinstance(event, Note)), Usage())


@dataclass(frozen=True, slots=True)
class View:
    """What the model is shown of a record: the same nouns, some of them shortened or left out, never reordered."""

    system: str
    prompt: str
    events: tuple[Event, ...] = ()

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps alone, in order."""
        return tuple(event for event in self.events if isinstance(event, Step))


@dataclass(frozen=True, slots=True)
class Request:
    """One request in the chat-completions dialect, before a server's quirks are applied.

    Earlier reasoning stands under the message key `reasoning_content`; the endpoint renames it to the key its server
    uses. `wire` says which API is meant: "completions" sends `prompt` instead of `messages`.
    """

    messages: tuple[Message, ...]
    tools: tuple[dict[str, Json], ...] = ()
    stop: tuple[str, ...] = ()
    parallel: bool = True
    seed: int | None = None
    max_tokens: int | None = None
    wire: Literal["chat", "completions"] = "chat"
    prompt: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 over what a model would receive: everything but the seed."""
        import orjson  # lazy: slow import

        body = {name: getattr(self, name) for name in ("messages", "tools", "stop", "parallel", "wire", "prompt")}
        return hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()


@dataclass(frozen=True, slots=True)
class RawCall:
    """A native call as the server sent it; `arguments` is the unparsed text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Reply:
    """One assembled reply. `reasoning_key` is the field its reasoning came under ("" when none came).

    `oddities` are labels of what had to be put right in it, `faults` those of the attempts that failed before it.
    """

    text: str = ""
    thinking: str | None = None
    calls: tuple[RawCall, ...] = ()
    finish_reason: str = ""
    usage: Usage = Usage()
    reasoning_key: str = ""
    oddities: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the task's verifier said: a score in 0..1; solved means a score of 1."""

    score: float
    detail: str = ""

    @property
    def solved(self) -> bool:
        """Whether the whole task counts as done."""
        return self.score >= 1.0


@dataclass(frozen=True, slots=True)
class Lost:
    """Why a trial has no verdict: whose boundary failed, what it said, and its label where there is one."""

    owner: Owner
    message: str
    label: str = ""


@dataclass(frozen=True, slots=True, order=True)
class TrialKey:
    """What makes a trial unique in a run: names of task, harness and endpoint, and the repeat (0, 1, ...)."""

    task: str
    harness: str
    endpoint: str
    repeat: int = 0

    def seed(self, study_seed: int) -> int:
        """The trial's own seed, 0 .. 2**31-1, the same for ever for one study seed.

        The harness is left out, so that all harnesses face the same draw on one task and repeat: differences between
        them stay paired.
        """
        text = f"{study_seed}\x1f{self.task}\x1f{self.endpoint}\x1f{self.repeat}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1


@dataclass(frozen=True, slots=True)
class Limits:
    """What one trial may use: turns, total tokens, and wall-clock seconds as a safety net."""

    steps: int = 60
    tokens: int = 2_000_000
    seconds: float = 1800.0


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one trial: a verdict, or a failure with its owner; never both, never neither.

    `recovered` is the verdict after going on from a call that leaked as text, where the trial had ended on one. `wire`
    has the entries of a wire log, where what was sent cannot be derived from the trajectory.
    """

    key: TrialKey
    harness_id: str
    verdict: Verdict | None = None
    failure: Lost | None = None
    trajectory: Trajectory | None = None
    acted: tuple[str, ...] = ()
    labels: Sequence[str] = ()
    usage: Usage = Usage()
    cost: float | None = None
    seconds: float = 0.0
    recovered: Verdict | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)
    wire: Sequence[Json] = ()
