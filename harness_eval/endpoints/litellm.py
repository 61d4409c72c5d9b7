"""Any provider that litellm knows, its chunks put together by the same assembler."""

from __future__ import annotations

import json
import os
import random
from typing import TYPE_CHECKING, Any

from harness_eval.endpoints.body import request_body
from harness_eval.endpoints.config import EndpointConfig
from harness_eval.endpoints.refusals import Refusal, failure
from harness_eval.endpoints.retries import Transient
from harness_eval.endpoints.served import ServedEndpoint
from harness_eval.endpoints.stream import BodyReader
from harness_eval.errors import HarnessFailure
from harness_eval.types import Json, Reply, Request

if TYPE_CHECKING:
    import openai

_PASSED_BY = frozenset(
    ("model", "messages", "tools", "stop", "seed", "parallel_tool_calls", "max_completion_tokens", "max_tokens")
)
_WITHOUT_EXTRA_BODY = ("bedrock/",)  # providers for which what litellm does not know must stand beside what it does
_OPEN: set[LiteLLMEndpoint] = set()


class LiteLLMEndpoint(ServedEndpoint):
    """A model by its litellm name (`provider/model`); without `api_key_env` the provider's own variables count.

    litellm itself decides whether a stream is complete and counts tokens where the provider does not, so cut-off
    streams and missing usage cannot be seen here; use the openai kind where the server speaks that dialect.
    """

    def __init__(self, config: EndpointConfig, source: random.Random | None = None) -> None:
        super().__init__(config, source)
        self._called = False
        _OPEN.add(self)

    async def complete(self, request: Request) -> Reply:
        """One reply, after the retries that the endpoint's policy allows; errors as `Endpoint.complete` says.

        The plain completions wire is refused: litellm would open a client for every such request and never close it.
        """
        if request.wire != "chat":
            raise HarnessFailure(f"{self.name}: the completions wire needs an endpoint of kind openai")
        arguments = self._arguments(request)
        return await self._reply(lambda: self._exchange(arguments))

    async def close(self) -> None:
        """Release the connections, which litellm keeps for the whole process: with the last endpoint that uses them."""
        _OPEN.discard(self)
        if self._called and not _OPEN:
            litellm = _litellm()
            await litellm.close_litellm_async_clients()
            # What is closed would be handed out again.
            litellm.in_memory_llm_clients_cache.flush_cache()
            session, litellm.aclient_session = litellm.aclient_session, None
            await session.aclose()

    async def _exchange(self, arguments: dict[str, Json]) -> Reply:
        import openai  # lazy: slow import

        litellm, self._called = _litellm(), True
        reader = BodyReader()
        try:
            response = await litellm.acompletion(**arguments)
            self._reached = True
            if self.config.stream:
                async for chunk in response:
                    reader.add(chunk.model_dump(), streamed=True)
            else:
                reader.add(response.model_dump(), streamed=False)
        except openai.APIError as error:
            problem = self._problem(error, arguments)
        else:
            reply = self._accepted(reader)
            if not (reply.text or reply.thinking or reply.calls or reply.usage.total):
                raise Transient(f"{self.name}: a success that holds nothing", "infra.empty_choices")
            return reply
        # Raised out here: the exceptions of litellm hold what the server said, and it may have repeated the key.
        raise problem

    def _problem(self, error: openai.APIError, arguments: dict[str, Json]) -> Exception:
        status = int(getattr(error, "status_code", None) or 500)
        if "Connection error" in str(error):
            where = self.config.base_url or "the provider's address"
            return Transient(f"{self.name}: nothing answers at {where}", "infra.gateway", absent=not self._reached)
        self._reached = True
        headers = getattr(getattr(error, "response", None), "headers", None) or {}
        stated = {str(name).lower(): str(value) for name, value in headers.items()}
        body = json.dumps({"error": error.body}, default=str) if error.body else str(error)
        sent = {key: value for key, value in arguments.items() if key in _PASSED_BY}
        return failure(Refusal(status, body.encode(errors="replace"), stated, 0, sent), self.name, self._clean)

    def _arguments(self, request: Request) -> dict[str, Json]:
        """What litellm's completion function takes; fields that it does not know travel in `extra_body`."""
        body = request_body(request, self.config, self._reasoning_key, self._details)
        supported = _litellm().get_supported_openai_params(model=self.model) or ("seed",)
        known = {key: value for key, value in body.items() if key in _PASSED_BY or key in supported}
        rest = {key: value for key, value in body.items() if key not in known}
        if "seed" not in supported:
            known.pop("seed", None)
        own = {
            "stream": self.config.stream,
            "stream_options": {"include_usage": True} if self.config.stream else None,
            "max_retries": 0,
            "timeout": self.config.timeout_seconds,
            "api_key": self._key,
            "api_base": self.config.base_url or None,
            "extra_headers": self._headers or None,
            **(rest if self.model.startswith(_WITHOUT_EXTRA_BODY) else {"extra_body": rest or None}),
        }
        return known | {key: value for key, value in own.items() if value is not None}


def _litellm() -> Any:
    """The module, kept from fetching its price list, from advertising on the standard output, and from redirects.

    Only the clients of providers that speak the OpenAI dialect can be kept from following redirects.
    """
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import httpx  # lazy: slow import
    import litellm  # lazy: slow import

    if litellm.aclient_session is None:
        # Headers that are secrets would go along to another host.
        litellm.aclient_session = httpx.AsyncClient(follow_redirects=False)
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    return litellm
