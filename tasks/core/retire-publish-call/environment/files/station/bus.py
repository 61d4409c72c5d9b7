"""The bus on which all parts of the station send what they measure."""

import warnings
from dataclasses import dataclass

SENT = []


@dataclass
class Message:
    """What is sent; the bus gives it its number."""

    topic: str
    body: object
    number: int = 0


def emit(message, *, keep=False):
    """Send the message and return it; `keep` lets the bus remember it for those who come later."""
    SENT.append((message.topic, message.body, keep))
    message.number = len(SENT)
    return message


def publish(topic, payload, retain=False):
    """Deprecated: send something and return its number."""
    warnings.warn("publish is deprecated, use emit", DeprecationWarning, stacklevel=2)
    return emit(Message(topic, payload), keep=retain).number


def forget():
    """Forget all that was sent."""
    SENT.clear()
