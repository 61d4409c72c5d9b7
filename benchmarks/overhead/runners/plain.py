"""A loop over aiohttp that sends the history and appends to it, and nothing else: what cannot be had for less."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import aiohttp
from measured import INSTRUCTION, OBSERVATION, TURNS, measure

TOOL = {"name": "bash", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}}
TOOLS = [{"type": "function", "function": TOOL}]


async def work(url: str, trials: int, folder: Path) -> None:
    del folder
    async with aiohttp.ClientSession() as session:
        for _ in range(trials):
            messages: list[dict[str, Any]] = [{"role": "user", "content": INSTRUCTION}]
            for _ in range(TURNS):
                body = json.dumps({"model": "scripted", "messages": messages, "tools": TOOLS})
                headers = {"Content-Type": "application/json", "Authorization": "Bearer none"}
                async with session.post(f"{url}/chat/completions", data=body, headers=headers) as response:
                    said = json.loads(await response.read())["choices"][0]["message"]
                messages.append(said)
                calls = said.get("tool_calls", ())
                messages += [{"role": "tool", "tool_call_id": call["id"], "content": OBSERVATION} for call in calls]


if __name__ == "__main__":
    measure(work)
