"""The real proxy on loopback, between the official clients and an upstream that misbehaves."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import re
import socket
import zlib
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import openai
import pytest

from callwright.cli.proxy import build_server
from callwright.http import Egress, HttpClient, HttpResponse
from callwright.models.secret import Secret
from callwright.nouns.errors import Failure, ModelError
from callwright.proxy.server.app import Observers, Proxy, UpstreamFacts
from callwright.proxy.server.budget import Budget
from callwright.proxy.session.settings import Settings
from callwright.repair.by_model.refiner_settings import RefinerSettings
from callwright.serving.access import Access
from callwright.testing import ScriptedModel
from callwright.tools.lists.tools import tools_from_wire
from tests.proxy.playbook import (
    JSON,
    SSE,
    body,
    call,
    chunk,
    cut_at,
    native_stream,
    text_stream,
    whole,
)
from tests.proxy.upstream import Asked, Reply, proxy, upstream

HERMES = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
KEY = "sk-canary-5fd1c0ffee"


@pytest.fixture
async def http() -> AsyncIterator[HttpClient]:
    async with HttpClient(Egress.any()) as client:
        yield client


def asked_of(address: str) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{address}/v1", api_key=KEY, max_retries=0)


def replies(*given: Reply) -> Any:
    left = list(given)
    return lambda asked: left.pop(0) if len(left) > 1 else left[0]


async def collect(streamed: Any, into: list[str]) -> None:
    async for event in streamed:
        into.append(event.choices[0].delta.content or "")


def message(stream: bool = True, **more: Any) -> dict[str, Any]:
    made = body(stream, **more)
    return made


async def test_the_openai_client_gets_a_call_that_was_written_as_text() -> None:
    async with (
        upstream(replies(Reply([whole(f"Sure. {HERMES}")], headers=JSON))) as up,
        proxy(up.url) as (address, _),
        asked_of(address) as client,
    ):
        answer = await client.chat.completions.create(**message(False))
    (made,) = answer.choices[0].message.tool_calls or ()
    assert made.type == "function"
    assert (made.function.name, json.loads(made.function.arguments)) == (
        "get_weather",
        {"city": "Paris"},
    )
    assert answer.choices[0].finish_reason == "tool_calls"


async def test_the_openai_client_assembles_a_streamed_call() -> None:
    stream = text_stream(*[HERMES[i : i + 4] for i in range(0, len(HERMES), 4)])
    async with (
        upstream(replies(Reply(cut_at(stream, 333)))) as up,
        proxy(up.url) as (address, _),
        asked_of(address) as client,
    ):
        given = {k: v for k, v in message().items() if k != "stream"}
        async with client.chat.completions.stream(**given) as streamed:
            answer = await streamed.get_final_completion()
    (made,) = answer.choices[0].message.tool_calls or ()
    assert made.function.name == "get_weather"
    assert json.loads(made.function.arguments) == {"city": "Paris"}


async def test_bodies_and_keys_pass_both_ways_untouched(http: HttpClient) -> None:
    stream = native_stream(("c1", "get_weather", '{"city":  "Paris"}'))
    async with (
        upstream(replies(Reply(cut_at(stream, 100)))) as up,
        proxy(up.url) as (address, made),
    ):
        raw = json.dumps(body(), indent=2).encode()
        headers = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
        answer = await http.request(
            "POST", f"{address}/v1/chat/completions", headers=headers, data=raw
        )
    assert isinstance(answer, HttpResponse)
    assert answer.body == stream
    assert up.asked[0].body == raw
    assert up.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert made.counters.records[0].outcome == "untouched"


async def test_other_paths_and_errors_pass_as_they_are(http: HttpClient) -> None:
    def answer(asked: Asked) -> Reply:
        return Reply(
            [asked.path.encode()], 418 if "x" in asked.path else 200, {"content-type": "text/plain"}
        )

    async with upstream(answer) as up, proxy(up.url) as (address, _):
        for path, status in (("/v1/models?a=%2F", 200), ("/v1/x/%20", 418), ("/api/tags", 200)):
            given = await http.request("GET", f"{address}{path}")
            assert isinstance(given, HttpResponse)
            assert (given.status, given.body) == (status, path.encode())


async def test_a_request_that_is_too_long_is_refused(http: HttpClient) -> None:
    settings = Settings(guided="off", budget=Budget(body_bytes=1000))
    async with upstream(replies(Reply([b"{}"]))) as up, proxy(up.url, settings) as (address, _):
        given = await http.request("POST", f"{address}/v1/chat/completions", data=b"x" * 2000)
    assert isinstance(given, HttpResponse)
    assert given.status == 413
    assert not up.asked


async def test_guided_mode_is_found_out_once_per_model(tmp_path: Any) -> None:
    def answer(asked: Asked) -> Reply:
        if "response_format" not in asked.json:
            return Reply([whole("I would switch it on.")], headers=JSON)
        calls = {"calls": [{"name": "get_weather", "arguments": {"city": "Paris"}}]}
        probe = "zq" in json.dumps(asked.json["response_format"])
        return Reply([whole('{"zq": "k7"}' if probe else json.dumps(calls))], headers=JSON)

    settings = Settings()
    async with (
        upstream(answer) as up,
        proxy(up.url, settings, facts=UpstreamFacts(memory=tmp_path / "m.json")) as (address, made),
        asked_of(address) as client,
    ):
        for _ in range(2):
            given = await client.chat.completions.create(**message(False))
            assert given.choices[0].message.tool_calls
    assert len(up.asked) == 4, "two probes, two answers"
    assert made.counters.records[0].guided


async def test_no_key_reaches_a_page_a_metric_a_log_or_a_disk(
    http: HttpClient,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Any,
) -> None:
    caplog.set_level(logging.DEBUG)
    streams = replies(Reply([text_stream(HERMES)]), Reply([chunk({"content": "x"})], cut=True))
    settings = Settings()

    def given(asked: Asked) -> Reply:
        return streams(asked) if asked.json.get("stream") else Reply([whole("x")], headers=JSON)

    async with (
        upstream(given) as up,
        proxy(up.url, settings, facts=UpstreamFacts(memory=tmp_path / "m.json")) as (address, _),
    ):
        headers = {
            "authorization": f"Bearer {KEY}",
            "x-api-key": KEY,
            "cookie": KEY,
            "content-type": "application/json",
        }
        for _ in range(4):
            await http.request(
                "POST", f"{address}/v1/chat/completions", headers=headers, json=body()
            )
        shown = []
        for path in ("/callwright", "/callwright/requests.json", "/metrics", "/healthz"):
            page = await http.request("GET", address + path)
            assert isinstance(page, HttpResponse)
            assert page.status == 200
            shown.append(page.text)
    assert "get_weather" in shown[0]
    out = capfd.readouterr()
    stored = "".join(p.read_text() for p in tmp_path.iterdir())
    assert KEY not in "".join(shown) + caplog.text + out.out + out.err + stored


async def status(http: HttpClient, method: str, url: str, **headers: str) -> int:
    given = await http.request(method, url, headers=headers)
    assert isinstance(given, HttpResponse)
    return given.status


async def test_there_is_a_line_for_every_request_and_no_secret_in_it(http: HttpClient) -> None:
    lines: list[str] = []
    async with (
        upstream(replies(Reply([whole(f"Sure. {HERMES}")], headers=JSON))) as up,
        proxy(up.url, observers=Observers(log=lines.append)) as (address, _),
        asked_of(address) as client,
    ):
        await client.chat.completions.create(**message(False))
        await http.request("GET", f"{address}/v1/models?key={KEY}", headers={"authorization": KEY})
        await http.request("GET", f"{address}/callwright", headers={"host": "evil.example"})
        await http.request("GET", f"{address}/v1/models", headers={"x": "v" * 100_000})
    made, passed, page, head = [re.sub(r"\d+ ms", "N ms", line) for line in lines]
    assert made.startswith("POST /v1/chat/completions 200 N ms edited: ")
    assert passed == "GET /v1/models 200 N ms"
    assert page == "GET /callwright 403 N ms"
    assert head.startswith("- - 431 ")
    assert KEY not in "".join(lines)


async def test_nothing_is_served_under_other_names(http: HttpClient) -> None:
    access = Access(upstream_key=Secret("ours"))
    async with (
        upstream(replies(Reply([b"{}"], headers=JSON))) as up,
        proxy(up.url, access=access) as (address, _),
    ):
        for path in ("/callwright", "/metrics", "/healthz", "/v1/models", "/api/tags", "/"):
            assert await status(http, "GET", address + path, host="evil.example:8787") == 403
        assert await status(http, "GET", f"{address}/v1/models", origin="http://[") == 400
        assert await status(http, "TRACE", f"{address}/v1/models") == 405
        assert not up.asked
        assert await status(http, "GET", f"{address}/v1/models") == 200


@pytest.mark.parametrize(
    "path",
    [b"/v1/../x", b"/v1/%2e%2E/x", b"/v1/..;a=b/x", b"/v1/.%252e/x", b"/a%5c..%2fb", b"/a\\b"],
)
async def test_paths_that_lead_elsewhere_are_refused(path: bytes) -> None:
    async with upstream(replies(Reply([b"{}"], headers=JSON))) as up, proxy(up.url) as (address, _):
        host, port = address.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"GET %b HTTP/1.1\r\nhost: localhost\r\n\r\n" % path)
        assert (await reader.readline()).split()[1] == b"400"
        writer.close()
        assert not up.asked


async def test_the_pages_open_with_the_proxys_key() -> None:
    """As a browser does it: the page, the form, the cookie. Programs send the key as a bearer
    token.
    """
    key, html = "k" * 16, {"accept": "text/html"}
    async with (
        proxy("http://127.0.0.1:9/v1", access=Access(Secret(key))) as (address, _),
        aiohttp.ClientSession(address, cookie_jar=aiohttp.CookieJar(unsafe=True)) as browser,
    ):

        async def ask(method: str, path: str, **given: Any) -> tuple[int, str]:
            async with browser.request(method, path, **given) as answer:
                return answer.status, await answer.text()

        status, page = await ask("GET", "/callwright", headers=html)
        assert (status, 'type="password"' in page) == (401, True)
        assert (await ask("GET", "/callwright/requests.json"))[0] == 401
        assert (await ask("GET", "/metrics", headers={"authorization": f"Bearer {key}"}))[0] == 200
        assert (await ask("POST", "/callwright/login", headers=html, data={"key": "no"}))[0] == 401
        assert (await ask("GET", "/callwright", headers=html))[0] == 401
        status, page = await ask("POST", "/callwright/login", headers=html, data={"key": key})
        assert (status, "newest first" in page) == (200, True)
        assert await ask("GET", "/callwright/requests.json") == (200, "[]")
        assert (await ask("GET", "/v1/models"))[0] == 401


async def test_a_browser_is_shown_what_this_is_and_programs_the_upstreams_root(
    http: HttpClient,
) -> None:
    async with upstream(replies(Reply([b"{}"], headers=JSON))) as up, proxy(up.url) as (address, _):
        page = await http.request("GET", f"{address}/", headers={"accept": "text/html"})
        assert isinstance(page, HttpResponse)
        assert (page.status, f"{address}/v1" in page.text) == (200, True)
        given = await http.request("GET", f"{address}/", headers={"accept": "application/json"})
        assert isinstance(given, HttpResponse)
        assert given.body == b"{}"


async def raw(
    address: str, head: bytes, body: bytes = b""
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, port = address.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n" + head + b"\r\n\r\n" + body
    )
    return reader, writer


async def test_a_request_whose_rest_does_not_come_is_refused_and_asks_nothing() -> None:
    settings = Settings(guided="off", budget=Budget(body_seconds=0.05))
    async with upstream(replies(Reply([b"{}"]))) as up, proxy(up.url, settings) as (address, made):
        reader, writer = await raw(address, b"content-length: 10", b"{")
        assert (await reader.readline()).split()[1] == b"408"
        writer.close()
        assert not up.asked
        assert made.counters.active == 0


async def test_a_request_that_comes_byte_by_byte_is_refused_in_time() -> None:
    settings = Settings(guided="off", budget=Budget(body_seconds=0.1))
    async with upstream(replies(Reply([b"{}"]))) as up, proxy(up.url, settings) as (address, _):
        reader, writer = await raw(address, b"content-length: 1000000")
        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            answered = group.create_task(reader.readline())
            while not answered.done():
                writer.write(b"x")
                await asyncio.sleep(0.01)
        assert answered.result().split()[1] == b"408"
        writer.close()
        assert not up.asked


async def test_a_client_that_leaves_in_the_middle_of_its_request_asks_nothing(
    http: HttpClient,
) -> None:
    async with upstream(replies(Reply([b"{}"], headers=JSON))) as up, proxy(up.url) as (address, _):
        for _ in range(5):
            _, writer = await raw(address, b"content-length: 10", b"{")
            await writer.drain()
            writer.close()
            await writer.wait_closed()
        given = await http.request("GET", f"{address}/v1/models")
        assert isinstance(given, HttpResponse)
        assert [a.path for a in up.asked] == ["/v1/models"]


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_compressed_answers_are_read(encoding: str) -> None:
    packed = zlib.compress(whole(f"Sure. {HERMES}"), wbits=31 if encoding == "gzip" else 15)
    reply = Reply([packed[:20], packed[20:]], headers={**JSON, "content-encoding": encoding})
    async with (
        upstream(replies(reply)) as up,
        proxy(up.url) as (address, _),
        asked_of(address) as client,
    ):
        answer = await client.chat.completions.create(**message(False))
    assert answer.choices[0].message.tool_calls


async def test_what_is_under_way_is_finished_at_shutdown_and_nothing_new_is_taken(
    http: HttpClient,
) -> None:
    hold = asyncio.Event()
    stream = [
        chunk({"content": "It "}),
        chunk({"content": "rains."}),
        chunk({}, "stop"),
        b"data: [DONE]\n\n",
    ]

    def answer(asked: Asked) -> Reply:
        return Reply(stream, hold=hold) if asked.method == "POST" else Reply([b"{}"], headers=JSON)

    async with upstream(answer) as up:
        made = Proxy(up.url, Settings(guided="off"))
        serving = build_server(made, "127.0.0.1", 0)
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            address = f"http://127.0.0.1:{listening.getsockname()[1]}"
            async with asyncio.TaskGroup() as group:
                group.create_task(serving.serve([listening]))
                while not serving.started:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
                client = asked_of(address)
                streamed = aiter(await client.chat.completions.create(**message()))
                said = [await anext(streamed)]
                serving.should_exit = True
                refused = None
                while not isinstance(refused, Failure):
                    refused = await http.request("GET", f"{address}/v1/models")
                hold.set()
                said += [c async for c in streamed]
                await client.close()
    assert "".join(c.choices[0].delta.content or "" for c in said) == "It rains."


@pytest.mark.parametrize("stream", [False, True])
async def test_a_key_that_the_upstream_echoes_stands_on_no_page(
    stream: bool, http: HttpClient
) -> None:
    encoded = base64.b64encode(f"user:{KEY}".encode()).decode()
    text = f"{HERMES.replace('Paris', KEY)} (key {KEY}, basic {encoded})"
    reply = (
        Reply([text_stream(text)], headers=SSE) if stream else Reply([whole(text)], headers=JSON)
    )
    async with (
        upstream(replies(reply)) as up,
        proxy(up.url) as (address, _),
        asked_of(address) as client,
    ):
        answer = await client.chat.completions.create(**message(stream))
        if stream:
            async for _piece in answer:
                pass
        pages = []
        for path in ("/callwright/requests.json", "/callwright", "/metrics"):
            page = await http.request("GET", f"{address}{path}")
            assert isinstance(page, HttpResponse)
            assert page.ok
            pages.append(page.text)
    assert "[secret]" in pages[0]
    assert not any(shown in page for page in pages for shown in (KEY, encoded))


REFINER = RefinerSettings("short")
MEANT = '<func_call>[{"name": "get_weather", "arguments": {"city": "Paris"}}]</func_call>'
UNREADABLE = call("get_weather", '{"town": 5, "place": 7}')


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        (MEANT, '{"city":"Paris"}'),
        (ModelError("nobody is there"), '{"town": 5, "place": 7}'),
        (ValueError("a fault of ours"), '{"town": 5, "place": 7}'),
    ],
)
@pytest.mark.parametrize("inline_bytes", [1_000_000, 1], ids=["here", "in the worker process"])
async def test_a_refiner_of_its_own_is_asked_about_the_calls_of_an_answer(
    said: Any, arguments: str, inline_bytes: int
) -> None:
    asked = {"role": "user", "content": "Paris or Oslo: how is the weather in the former?"}
    model = ScriptedModel([said])
    settings = Settings(
        guided="off",
        reasks=0,
        guard="off",
        refiner=REFINER,
        budget=Budget(inline_bytes=inline_bytes),
    )
    async with (
        upstream(replies(Reply([whole(None, [UNREADABLE], "tool_calls")], headers=JSON))) as up,
        proxy(up.url, settings) as (address, made),
        asked_of(address) as client,
    ):
        made.use_refiner(model)
        answer = await client.chat.completions.create(**message(False, messages=[asked]))
        (request,) = model.requests
        assert request.purpose == "refine"
        assert len(up.asked) == 1
        (found,) = answer.choices[0].message.tool_calls or ()
        assert found.type == "function"
        assert json.loads(found.function.arguments) == json.loads(arguments)
        assert made.counters.records[0].fault == ""
        assert made.counters.faults["ValueError"] == isinstance(said, ValueError)
    assert model.closed


async def test_settings_of_a_refiner_without_a_model_change_nothing() -> None:
    settings = Settings(guided="off", reasks=0, refiner=REFINER)
    plain = whole(None, [call("get_weather", '{"city": "Paris"}')], "tool_calls")
    async with (
        upstream(replies(Reply([plain], headers=JSON))) as up,
        proxy(up.url, settings) as (address, _),
        asked_of(address) as client,
    ):
        answer = await client.chat.completions.create(**message(False))
    (found,) = answer.choices[0].message.tool_calls or ()
    assert found.type == "function"
    assert found.function.arguments == '{"city": "Paris"}'


@pytest.mark.parametrize("inline_bytes", [1_000_000, 1], ids=["here", "in the worker process"])
@pytest.mark.parametrize("guard", ["auto", "off"])
async def test_tools_that_declare_no_effects_are_told_of_once_and_listed(
    http: HttpClient, inline_bytes: int, guard: Any
) -> None:
    """The guard judges declared tools only, and no client of the OpenAI API declares any."""
    told: list[str] = []
    settings = Settings(guided="off", guard=guard, budget=Budget(inline_bytes=inline_bytes))
    read = {"name": "look", "annotations": {"readOnlyHint": True}}
    tools = [*body(False)["tools"], {"type": "function", "function": read}]
    async with (
        upstream(replies(Reply([whole("Hello.")], headers=JSON))) as up,
        proxy(up.url, settings, observers=Observers(told.append)) as (address, _),
        asked_of(address) as client,
    ):
        for _ in range(2):
            await client.chat.completions.create(**message(False, tools=tools))
        page = await http.request("GET", f"{address}/callwright/tools.json")
    assert isinstance(page, HttpResponse)
    listed = [tool.name for tool in tools_from_wire(json.loads(page.body))]
    assert listed == [tool["function"]["name"] for tool in body(False)["tools"]]
    said = [f"tools that declare no effects: {len(listed)}"] if guard == "auto" else []
    assert [one.partition(".")[0] for one in told] == said
