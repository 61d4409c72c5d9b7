"""A headless Chromium for tests, spoken to over its DevTools protocol."""

from __future__ import annotations

import base64
import itertools
import json
import re
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import anyio
from anyio.abc import Process

_FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars")


class Tab:
    """The one page of the browser. `complaints` collects errors of scripts and of the content security policy."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket, self._numbers = socket, itertools.count(1)
        self.complaints: list[str] = []

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the protocol, and its result."""
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        while True:
            message = await self._socket.receive_json()
            if message.get("id") == number:
                assert "error" not in message, message
                return dict(message["result"])
            if message.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.complaints.append(json.dumps(message["params"]))

    async def open(self, page: Path, width: int, height: int = 900, **media: str) -> None:
        """Show a file at a size; `media` are features such as prefers_color_scheme="dark"."""
        features = [{"name": name.replace("_", "-"), "value": value} for name, value in media.items()]
        await self.call("Emulation.setEmulatedMedia", features=features)
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        await self.call("Emulation.setDeviceMetricsOverride", **metrics)
        await self.call("Page.navigate", url=page.as_uri())
        await self.until("document.readyState === 'complete'")

    async def run(self, expression: str) -> Any:
        """The value of an expression in the page; a promise is awaited."""
        found = await self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    async def until(self, expression: str) -> None:
        """Wait until an expression holds."""
        look = f"() => {{ if ({expression}) done(true); else setTimeout(look, 30); }}"
        with anyio.fail_after(30):
            await self.run(f"new Promise((done) => {{ const look = {look}; look(); }})")

    async def press(self, *keys: str) -> None:
        """Keys by their names, one after the other."""
        for key in keys:
            for kind in ("rawKeyDown", "keyUp"):
                await self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, **_CODES.get(key, {}))

    async def click(self, x: float, y: float) -> None:
        """The left button at a place of the window."""
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            await self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    async def picture(self, path: Path, *, whole: bool = False) -> None:
        """A PNG of what is seen, or of the whole page."""
        shot = await self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        await anyio.Path(path).write_bytes(base64.b64decode(shot["data"]))


_CODES = {
    name: {"windowsVirtualKeyCode": code}
    for name, code in {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowRight": 39, "ArrowDown": 40}.items()
}


@asynccontextmanager
async def browser(profile: Path) -> AsyncIterator[Tab]:
    """A browser with one empty page; it ends with the context."""
    chromium = shutil.which("chromium") or "chromium"
    command = [chromium, *_FLAGS, f"--user-data-dir={profile}", "--remote-debugging-port=0", "about:blank"]
    process = await anyio.open_process(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        port = await _port(process)
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/json") as answer:
                targets = await answer.json()
            address = next(target["webSocketDebuggerUrl"] for target in targets if target["type"] == "page")
            async with session.ws_connect(address, max_msg_size=0) as socket:
                tab = Tab(socket)
                for domain in ("Page", "Runtime", "Log"):
                    await tab.call(f"{domain}.enable")
                yield tab
    finally:
        process.terminate()
        with anyio.CancelScope(shield=True):
            await process.aclose()


async def _port(process: Process) -> str:
    """The port that Chromium names when it is ready."""
    told = b""
    with anyio.fail_after(60):
        while not (found := re.search(rb"DevTools listening on ws://[^:]+:(\d+)/", told)):
            assert process.stderr is not None
            told += await process.stderr.receive()
    return found.group(1).decode()
