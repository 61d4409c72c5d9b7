"""The same loop through the typed call of the openai package, as its documentation shows it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import openai
from measured import INSTRUCTION, OBSERVATION, TURNS, measure
from plain import TOOLS


async def work(url: str, trials: int, folder: Path) -> None:
    del folder
    async with openai.AsyncOpenAI(base_url=url, api_key="none") as client:
        for _ in range(trials):
            messages: list[Any] = [{"role": "user", "content": INSTRUCTION}]
            for _ in range(TURNS):
                given: Any = {"model": "scripted", "messages": messages, "tools": TOOLS}
                if sys.argv[3:] == ["stream"]:
                    async with client.chat.completions.stream(**given) as stream:
                        reply = await stream.get_final_completion()
                else:
                    reply = await client.chat.completions.create(**given)
                said = reply.choices[0].message
                messages.append(said.model_dump(exclude_none=True, exclude={"parsed"}))
                calls = said.tool_calls or ()
                messages += [{"role": "tool", "tool_call_id": call.id, "content": OBSERVATION} for call in calls]


if __name__ == "__main__":
    measure(work)
