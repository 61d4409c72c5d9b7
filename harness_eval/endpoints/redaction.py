"""What must never be recorded: the key and the headers' values, wherever a server repeats them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping

from harness_eval.errors import redact
from harness_eval.types import RawCall, Reply

_SHORTEST = 8  # a shorter value is no secret worth breaking a reply for


def secrets_of(key: str | None, headers: Mapping[str, str]) -> tuple[str, ...]:
    """What may appear nowhere, the longest first: one may be a part of another."""
    return tuple(sorted({secret for secret in (key, *headers.values()) if secret}, key=lambda text: (-len(text), text)))


def cleaner(secrets: Iterable[str]) -> Callable[[str], str]:
    """A function that takes these secrets out of a text, and all that looks like a credential."""
    kept = tuple(secrets)

    def clean(text: str) -> str:
        for secret in kept:
            text = text.replace(secret, "[redacted]")
        return redact(text)

    return clean


def without_secrets(reply: Reply, secrets: Iterable[str]) -> Reply:
    """The reply, should it repeat a secret, without it: a reply is recorded and shown."""
    for secret in secrets:
        if len(secret) >= _SHORTEST and secret in f"{reply.text}{reply.thinking}{reply.calls}":
            calls = tuple(
                RawCall(*(part.replace(secret, "[redacted]") for part in (call.id, call.name, call.arguments)))
                for call in reply.calls
            )
            thinking = reply.thinking.replace(secret, "[redacted]") if reply.thinking else reply.thinking
            text = reply.text.replace(secret, "[redacted]")
            reply = dataclasses.replace(reply, text=text, thinking=thinking, calls=calls)
    return reply
