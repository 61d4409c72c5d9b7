"""Any server that speaks the OpenAI dialect; requests are made by the openai package and sent by `transport`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import anyio
import orjson

from harness_eval.endpoints.body import request_body
from harness_eval.endpoints.encoding import BadEncoding, PlainBody
from harness_eval.endpoints.refusals import Refusal, failure
from harness_eval.endpoints.retries import Transient
from harness_eval.endpoints.served import ServedEndpoint
from harness_eval.endpoints.stream import BodyReader
from harness_eval.endpoints.transport import Client, causes, headers_of, refusal_body, unhurried
from harness_eval.errors import EndpointFailure
from harness_eval.types import Json, Reply, Request

if TYPE_CHECKING:
    import aiohttp

_PATHS = {"chat": "/chat/completions", "completions": "/completions"}
_DRAIN_SECONDS = 1.0
# How long a stream that has begun to speak is left alone between two looks at it: a share of the time since its
# beginning, within these seconds, which is how late its last word can be. A reply that is there at once never is.
_PATIENCE, _SHORTEST_PAUSE, _LONGEST_PAUSE, _INSTANT = 0.05, 0.005, 0.1, 0.01
_LONGEST_PART = 16 << 20  # bytes of one event or of a body that is no stream; what is read from it takes more
_LONGEST_SAID = 200  # characters
_LONGEST_REPLY = 256 << 20  # bytes; a million streamed tokens, each in a chunk of its own, take about as much


class OpenAIEndpoint(ServedEndpoint):
    """A server under `config.base_url`; replies are streamed, and retried as `retries` says."""

    _client: Client | None = None

    async def complete(self, request: Request) -> Reply:
        """One reply, after the retries that the endpoint's policy allows; errors as `Endpoint.complete` says."""
        body = request_body(request, self.config, self._reasoning_key, self._details)
        if self.config.stream:
            usage = {"stream_options": {"include_usage": True}} if self.config.quirks.stream_usage else {}
            body = {**body, "stream": True, **usage}
        return await self._reply(lambda: self._exchange(_PATHS[request.wire], body))

    async def close(self) -> None:
        """Release connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _exchange(self, path: str, body: dict[str, Json]) -> Reply:
        response = await self._send(path, body)
        self._reached = True
        try:
            return self._accepted(await self._read(response))
        finally:
            response.release()

    async def _send(self, path: str, body: dict[str, Json]) -> aiohttp.ClientResponse:
        """A successful response, its body still to be read."""
        import aiohttp  # lazy: slow import

        content = orjson.dumps(body)
        try:
            response = await self._opened().post(path, content)
            if 200 <= response.status < 300:
                return response
            self._reached = True
            try:
                said = await refusal_body(response, self.config.timeout_seconds)
            finally:
                response.release()
            refusal = Refusal(response.status, said, headers_of(response), len(content), body)
            problem: Exception = failure(refusal, self.name, self._clean)
        except (aiohttp.ClientError, OSError) as error:
            problem = self._unconnected(error)
        # Raised out here: what the client raises may hold what the server said, and it may have repeated the key.
        raise problem

    async def _read(self, response: aiohttp.ClientResponse) -> BodyReader:
        import aiohttp  # lazy: slow import

        reader = BodyReader()
        try:
            body = PlainBody(", ".join(response.headers.getall("Content-Encoding", ())))
        except BadEncoding as error:
            raise _cut(f"{self.name}: {self._clean(str(error))[:_LONGEST_SAID]}", "infra.gateway") from None
        try:
            await self._feed(reader, response, body)
        except (aiohttp.ClientError, OSError) as error:
            # What broke after the last word has come broke nothing; silence before it is a time limit, ours.
            if isinstance(error, TimeoutError) and not reader.ended:
                raise Transient(f"{self.name}: silence in the middle of a reply", "infra.deadline") from None
            reader.broken = type(error).__name__
        reader.close()
        return reader

    async def _feed(self, reader: BodyReader, response: aiohttp.ClientResponse, body: PlainBody) -> None:
        raw = response.content
        begun = heard = time.monotonic()
        frames, taken, travelled = 0, 0, 0
        with unhurried(response) as leave_alone:
            while data := await raw.readany():
                for piece in body.pieces(data):
                    taken += len(piece)
                    reader.feed(piece)
                    self._check_length(taken, reader)
                if reader.done:
                    break
                now, travelled = time.monotonic(), travelled + len(data)
                self._check_length(travelled, reader)
                if reader.frames > frames:
                    heard, frames = now, reader.frames
                elif now - heard > self.config.timeout_seconds and reader.ended:
                    break
                elif now - heard > self.config.timeout_seconds:
                    raise Transient(f"{self.name}: nothing but keep-alives for {now - heard:.0f} s", "infra.deadline")
                if reader.frames and now - begun > _INSTANT and not raw.at_eof():
                    leave_alone(min(max(_PATIENCE * (now - begun), _SHORTEST_PAUSE), _LONGEST_PAUSE))
        await _drained(raw)

    def _check_length(self, taken: int, reader: BodyReader) -> None:
        if taken > _LONGEST_REPLY:
            raise _cut(f"{self.name}: a reply of more than {_LONGEST_REPLY} bytes was cut off")
        if reader.held > _LONGEST_PART:
            raise _cut(f"{self.name}: a reply with more than {_LONGEST_PART} bytes in one piece was cut off")

    def _unconnected(self, error: Exception) -> Transient:
        import aiohttp  # lazy: slow import

        # The transport files a refused connection under time-outs; what really happened stands in the causes.
        all_causes, absent = list(causes(error)), (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
        connected = not any(isinstance(cause, absent) for cause in all_causes)
        if any(isinstance(cause, aiohttp.ClientSSLError) for cause in all_causes) and not self._reached:
            said = f"no encrypted connection is made at {self.config.base_url}: {type(all_causes[-1]).__name__}"
            return Transient(f"{self.name}: {said}", "infra.gateway", absent=True)
        if not (connected or self._reached):
            return Transient(f"{self.name}: nothing answers at {self.config.base_url}", "infra.gateway", absent=True)
        label = "infra.deadline" if connected and isinstance(all_causes[-1], TimeoutError) else "infra.gateway"
        return Transient(f"{self.name}: no answer: {type(all_causes[-1]).__name__}", label)

    def _opened(self) -> Client:
        if self._client is None:
            self._client = Client(self.config.base_url, self._key, self._headers, self.config.timeout_seconds)
        return self._client


async def _drained(raw: aiohttp.StreamReader) -> None:
    """Wait a moment for the end of a body.

    A server that keeps the connection open after the end marker must not hold the reply back; one that ends the body
    properly leaves a connection that can be used again.
    """
    if not raw.at_eof():
        with anyio.move_on_after(_DRAIN_SECONDS):
            while await raw.readany():
                pass


def _cut(message: str, label: str = "infra.stream_truncated") -> EndpointFailure:
    error = EndpointFailure(message)
    error.label = label
    return error
