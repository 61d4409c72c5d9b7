"""What a fault of a server is: a class that is data, and that changes what passes over the wire.

Deriving registers it; its name is its class name in kebab case, its docstring its documentation. The agent behind the
server never knows: a fault refuses a request, changes what the agent reads of it, or changes what is sent back.
"""

from __future__ import annotations

import hashlib
import re
from abc import ABC
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar, TypeAlias, TypeVar

import orjson

from harness_eval.diagnosis.labels import LABELS, Blame
from harness_eval.reference.planted import planted
from harness_eval.reference.wire import Spoken
from harness_eval.types import Json, Message

FAULTS: dict[str, type[Fault]] = {}
"""Every fault by name."""

EVENT_STREAM = "text/event-stream"

Chunk: TypeAlias = dict[str, Json]
_Choice = TypeVar("_Choice")


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as the server got it; `luck` in [0, 1) is drawn for it, and differs between faults."""

    body: Mapping[str, Json]
    data: bytes
    chat: bool = True
    luck: float = 0.0

    @property
    def streamed(self) -> bool:
        """Whether the reply is wanted piece by piece."""
        return bool(self.body.get("stream"))

    @property
    def wants_usage(self) -> bool:
        """Whether a stream should hold token counts."""
        options = self.body.get("stream_options")
        return isinstance(options, dict) and bool(options.get("include_usage"))

    @property
    def messages(self) -> list[Message]:
        """The messages, without those that are none."""
        return [message for message in self.body.get("messages") or () if isinstance(message, dict)]

    @property
    def functions(self) -> list[dict[str, Json]]:
        """The functions of the tools that are offered natively."""
        tools = [tool for tool in self.body.get("tools") or () if isinstance(tool, dict)]
        return [tool["function"] for tool in tools if isinstance(tool.get("function"), dict)]

    @property
    def own_turns(self) -> int:
        """How often the agent has spoken in this dialogue, as far as it is shown."""
        return sum(message.get("role") == "assistant" for message in self.messages)

    def pick(self, choices: Sequence[_Choice]) -> _Choice:
        """One of these, by luck."""
        return choices[int(self.luck * len(choices))]


@dataclass(frozen=True, slots=True)
class Answer:
    """A response on its way: its body in the pieces in which it is written.

    `delay` seconds pass before its first byte and `silence` seconds after the last one. A broken one ends with the
    connection instead of the end of its body.
    """

    pieces: tuple[bytes, ...]
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    silence: float = 0.0
    broken: bool = False


def as_json(body: Json, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """An answer that holds this value."""
    return Answer((orjson.dumps(body),), status, headers=headers or {})


@dataclass(frozen=True)
class Fault(ABC):
    """Misbehaviour that acts on a share of requests, from 0 (none) to 1 (all that it can act on).

    `shows` are the labels of which a run through it records at least one, none where nothing is wrong. `usual` is the
    strength of the bare name. Which requests it acts on follows from their bytes alone; a `transient` one draws anew
    for every attempt at the same bytes, so that a retry may pass, and at strength 1 it is an outage.
    """

    strength: float

    shows: ClassVar[tuple[str, ...]] = ()
    transient: ClassVar[bool] = False
    usual: ClassVar[float] = 1.0

    def __init_subclass__(cls) -> None:
        if not cls.__name__.startswith("_"):
            FAULTS[cls.kind()] = cls

    @classmethod
    def kind(cls) -> str:
        """The fault's name."""
        return re.sub(r"(?<=[a-z])(?=[A-Z0-9])", "-", cls.__name__).lower()

    @classmethod
    def owner(cls) -> Blame:
        """Who must act, by its first label; "none" where nothing is wrong."""
        return LABELS[cls.shows[0]].owner if cls.shows else "none"

    def refuses(self, asked: Asked) -> Answer | None:
        """What is sent instead of a reply; None where there is a reply."""
        del asked
        return None

    def reads(self, body: Mapping[str, Json], asked: Asked) -> Mapping[str, Json]:
        """What the agent gets of the request, and what its tokens are counted on."""
        del asked
        return body

    def says(self, reply: Spoken, asked: Asked) -> Spoken:
        """The reply, before it is written whole or as a stream."""
        del asked
        return reply

    def message(self, message: Message, asked: Asked) -> Message:
        """The message of a whole reply, or one delta of a stream."""
        del asked
        return message

    def whole(self, body: Chunk, asked: Asked) -> Chunk:
        """A reply in one body."""
        return changed(body, partial(self.message, asked=asked))

    def stream(self, chunks: list[Chunk], asked: Asked) -> list[Chunk]:
        """The chunks of a stream."""
        return [changed(chunk, partial(self.message, asked=asked)) for chunk in chunks]

    def frames(self, frames: list[bytes], asked: Asked) -> list[bytes]:
        """The events of a stream as bytes, the end marker among them."""
        del asked
        return frames

    def sends(self, answer: Answer, asked: Asked) -> Answer:
        """The response as it goes out."""
        del asked
        return answer


def changed(chunk: Chunk, change: Callable[[Message], Message]) -> Chunk:
    """A whole body or a chunk with the message or delta of its choices changed; plain completions have neither."""
    choices = [
        {**choice, **{key: change(choice[key]) for key in ("message", "delta") if key in choice}}
        for choice in chunk.get("choices") or ()
    ]
    return {**chunk, "choices": choices}


class Draws:
    """Decides which faults act on a request. Counts how often the same bytes came, and keeps nothing else."""

    def __init__(self, faults: Sequence[Fault], seed: int) -> None:
        self._faults, self._seed = faults, seed
        self._seen: Counter[bytes] = Counter()

    def struck(self, asked: Asked) -> list[tuple[Fault, Asked]]:
        """The faults that act on this request, each with the request that its own luck belongs to."""
        digest = hashlib.sha256(asked.data).digest()
        attempt, self._seen[digest] = self._seen[digest], self._seen[digest] + 1
        acting = []
        for fault in self._faults:
            draw = self._draw(fault, digest, attempt if fault.transient else 0)
            if draw < fault.strength:
                acting.append((fault, replace(asked, luck=draw / fault.strength)))
        return acting

    def _draw(self, fault: Fault, digest: bytes, attempt: int) -> float:
        text = f"{fault.kind()}\x1f{self._seed}\x1f{attempt}\x1f".encode() + digest
        return int.from_bytes(hashlib.sha256(text).digest()[:6], "big") / 2**48


def make_faults(strengths: Mapping[str, float]) -> tuple[Fault, ...]:
    """The faults of these names and strengths.

    Raises:
        ConfigError: an unknown name (with the nearest known), or a strength outside of 0..1.
    """
    return planted("fault", FAULTS, strengths)
