"""``view --follow`` shows a run while it goes on, to this machine only."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from callwright.cli.follow import PageServer, follow_trace
from callwright.nouns.errors import ConfigError, TraceError
from callwright.nouns.trace import JsonlSink, Trace
from callwright.nouns.types import ToolResult, to_json
from tests.browser import CHOOSE, SHOWN, needs_chromium, open_tab


@contextmanager
def followed(trace: Path) -> Iterator[PageServer]:
    with PageServer(trace) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def add_call(trace: Trace, number: int) -> None:
    trace.add("call.raw", id=f"r{number}", tool="search", arguments={"for": "x" * 200}, slot="s")
    result = ToolResult(f"r{number}", "search", {}, f"result {number} " * 40, slot="s", seconds=0.0)
    trace.add("result", **to_json(result))


def test_the_page_is_drawn_again_only_when_the_trace_has_grown(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with JsonlSink(path) as sink:
        trace = Trace((sink,))
        trace.add("run.start", query="How far?", tools=[])
        with followed(path) as server:
            status, tag, text = server.answer("localhost", "/", "")
            assert (status, "How far?" in text, ">running<" in text) == (200, True, True)
            assert server.answer("localhost", "/", tag)[0] == 304
            trace.add("run.end", status="answered", limit="", cost={})
            status, _, text = server.answer("localhost", "/", tag)
            assert (status, ">answered<" in text) == (200, True)


def test_the_server_shows_one_page_under_names_of_this_machine(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("")
    with followed(path) as server:
        assert server.server_address[0] == "127.0.0.1"
        for host, place, status in (
            (f"localhost:{server.server_port}", "/", 200),
            ("127.0.0.1", "/?x=1", 200),
            ("evil.example", "/", 403),
            ("", "/", 403),
            ("localhost", "/etc/passwd", 404),
        ):
            client = http.client.HTTPConnection("127.0.0.1", server.server_port)
            client.request("GET", place, headers={"Host": host})
            answer = client.getresponse()
            assert answer.status == status, (host, place)
            policy = answer.getheader("content-security-policy") or ""
            assert "default-src 'none'" in policy
            assert answer.getheader("cache-control") == "no-store"
            client.close()


def test_a_trace_that_is_gone_or_damaged_is_an_error_on_the_page(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with PageServer(path) as server:
        status, _, text = server.answer("localhost", "/", "")
        assert (status, str(path) in text) == (500, True)
        path.write_text("[]\n[]\n")
        status, _, text = server.answer("localhost", "/", "")
        assert (status, "line 1" in text) == (500, True)


def test_there_is_something_to_follow_and_no_page_is_written(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"gone\.jsonl"):
        follow_trace(tmp_path / "gone.jsonl")
    with pytest.raises(ConfigError, match="writes none"):
        follow_trace(tmp_path / "run.jsonl", tmp_path / "run.html")


@needs_chromium
async def test_in_a_browser_a_growing_run_keeps_place_filter_and_what_is_open(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.jsonl"
    with JsonlSink(path) as sink, followed(path) as server:
        trace = Trace((sink,))
        trace.add("run.start", query="How far?", tools=[])
        trace.add("layer", index=1, total=1, slots=["s"])
        trace.add("model", purpose="bind", mode="text", seconds=0.0)
        for number in range(1, 7):
            add_call(trace, number)
        async with open_tab() as tab:
            await tab.look(400)
            await tab.open(server.address)
            await tab.until("document.getElementById('live').textContent === 'live'")
            assert len(await tab.run(SHOWN)) == 7
            assert len(await tab.run(CHOOSE % ("call", ""))) == 6
            await tab.run("document.getElementById('question-1').open = true")
            await tab.run("document.getElementById('r6').scrollIntoView()")
            top = "document.getElementById('r6').getBoundingClientRect().top"
            before = await tab.run(top)
            add_call(trace, 7)
            await tab.until("document.getElementById('r7')")
            assert await tab.run(SHOWN) == [f"r{number}" for number in range(1, 8)]
            assert await tab.run("document.querySelectorAll('.timeline li').length") == 8
            assert abs(await tab.run(top) - before) < 2, "what is read stays in its place"
            assert await tab.run("document.getElementById('question-1').open") is True
            assert await tab.run("document.querySelector('option').textContent") == "everything (8)"
            trace.add("answer", text="Far.", statements=[], missing=[])
            trace.add("run.end", status="answered", limit="", cost={})
            await tab.until("document.querySelector('.outcome .tag').textContent === 'answered'")
            assert await tab.run("document.querySelector('.said').textContent") == "Far."
            assert tab.problems == []
            path.unlink()
            await tab.until("document.getElementById('live').textContent === 'no update: 500'")
            assert len(await tab.run(SHOWN)) == 7, "what was there stays"
