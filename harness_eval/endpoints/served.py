"""What every endpoint has that is reached over a network: credentials, a limit, retries, the key of its reasoning."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable

from harness_eval.endpoints.base import Endpoint
from harness_eval.endpoints.concurrency import AdaptiveLimit, Limit
from harness_eval.endpoints.config import EndpointConfig, credentials
from harness_eval.endpoints.details import ReasoningDetails
from harness_eval.endpoints.named import Named
from harness_eval.endpoints.redaction import cleaner, secrets_of, without_secrets
from harness_eval.endpoints.refusals import accepted
from harness_eval.endpoints.retries import RetryPolicy, retried
from harness_eval.endpoints.stream import BodyReader
from harness_eval.types import Reply


class ServedEndpoint(Endpoint):
    """A model behind a network. `source` draws the jitter of retries.

    Reads its key and headers from the environment when made (ConfigError when they are missing).
    """

    def __init__(self, config: EndpointConfig, source: random.Random | None = None) -> None:
        self.name, self.model, self.config = config.name, config.model, config
        self._key, self._headers = credentials(config)
        self._secrets = secrets_of(self._key, self._headers)
        self._clean = cleaner(self._secrets)
        self._source = source or random.Random()
        self._policy = RetryPolicy(retries=config.retries, base=config.backoff_seconds)
        self.limit: Limit = AdaptiveLimit(config.concurrency)
        self._reasoning_key = config.quirks.reasoning_key
        self._details = ReasoningDetails()
        self._named = Named()
        self._reached = False

    @property
    def served_as(self) -> frozenset[str]:
        """Models and fingerprints that replies named so far."""
        return frozenset(self._named.names)

    def _accepted(self, reader: BodyReader) -> Reply:
        """The reply that a body holds; the parts of its reasoning, and what answered, are remembered."""
        reply = accepted(reader, self.name, self._clean)
        for name in reader.assembler.named.names:
            self._named.add(self._clean(name))
        if reply.reasoning_key == "reasoning_details":
            self._details.remember(reply, reader.assembler.details)
        return reply

    async def _reply(self, exchange: Callable[[], Awaitable[Reply]]) -> Reply:
        """The reply of an exchange, within the limit, after the retries that it takes; it repeats no secret."""

        async def attempt() -> Reply:
            async with self.limit.slot():
                return await exchange()

        reply = await retried(attempt, self._policy, self._source)
        self._reasoning_key = reply.reasoning_key or self._reasoning_key
        return without_secrets(reply, self._secrets)
