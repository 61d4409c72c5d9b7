"""CPU time per streamed chunk: the openai package's own stream, or ours; the third argument says which."""

from __future__ import annotations

import json
import sys

import anyio
from measured import cpu_seconds


async def typed(url: str, replies: int) -> None:
    import openai

    async with openai.AsyncOpenAI(base_url=url, api_key="none") as client:
        messages = [{"role": "user", "content": "Say many words."}]
        for _ in range(replies):
            text = ""
            stream = await client.chat.completions.create(model="scripted", messages=messages, stream=True)  # type: ignore[call-overload]
            async for chunk in stream:
                if chunk.choices:
                    text += chunk.choices[0].delta.content or ""
            assert text.startswith(" word0")


async def ours(url: str, replies: int) -> None:
    from harness_eval.endpoints.config import EndpointConfig, open_endpoint
    from harness_eval.types import Request

    endpoint = open_endpoint(EndpointConfig(name="scripted", model="scripted", base_url=url))
    for _ in range(replies):
        reply = await endpoint.complete(Request(({"role": "user", "content": "Say many words."},)))
        assert reply.text.startswith(" word0")
    await endpoint.close()


async def main() -> None:
    url, replies = sys.argv[1], int(sys.argv[2])
    work = {"typed": typed, "ours": ours}[sys.argv[3]]
    await work(url, 1)
    used = cpu_seconds()
    await work(url, replies)
    print(json.dumps({"seconds": cpu_seconds() - used}))


if __name__ == "__main__":
    anyio.run(main)
