"""Headless Chromium for tests, driven over its DevTools protocol: real layout, real scripts, real
media queries.
"""

from __future__ import annotations

import asyncio
import base64
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import count
from tempfile import TemporaryDirectory
from typing import Any

import aiohttp
import pytest

PROGRAM = shutil.which("chromium") or shutil.which("google-chrome")
SKIP = "no headless Chromium on this machine"
needs_chromium = pytest.mark.skipif(PROGRAM is None, reason=SKIP)

_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --hide-scrollbars"
    " --disable-background-networking --disable-component-update --disable-sync"
    " --remote-debugging-port=0"
).split()
_PATIENCE = 60  # seconds for one command


class Tab:
    """One tab. Expressions are JavaScript; promises are awaited, results are JSON."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = count(1)
        self._loads = 0
        self.problems: list[str] = []  # what scripts threw and policies forbade

    async def command(self, method: str, **given: Any) -> Mapping[str, Any]:
        """Send a command and return its result."""
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": given})
        async with asyncio.timeout(_PATIENCE):
            while True:
                told = await self._socket.receive_json()
                if told.get("id") == number:
                    assert "error" not in told, (method, told)
                    result: Mapping[str, Any] = told["result"]
                    return result
                self._note(told)

    async def look(self, width: int, *, dark: bool = False, script: bool = True) -> None:
        """Set the window's width, the colour scheme that the user prefers, and whether scripts
        run.
        """
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        await self.command("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}
        await self.command("Emulation.setEmulatedMedia", features=[scheme, still])
        await self.command("Emulation.setScriptExecutionDisabled", value=not script)

    async def open(self, address: str) -> None:
        """Load a page and wait until it is there; a listener of its own would not be called where
        scripts do not run.
        """
        for place in ("about:blank", address):
            loaded = self._loads
            await self.command("Page.navigate", url=place)
            async with asyncio.timeout(_PATIENCE):
                while self._loads == loaded:
                    self._note(await self._socket.receive_json())

    async def run(self, expression: str) -> Any:
        """The value of an expression."""
        told = await self.command(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    async def press(self, key: str) -> None:
        """Press a key: Tab or Enter."""
        code = {"Tab": 9, "Enter": 13}[key]
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            given = {"type": kind, "key": key, "windowsVirtualKeyCode": code}
            await self.command("Input.dispatchKeyEvent", **given, **text)

    async def until(self, condition: str) -> None:
        """Wait, frame by frame, until a condition holds."""
        await self.run(
            "new Promise((done) => { const look = () =>"
            f" ({condition}) ? done(1) : requestAnimationFrame(look); look(); }})"
        )

    async def picture(self, *, whole: bool = False) -> bytes:
        """A screenshot as PNG: of what the window shows, or of the whole page."""
        told = await self.command("Page.captureScreenshot", captureBeyondViewport=whole)
        return base64.b64decode(told["data"])

    def _note(self, told: Mapping[str, Any]) -> None:
        given = told.get("params", {})
        if told.get("method") == "Page.loadEventFired":
            self._loads += 1
        elif told.get("method") == "Runtime.exceptionThrown":
            self.problems.append(str(given["exceptionDetails"]))
        elif told.get("method") == "Log.entryAdded" and given["entry"]["level"] == "error":
            self.problems.append(str(given["entry"]["text"]))


@asynccontextmanager
async def open_tab() -> AsyncIterator[Tab]:
    """A browser of its own, for as long as the block lasts."""
    assert PROGRAM is not None
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = await asyncio.create_subprocess_exec(
            PROGRAM,
            *_FLAGS,
            f"--user-data-dir={profile}",
            "about:blank",
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            port = await _read_port(process)
            async with aiohttp.ClientSession() as session:
                async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
                    pages = [one for one in await answer.json() if one["type"] == "page"]
                address = pages[0]["webSocketDebuggerUrl"]
                async with session.ws_connect(address, max_msg_size=0) as socket:
                    tab = Tab(socket)
                    for domain in ("Page", "Runtime", "Log"):
                        await tab.command(f"{domain}.enable")
                    yield tab
                    await tab.command("Browser.close")
        finally:
            if process.returncode is None:
                process.terminate()
            assert process.stderr is not None
            await process.stderr.read()
            await process.wait()


async def _read_port(process: asyncio.subprocess.Process) -> int:
    """The port that the browser prints once it listens."""
    assert process.stderr is not None
    async with asyncio.timeout(_PATIENCE):
        while line := await process.stderr.readline():
            if b"DevTools listening on" in line:
                return int(line.rpartition(b":")[2].partition(b"/")[0])
    raise AssertionError("the browser ended before it listened")


CONTRAST = """(() => {
  const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (node) => {
    for (let one = node; one; one = one.parentElement) {
      const color = numbers(getComputedStyle(one).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement, text = walker.currentNode.nodeValue.trim();
    if (!text || !node.checkVisibility() || node.disabled) continue;
    if (["SCRIPT", "STYLE", "NOSCRIPT"].includes(node.tagName)) continue;
    const style = getComputedStyle(node);
    const color = numbers(node.closest("svg") ? style.fill : style.color);
    const [a, b] = [light(color), light(ground(node))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.push(`${ratio.toFixed(2)} ${node.outerHTML.slice(0, 90)}`);
  }
  return found;
})()"""
"""Every visible text whose contrast is below 4.5:1 (WCAG 2.2, 1.4.3)."""

LOOKS = [(width, dark) for width in (400, 1280) for dark in (False, True)]
"""Width of the window, and whether the user prefers dark colours."""

WIDTH = "document.documentElement.scrollWidth"
SUMMARY_TOP = "document.getElementById('summary').getBoundingClientRect().top"
SHOWN = """[...document.querySelectorAll('[data-kinds]')]
  .filter((one) => one.checkVisibility()).map((one) => one.id)"""
"""The ids of the entries that can be seen."""

CHOOSE = f"""(() => {{
  const form = document.getElementById('filter');
  [form.kind.value, form.text.value] = ['%s', '%s'];
  form.kind.dispatchEvent(new Event('input', {{ bubbles: true }}));
  return {SHOWN};
}})()"""
"""The same after the filter was set to a kind and a text."""
