"""Answers messages."""

import json

from shelf.books import METHODS, Books, Problem
from shelf.frames import read_frame, write_frame


def refusal(code, text, known=None):
    """The reply to what is no request."""
    return {"jsonrpc": "2.0", "id": known, "error": {"code": code, "message": text}}


def is_id(value):
    """Whether a request can have this id."""
    return value is None or (isinstance(value, (str, int, float)) and not isinstance(value, bool))


def is_message(message):
    """Whether it is a request or a notification."""
    return (
        isinstance(message, dict)
        and message.get("jsonrpc") == "2.0"
        and isinstance(message.get("method"), str)
        and isinstance(message.get("params", {}), dict)
        and is_id(message.get("id"))
    )


class Server:
    """One client's session."""

    def __init__(self, source, target):
        self.source, self.target = source, target
        self.books = Books()
        self.over = False

    def serve(self):
        """Answer until the end; the exit status."""
        while not self.over:
            body = read_frame(self.source)
            if body is None:
                break
            try:
                message = json.loads(body.decode())
            except (ValueError, RecursionError):
                reply = refusal(-32700, "no JSON")
            else:
                reply = self.answer(message)
            if reply is not None:
                write_frame(self.target, json.dumps(reply, ensure_ascii=False))
        return 0

    def answer(self, message):
        """The reply to a message or a batch, None if there is none."""
        if isinstance(message, list) and message:
            return [reply for reply in map(self.answer_one, message) if reply] or None
        return self.answer_one(message)

    def answer_one(self, message):
        """The reply to one message, None to a notification."""
        if not is_message(message):
            known = message.get("id") if isinstance(message, dict) else None
            return refusal(-32600, "no request", known if is_id(known) else None)
        try:
            reply = {"result": self.call(message["method"], message.get("params", {}))}
        except Problem as problem:
            reply = {"error": {"code": problem.code, "message": str(problem)}}
        return {"jsonrpc": "2.0", "id": message["id"], **reply} if "id" in message else None

    def call(self, method, params):
        """Carry out a method."""
        if method == "exit":
            self.over = True
            return None
        if method not in METHODS:
            raise Problem(-32601, f"no method {method}")
        return getattr(self.books, method)(params)
