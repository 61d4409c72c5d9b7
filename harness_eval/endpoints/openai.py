"""Any server that speaks the OpenAI dialect, through the openai package."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import anyio
import orjson

from harness_eval.endpoints.base import Endpoint
from harness_eval.endpoints.body import request_body
from harness_eval.endpoints.concurrency import AdaptiveLimit
from harness_eval.endpoints.config import EndpointConfig, credentials
from harness_eval.endpoints.redaction import cleaner, secrets_of, without_secrets
from harness_eval.endpoints.refusals import Refusal, accepted, failure
from harness_eval.endpoints.retries import RetryPolicy, Transient, retried
from harness_eval.endpoints.stream import BodyReader
from harness_eval.types import Json, Reply, Request

if TYPE_CHECKING:
    import httpx2
    import openai

_PATHS = {"chat": "/chat/completions", "completions": "/completions"}
_DRAIN_SECONDS = 1.0


class OpenAIEndpoint(Endpoint):
    """A server under `config.base_url`; replies are streamed, and retried as `retries` says.

    Reads its key and headers from the environment when made (ConfigError when they are missing). `source` draws the
    jitter of retries.
    """

    def __init__(self, config: EndpointConfig, source: random.Random | None = None) -> None:
        self.name, self.model, self.config = config.name, config.model, config
        self._key, self._headers = credentials(config)
        self._secrets = secrets_of(self._key, self._headers)
        self._clean = cleaner(self._secrets)
        self._source = source or random.Random()
        self._policy = RetryPolicy(retries=config.retries, base=config.backoff_seconds)
        self._limit = AdaptiveLimit(config.concurrency)
        self._reasoning_key = config.quirks.reasoning_key
        self._reached = False
        self._client: openai.AsyncOpenAI | None = None

    async def complete(self, request: Request) -> Reply:
        """One reply, after the retries that the endpoint's policy allows; errors as `Endpoint.complete` says."""
        body = request_body(request, self.config, self._reasoning_key)
        if self.config.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}

        async def attempt() -> Reply:
            async with self._limit.slot():
                return await self._exchange(_PATHS[request.wire], body)

        reply = await retried(attempt, self._policy, self._source)
        self._reasoning_key = reply.reasoning_key or self._reasoning_key
        return reply

    async def close(self) -> None:
        """Release connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _exchange(self, path: str, body: dict[str, Json]) -> Reply:
        response = await self._send(path, body)
        self._reached = True
        try:
            reader = await self._read(response)
            return without_secrets(accepted(reader, self.name, self._clean), self._secrets)
        finally:
            await response.aclose()

    async def _send(self, path: str, body: dict[str, Json]) -> httpx2.Response:
        """A successful response, its body still to be read."""
        import aiohttp  # lazy: slow import
        import httpx2  # lazy: slow import
        import openai  # lazy: slow import

        content = orjson.dumps(body)
        try:
            response = await self._opened().post(
                path,
                cast_to=httpx2.Response,
                content=content,
                stream=True,
                stream_cls=openai.AsyncStream[Any],
                options={"headers": self._all_headers()},
            )
            return cast("httpx2.Response", response)
        except openai.APIStatusError as error:
            self._reached = True
            headers = {name.lower(): value for name, value in error.response.headers.items()}
            refusal = Refusal(error.status_code, error.response.content, headers, len(content), body)
            problem = failure(refusal, self.name, self._clean)
        except (openai.APIConnectionError, httpx2.HTTPError, aiohttp.ClientError, OSError) as error:
            problem = self._unconnected(error)
        # Raised out here: the client's own exceptions hold what the server said, and it may have repeated the key.
        raise problem

    async def _read(self, response: httpx2.Response) -> BodyReader:
        import aiohttp  # lazy: slow import
        import httpx2  # lazy: slow import

        reader = BodyReader()
        try:
            await self._feed(reader, response)
        except (httpx2.HTTPError, aiohttp.ClientError, OSError) as error:
            # What broke after the last word has come broke nothing; silence before it is a time limit, ours.
            if _timed_out(error) and not reader.ended:
                raise Transient(f"{self.name}: silence in the middle of a reply", "infra.deadline") from None
            reader.broken = type(error).__name__
        reader.close()
        return reader

    async def _feed(self, reader: BodyReader, response: httpx2.Response) -> None:
        heard, frames = anyio.current_time(), 0
        chunks = response.aiter_bytes()
        async for chunk in chunks:
            reader.feed(chunk)
            if reader.done:
                break
            now = anyio.current_time()
            if reader.frames > frames:
                heard, frames = now, reader.frames
            elif now - heard > self.config.timeout_seconds:
                raise Transient(f"{self.name}: nothing but keep-alives for {now - heard:.0f} s", "infra.deadline")
        # A server that keeps the connection open after the end marker must not hold the reply back; one that ends the
        # body properly leaves a connection that can be used again.
        with anyio.move_on_after(_DRAIN_SECONDS):
            async for _ in chunks:
                pass

    def _unconnected(self, error: Exception) -> Transient:
        import aiohttp  # lazy: slow import

        # The transport files a refused connection under time-outs; what really happened stands in the causes.
        causes, absent = list(_causes(error)), (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
        if not self._reached and any(isinstance(cause, absent) for cause in causes):
            return Transient(f"{self.name}: nothing answers at {self.config.base_url}", "infra.gateway", absent=True)
        label = "infra.deadline" if any(map(_timed_out, causes)) else "infra.gateway"
        return Transient(f"{self.name}: no answer: {type(causes[-1]).__name__}", label)

    def _opened(self) -> openai.AsyncOpenAI:
        if self._client is None:
            import httpx2  # lazy: slow import
            import openai  # lazy: slow import

            # The aiohttp transport costs two thirds of the CPU time of the default one. A proxy named in the
            # environment cannot reach a server on this machine.
            self._client = openai.AsyncOpenAI(
                base_url=self.config.base_url,
                api_key=self._key or "none",
                max_retries=0,
                timeout=httpx2.Timeout(self.config.timeout_seconds, connect=30.0),
                http_client=openai.DefaultAioHttpClient(trust_env=not _is_local(self.config.base_url)),
            )
        return self._client

    def _all_headers(self) -> dict[str, str | openai.Omit]:
        """The configured headers; what the client would add from other variables of the environment is left out."""
        import openai  # lazy: slow import

        unasked = ["OpenAI-Organization", "OpenAI-Project"] + ([] if self._key else ["Authorization"])
        own = {name.lower() for name in self._headers}
        return {**{name: openai.Omit() for name in unasked if name.lower() not in own}, **self._headers}


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _timed_out(error: BaseException) -> bool:
    import httpx2  # lazy: slow import

    return isinstance(error, TimeoutError | httpx2.TimeoutException)


def _is_local(base_url: str) -> bool:
    host = urlsplit(base_url).hostname or ""
    return host == "localhost" or host == "::1" or host.startswith("127.")
