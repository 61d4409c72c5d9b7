"""One request of a harness through the gateway, with what became of it."""

from __future__ import annotations

from dataclasses import dataclass

from harness_eval.gateway.wires import Asked, WireName
from harness_eval.types import Reply


@dataclass(frozen=True, slots=True)
class Exchange:
    """What was asked over which wire, and the reply; or, where there is none, `status` and `refused` in words.

    `began` and `seconds` are in seconds, the former since the trial's gateway was opened; `bytes_in` is the length of
    the request's body. `delivered` is False where the harness hung up before it had the whole reply.
    """

    number: int
    wire: WireName
    asked: Asked
    began: float
    seconds: float
    bytes_in: int
    reply: Reply | None = None
    status: int = 200
    refused: str = ""
    delivered: bool = True
