"""Answers messages."""

import json

from shelf.books import METHODS, Books, Problem
from shelf.frames import read_frame, write_frame


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
            reply = self.answer(json.loads(body))
            if reply is not None:
                write_frame(self.target, json.dumps(reply, ensure_ascii=False))
        return 0

    def answer(self, message):
        """The reply to a message or a batch, None if there is none."""
        if isinstance(message, list):
            return [reply for reply in map(self.answer_one, message) if reply]
        return self.answer_one(message)

    def answer_one(self, message):
        """The reply to one message."""
        reply = {"jsonrpc": "2.0", "id": message.get("id")}
        try:
            reply["result"] = self.call(message["method"], message.get("params", {}))
        except Problem as problem:
            reply["error"] = {"code": problem.code, "message": str(problem)}
            return reply
        return reply if message.get("id") else None

    def call(self, method, params):
        """Carry out a method."""
        if method == "exit":
            self.over = True
            return None
        if method not in METHODS:
            raise Problem(-32601, f"no method {method}")
        return getattr(self.books, method)(params)
