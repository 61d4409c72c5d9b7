"""The HTTP client below the openai package: what it sends of its own accord, and how much it will take."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

import anyio

from harness_eval.endpoints import redirects
from harness_eval.endpoints.encoding import BadEncoding, PlainBody

if TYPE_CHECKING:
    import ssl

    import httpx2
    import openai

_LONGEST_REFUSAL = 1 << 20  # bytes; a page of an error needs no more


def open_client(base_url: str, key: str | None, timeout_seconds: float) -> openai.AsyncOpenAI:
    """A client that retries nothing and follows no redirect, since headers that are secrets would go along."""
    import httpx2  # lazy: slow import
    import openai  # lazy: slow import

    trusted = not _is_local(base_url)
    # The aiohttp transport costs two thirds of the CPU time of the default one. A proxy named in the environment cannot
    # reach a server on this machine.
    return openai.AsyncOpenAI(
        base_url=base_url,
        api_key=key or "none",
        max_retries=0,
        timeout=httpx2.Timeout(timeout_seconds, connect=30.0),
        http_client=openai.DefaultAioHttpClient(
            trust_env=trusted,
            verify=_certificates(trusted),
            follow_redirects=False,
            event_hooks={"response": [partial(_bound_refusal, seconds=timeout_seconds)]},
        ),
    )


@cache
def _certificates(trust_env: bool) -> ssl.SSLContext:
    """Whom an encrypted connection is made with; read once, since that takes longer than many a request."""
    import httpx2  # lazy: slow import

    return httpx2.create_ssl_context(trust_env=trust_env)


def all_headers(key: str | None, headers: Mapping[str, str]) -> dict[str, str | openai.Omit]:
    """The configured headers; what the client would add from other variables of the environment is left out."""
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


def timed_out(error: BaseException) -> bool:
    """Whether this is the client's own time limit."""
    import httpx2  # lazy: slow import

    return isinstance(error, TimeoutError | httpx2.TimeoutException)


async def _bound_refusal(response: httpx2.Response, seconds: float) -> None:
    """Let the client, which reads the body of every refusal to its end, find that end."""
    import httpx2  # lazy: slow import

    if not response.is_success:
        encoding = response.headers.pop("content-encoding", "")
        # The client would work out where a redirect leads, and stumble over an address that is none.
        if "location" in response.headers:
            response.headers[redirects.HEADER] = response.headers.pop("location")
        body = cast("httpx2.AsyncByteStream", response.stream)
        response.stream = httpx2.Response(200, content=_first_bytes(body, encoding, seconds)).stream


async def _first_bytes(stream: httpx2.AsyncByteStream, encoding: str, seconds: float) -> AsyncIterator[bytes]:
    """The beginning of what a body says, as far as it can be read."""
    left = _LONGEST_REFUSAL
    try:
        async for piece in _said(stream, encoding, anyio.current_time() + seconds):
            yield piece[:left]
            left -= len(piece)
            if left <= 0:
                break
    except BadEncoding as error:
        yield str(error).encode()
    finally:
        await stream.aclose()


async def _said(stream: httpx2.AsyncByteStream, encoding: str, end: float) -> AsyncIterator[bytes]:
    body, travelled = PlainBody(encoding), 0
    async for data in stream:
        for piece in body.pieces(data):
            yield piece
        travelled += len(data)
        if travelled >= _LONGEST_REFUSAL or anyio.current_time() > end:
            break


def _is_local(base_url: str) -> bool:
    host = urlsplit(base_url).hostname or ""
    return host == "localhost" or host == "::1" or host.startswith("127.")
