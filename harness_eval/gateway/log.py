"""Exchanges as the lines of a wire log, in the dialect of chat completions, whichever wire they came over."""

from __future__ import annotations

from harness_eval import recording
from harness_eval.gateway.chat import Chat
from harness_eval.gateway.exchange import Exchange
from harness_eval.gateway.wires import Asked
from harness_eval.types import Json


def line(exchange: Exchange) -> bytes:
    """One line, its newline included; there is no header and no key in it."""
    return recording.dump(as_entry(exchange)) + b"\n"


def as_entry(exchange: Exchange) -> dict[str, Json]:
    """An exchange as an object: request and response as a server of chat completions would have had them."""
    asked = exchange.asked
    return {
        "number": exchange.number,
        "wire": exchange.wire,
        "began": round(exchange.began, 3),
        "seconds": round(exchange.seconds, 3),
        "delivered": exchange.delivered,
        "settings": dict(asked.settings),
        "untranslated": list(asked.untranslated),
        "request": _request(asked),
        "response": {"status": exchange.status, "body": _response(exchange)},
    }


def _request(asked: Asked) -> Json:
    """None where the body could not be read."""
    request = asked.request
    if not request.messages:
        return None
    body: dict[str, Json] = {"model": asked.model, "messages": list(request.messages)}
    body |= {"tools": list(request.tools)} if request.tools else {}
    body |= {"stop": list(request.stop)} if request.stop else {}
    return body if request.parallel else {**body, "parallel_tool_calls": False}


def _response(exchange: Exchange) -> Json:
    if exchange.reply is None:
        return {"error": {"message": exchange.refused}}
    # The names that the endpoint heard, not those of the wire.
    return Chat().whole(exchange.reply, Asked(exchange.asked.request, exchange.asked.model, streamed=False))
