"""HTTP below the endpoints: requests as the openai package makes them, sent over aiohttp with little between.

The package makes one request for each path, with its authentication, its configuration and its headers; that one is
kept instead of being sent, and all later ones go out like it. Making each anew, and reading each response through the
package, costs several times as much as everything else that is done for a turn.
"""

from __future__ import annotations

import asyncio
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio

from harness_eval.endpoints.encoding import BadEncoding, PlainBody

if TYPE_CHECKING:
    import ssl

    import aiohttp
    import httpx2
    import openai

_LONGEST_REFUSAL = 1 << 20  # bytes; a page of an error needs no more
_CONNECT_SECONDS = 30.0
_CLOSE_SECONDS = 2.0
_IDLE_SECONDS = 5.0  # servers close idle connections, some of them soon
_OF_EACH_BODY = frozenset({"content-length", "transfer-encoding"})


@dataclass(frozen=True, slots=True)
class _Made:
    """A request as the package makes it; `proxy` is what the environment puts before its server."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    proxy: str | None = field(repr=False)


@dataclass(slots=True)
class Client:
    """Connections to the server of one base URL; retries nothing and follows no redirect."""

    base_url: str
    key: str | None = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    timeout_seconds: float
    _session: aiohttp.ClientSession | None = None
    _made: dict[str, _Made] = field(default_factory=dict)

    async def post(self, path: str, content: bytes) -> aiohttp.ClientResponse:
        """The response to this body, its own body still to be read.

        Raises:
            aiohttp.ClientError, OSError: there is none, or its headers take longer than two silences may.
        """
        made = self._made.get(path)
        if made is None:
            made = self._made[path] = await self._make(path)
        if self._session is None:
            self._session = _session(not is_local(self.base_url), self.timeout_seconds)
        # The time limits of the session begin anew with each byte, and know none for a server that reads nothing.
        with anyio.fail_after(2 * self.timeout_seconds):
            return await self._session.post(
                made.url, data=content, headers=made.headers, proxy=made.proxy, allow_redirects=False
            )

    async def close(self) -> None:
        """Release connections."""
        if self._session is not None:
            session, self._session = self._session, None
            # A connection closes once all that was to be sent is gone, which a server that reads nothing prevents.
            with anyio.move_on_after(_CLOSE_SECONDS):
                await session.close()

    async def _make(self, path: str) -> _Made:
        import httpx2  # lazy: slow import
        import openai  # lazy: slow import

        requests: list[httpx2.Request] = []

        def keep(request: httpx2.Request) -> httpx2.Response:
            requests.append(request)
            return httpx2.Response(200)

        # The mock keeps the request from leaving, and no certificates need to be read for it.
        unsent = httpx2.AsyncClient(transport=httpx2.MockTransport(keep))
        timeout = httpx2.Timeout(self.timeout_seconds, connect=_CONNECT_SECONDS)
        async with openai.AsyncOpenAI(
            base_url=self.base_url, api_key=self.key or "none", max_retries=0, timeout=timeout, http_client=unsent
        ) as package:
            options: openai._types.RequestOptions = {"headers": _headers(self.key, self.headers)}
            await package.post(path, cast_to=httpx2.Response, content=b"{}", options=options)
        url = str(requests[0].url)
        headers = {name: value for name, value in requests[0].headers.items() if name not in _OF_EACH_BODY}
        return _Made(url, headers, None if is_local(url) else _proxy_for(url))


def _session(trust_env: bool, timeout_seconds: float) -> aiohttp.ClientSession:
    import aiohttp  # lazy: slow import

    timeout = aiohttp.ClientTimeout(
        total=None, connect=timeout_seconds, sock_connect=_CONNECT_SECONDS, sock_read=timeout_seconds
    )
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_SECONDS, ssl=_certificates(trust_env))
    # What aiohttp would take from the environment besides a proxy are passwords for servers.
    return aiohttp.ClientSession(
        connector=connector,
        timeout=timeout,
        trust_env=False,
        auto_decompress=False,
        skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
    )


@cache
def _certificates(trust_env: bool) -> ssl.SSLContext:
    """Whom an encrypted connection is made with; read once, since that takes longer than many a request."""
    import httpx2  # lazy: slow import

    return httpx2.create_ssl_context(trust_env=trust_env)


def _headers(key: str | None, headers: Mapping[str, str]) -> dict[str, str | openai.Omit]:
    """The configured headers; what the package would add from other variables of the environment is left out."""
    import openai  # lazy: slow import

    unasked = ["OpenAI-Organization", "OpenAI-Project"] + ([] if key else ["Authorization"])
    own = {name.lower() for name in headers}
    plain = {} if "accept-encoding" in own else {"Accept-Encoding": "identity"}
    return {**{name: openai.Omit() for name in unasked if name.lower() not in own}, **plain, **headers}


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and all that caused it, the last cause last."""
    while error is not None:
        yield error
        error = error.__cause__


def headers_of(response: aiohttp.ClientResponse) -> dict[str, str]:
    """All headers, their names in lower case; one that stands there several times is put together with commas."""
    found: dict[str, str] = {}
    for raw_name, raw_value in response.raw_headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("utf-8", "replace")
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


@contextmanager
def unhurried(response: aiohttp.ClientResponse) -> Iterator[Callable[[float], None]]:
    """Yields what leaves a response alone for so many seconds, while the operating system keeps what comes.

    Whoever reads the response waits as for a slow server, and is then given all of it at once, which costs a fraction.
    """
    paused: asyncio.Transport | None = None
    timer: asyncio.TimerHandle | None = None

    def go_on() -> None:
        if timer is not None:
            timer.cancel()
        if paused is not None and not paused.is_closing():
            paused.resume_reading()

    def leave_alone(seconds: float) -> None:
        nonlocal paused, timer
        go_on()
        paused = response.connection.transport if response.connection else None
        if paused is not None and not paused.is_closing():
            paused.pause_reading()
            timer = asyncio.get_running_loop().call_later(seconds, go_on)

    try:
        yield leave_alone
    finally:
        go_on()


async def refusal_body(response: aiohttp.ClientResponse, seconds: float) -> bytes:
    """The beginning of what the body of a refusal says, as far as it can be read, within this time and what is sent."""
    encoding = response.headers.get("Content-Encoding", "")
    said = bytearray()
    try:
        async for piece in _said(response, encoding, anyio.current_time() + seconds):
            said += piece
            if len(said) >= _LONGEST_REFUSAL:
                break
    except BadEncoding as error:
        said += str(error).encode()
    return bytes(said[:_LONGEST_REFUSAL])


async def _said(response: aiohttp.ClientResponse, encoding: str, end: float) -> AsyncIterator[bytes]:
    body, travelled = PlainBody(encoding), 0
    async for data in response.content.iter_any():
        for piece in body.pieces(data):
            yield piece
        travelled += len(data)
        if travelled >= _LONGEST_REFUSAL or anyio.current_time() > end:
            break


def _proxy_for(url: str) -> str | None:
    """The proxy that the environment names for this address."""
    parts = urlsplit(url)
    if urllib.request.proxy_bypass(parts.hostname or ""):
        return None
    named = urllib.request.getproxies()
    proxy = named.get(parts.scheme) or named.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"


def is_local(base_url: str) -> bool:
    """Whether a server is this machine's own, under an address that means another one elsewhere."""
    host = urlsplit(base_url).hostname or ""
    return host == "localhost" or host == "::1" or host.startswith("127.")
