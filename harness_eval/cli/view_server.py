"""A small server for one run's folder: on this machine only, and it only reads.

It answers GET and HEAD, for addresses that it made itself, to whoever asks it by the name of this machine: a page
elsewhere whose name was made to point here is refused by the Host header. Names of trials are looked up among those of
the run and are never paths. No page has a script, but for the run's own report, which may have its own and can reach
nothing with it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from harness_eval.errors import HarnessEvalError, boundary
from harness_eval.report.trajectory_pages import REPORT, Pages, Query, style

HOST = "127.0.0.1"
_NAMES = (HOST, "localhost")
_FIELDS = 20  # in one address
_IDLE = 30.0  # seconds that a connection may say nothing
_OWN = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
_OF_REPORT = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; form-action 'none'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Server(ThreadingHTTPServer):
    """Serves the pages of one run on 127.0.0.1; port 0 is any that is free.

    Raises:
        OSError: the port is taken.
    """

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128  # connections that wait; beyond them a browser tries again after seconds

    def __init__(self, folder: Path, port: int = 0) -> None:
        self.pages = Pages(folder)
        super().__init__((HOST, port), _Handler)

    @property
    def address(self) -> str:
        """Where it is reached."""
        return f"http://{HOST}:{self.server_port}"

    @property
    def names(self) -> frozenset[str]:
        """What a Host header may say."""
        return frozenset(f"{name}:{self.server_port}" for name in _NAMES)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader that went away is nothing to tell of; anything else is one line."""
        del request, client_address
        error = sys.exception() if sys.version_info >= (3, 12) else sys.exc_info()[1]
        if not isinstance(error, OSError):
            print(f"view: {type(error).__name__}", file=sys.stderr)


class _Handler(BaseHTTPRequestHandler):
    server: Server
    server_version = "harness-eval"
    sys_version = ""
    timeout = _IDLE

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def refuse(self) -> None:
        """Answer any method that would change something."""
        self._problem(HTTPStatus.METHOD_NOT_ALLOWED, "this server only reads", {"Allow": "GET, HEAD"})

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it
        """Requests are nobody's business."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the base class refuses, such as a line that is too long, looks like any other refusal."""
        del explain
        self._problem(HTTPStatus(code), message or "")

    def _answer(self) -> None:
        if self.headers.get_all("Host", []) not in [[name] for name in self.server.names]:
            # it may be a page elsewhere that asks, so that not even the run's name is said
            self._send(HTTPStatus.FORBIDDEN, f"this server answers to {self.server.address} only\n", "text/plain")
            return
        try:
            split = urlsplit(self.path)
            fields = parse_qs(split.query, max_num_fields=_FIELDS)
            if split.netloc:
                raise ValueError(split.netloc)  # another host than the header says
        except ValueError:
            self._problem(HTTPStatus.BAD_REQUEST, "this address cannot be read")
            return
        try:
            with boundary("harness"):
                self._route(split.path, {name: values[-1] for name, values in fields.items()})
        except HarnessEvalError as error:
            self._problem(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))

    def _route(self, path: str, given: Mapping[str, str]) -> None:
        pages = self.server.pages
        if path == "/style.css":
            self._send(HTTPStatus.OK, style(), "text/css")
        elif path == "/report":
            self._report()
        elif path == "/":
            self._send(HTTPStatus.OK, pages.listed(Query.of(given)))
        elif path in ("/trial", "/pair"):
            names = [given.get(name, "") for name in (("name",) if path == "/trial" else ("left", "right"))]
            html = pages.trial(*names) if path == "/trial" else pages.pair(*names)
            if html is None:
                self._problem(HTTPStatus.NOT_FOUND, f"no trial {' or '.join(map(repr, names))} in this run")
            else:
                self._send(HTTPStatus.OK, html)
        else:
            self._problem(HTTPStatus.NOT_FOUND, "there is no such page")

    def _report(self) -> None:
        try:
            text = (self.server.pages.folder / REPORT).read_text(errors="replace")
        except OSError:
            self._problem(HTTPStatus.NOT_FOUND, "this run has no report yet; `harness-eval report` writes it")
        else:
            self._send(HTTPStatus.OK, text, policy=_OF_REPORT)

    def _problem(self, status: HTTPStatus, text: str, headers: Mapping[str, str] | None = None) -> None:
        self._send(status, self.server.pages.problem(status.phrase, text), headers=headers)

    def _send(
        self,
        status: HTTPStatus,
        text: str,
        kind: str = "text/html",
        policy: str = _OWN,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        body = text.encode("utf-8", "replace")
        self.send_response(status)
        told = {"Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(len(body))}
        for name, value in {**_HEADERS, **told, "Content-Security-Policy": policy, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


for _method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"):
    setattr(_Handler, f"do_{_method}", _Handler.refuse)
