"""What a wire is: a dialect of HTTP in which a harness asks a model, read into `Request` and written from `Reply`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

from harness_eval.types import Json, Reply, Request

WireName: TypeAlias = Literal["chat", "responses", "messages"]
Refused: TypeAlias = Literal[
    "overflow", "invalid", "unavailable", "down", "over-budget", "unauthorized", "unknown", "too-large"
]
"""Why there is no reply: `unavailable` is what a later request may get over, `down` and `over-budget` are final."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it came over a wire, in the dialect of this package.

    `settings` has what was asked of sampling and thinking and is recorded, not sent on: the endpoint's own
    configuration decides that. `untranslated` says in words what could not be carried over, each once.
    `aliases` leads from a tool's name in `request` to what its calls must say on this wire, where that differs.
    """

    request: Request
    model: str
    streamed: bool
    settings: Mapping[str, Json] = field(default_factory=dict)
    untranslated: tuple[str, ...] = ()
    aliases: Mapping[str, Json] = field(default_factory=dict)


class Wire(ABC):
    """One dialect. Its methods are pure; a streamed reply is written from the whole one."""

    name: ClassVar[WireName]
    path: ClassVar[str]  # below the base URL, such as "/v1/messages"
    alive: ClassVar[bytes] = b": waiting\n\n"  # what keeps a stream open before its first event
    in_stream: ClassVar[frozenset[Refused]] = frozenset()  # what a streamed request is told inside of a stream

    @abstractmethod
    def read(self, body: Mapping[str, Json]) -> Asked:
        """The request that a body means.

        Raises:
            ValueError: it has no shape of this dialect; the message names the key.
        """

    @abstractmethod
    def whole(self, reply: Reply, asked: Asked) -> Json:
        """The body of a reply that is not streamed."""

    @abstractmethod
    def events(self, reply: Reply, asked: Asked) -> Iterator[bytes]:
        """The server-sent events of a streamed reply, each with its empty line."""

    @abstractmethod
    def refusal(self, kind: Refused, message: str) -> tuple[int, Json]:
        """Status and body of an error as the dialect's own server words it, so that harnesses react as they would."""

    @abstractmethod
    def broken_off(self, kind: Refused, message: str) -> bytes:
        """The server-sent events of an error once a stream has begun, with all that ends the stream."""

    def lost(self, reply: Reply, asked: Asked) -> tuple[str, ...]:
        """What of a reply this wire cannot carry as it was, in words; most wires carry all."""
        del reply, asked
        return ()
