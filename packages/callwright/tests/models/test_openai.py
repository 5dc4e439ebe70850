from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from callwright.http import Egress, HttpClient, Retry, Surroundings, Timeout
from callwright.models import LocalModel, OpenAIModel, Secret
from callwright.models.openai import is_strict
from callwright.nouns.errors import ConfigError, ModelError
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Message, Tool, ToolCall, Usage

from .conftest import ask

KEY = "sk-very-secret-value"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Waits:
    """Takes the place of waiting: remembers how long, does not."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


@asynccontextmanager
async def served(handler: Handler) -> AsyncIterator[str]:
    """A small server on loopback; yields its base URL."""
    app = web.Application()
    app.router.add_post("/v1/chat/completions", handler)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


def client_with(waits: Waits, **options: Any) -> HttpClient:
    """A client that retries as a model's own does, and whose waits are recorded."""
    surroundings = Surroundings(sleep=waits)
    options = {"retry": Retry(attempts=4), **options}
    return HttpClient(Egress.any(), surroundings=surroundings, **options)


@asynccontextmanager
async def model_at(url: str, tmp_path: Path, **more: Any) -> AsyncIterator[OpenAIModel]:
    options = {
        "api_key": Secret(KEY),
        "memory": tmp_path / "endpoints.json",
        "client": client_with(Waits()),
        **more,
    }
    model = OpenAIModel(url, "m", **options)
    try:
        yield model
    finally:
        await model.aclose()


def completion(text: str, **more: Any) -> dict[str, Any]:
    return {
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text, **more},
            }
        ]
    }


def delta(text: str) -> bytes:
    return (
        b"data: "
        + json.dumps({"choices": [{"index": 0, "delta": {"content": text}}]}).encode()
        + b"\n\n"
    )


def never(piece: str) -> bool:
    return False


# --- a real peer: llama.cpp's own server
# ---------------------------------------------------------------------------


@pytest.mark.model
async def test_llama_cpp_answers_over_http_whole_streamed_and_constrained(
    smollm: LocalModel, tmp_path: Path
) -> None:
    url, key = await smollm.endpoint()
    async with model_at(url, tmp_path, api_key=key) as model:
        whole = await model.complete(ask("Name a colour.", max_tokens=10))
        pieces: list[str] = []
        streamed = await model.complete(
            ask("Name a colour.", max_tokens=10), lambda p: bool(pieces.append(p))
        )
        assert whole.text == streamed.text == "".join(pieces)
        assert whole.usage.prompt_tokens == streamed.usage.prompt_tokens > 10
        assert streamed.usage.completion_tokens == whole.usage.completion_tokens
        schema = {"type": "object", "properties": {"n": {"enum": [1, 2]}}, "required": ["n"]}
        assert json.loads((await model.complete(ask("Hi", schema=schema, max_tokens=40))).text)[
            "n"
        ] in (1, 2)
        cut = await model.complete(ask("Tell a very long story.", max_tokens=1500), lambda _: True)
        assert cut.finish_reason == "cut"
        with pytest.raises(ModelError, match="longer than the model's context"):
            await model.complete(ask("word " * 3000))


@pytest.mark.model
async def test_llama_cpp_is_found_to_follow_schemas_but_not_to_call_natively(
    smollm: LocalModel, tmp_path: Path
) -> None:
    url, key = await smollm.endpoint()
    async with model_at(url, tmp_path, api_key=key) as model:
        found = await model.capabilities()
    assert (found.json_schema, found.native_tools, found.origin) == (True, False, "probed")
    async with (
        model_at("http://127.0.0.1:9/v1", tmp_path) as other,
        model_at(url, tmp_path) as again,
    ):
        assert await again.capabilities() == found  # from memory: this one has no key to ask with
        with pytest.raises(ModelError, match="cannot connect"):
            await other.capabilities()


@pytest.mark.model
async def test_a_wrong_key_is_an_error_that_says_so_without_showing_it(
    smollm: LocalModel, tmp_path: Path
) -> None:
    url, _ = await smollm.endpoint()
    async with model_at(url, tmp_path) as model:
        with pytest.raises(ModelError) as caught:
            await model.complete(ask("Hi"))
    assert caught.value.status == 401
    assert "CALLWRIGHT_API_KEY" in str(caught.value)
    assert KEY not in str(caught.value) + repr(model) + repr(model.__dict__)


# --- peers that misbehave
# ------------------------------------------------------------------------------------------


async def test_429_and_503_are_tried_again_after_the_time_the_server_asks_for(
    tmp_path: Path,
) -> None:
    answers = [(429, {"Retry-After": "7"}), (503, {}), (200, {})]

    async def handler(_: web.Request) -> web.Response:
        status, headers = answers.pop(0)
        return web.json_response(completion("hello"), status=status, headers=headers)

    for watch in (None, never):
        answers[:] = [(429, {"Retry-After": "7"}), (503, {}), (200, {})]
        waits = Waits()
        async with (
            served(handler) as url,
            model_at(url, tmp_path, client=client_with(waits)) as model,
        ):
            assert (await model.complete(ask("Hi"), watch)).text == "hello"
        assert len(waits.seconds) == 2
        assert 7 <= waits.seconds[0] <= 8


async def test_what_stays_broken_is_an_error_that_may_be_retried_later(tmp_path: Path) -> None:
    async def handler(_: web.Request) -> web.Response:
        return web.json_response({"error": {"message": f"overloaded, key {KEY}"}}, status=503)

    async with served(handler) as url, model_at(url, tmp_path) as model:
        with pytest.raises(ModelError, match="503: overloaded") as caught:
            await model.complete(ask("Hi"))
    assert caught.value.retryable
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "hint"), [(401, "API_KEY"), (403, "API_KEY"), (404, "/v1"), (400, "")]
)
async def test_a_refusal_is_not_tried_again(tmp_path: Path, status: int, hint: str) -> None:
    asked = 0

    async def handler(_: web.Request) -> web.Response:
        nonlocal asked
        asked += 1
        return web.json_response({"error": {"message": "no"}}, status=status)

    async with served(handler) as url, model_at(url, tmp_path) as model:
        with pytest.raises(ModelError, match=f"{status}: no") as caught:
            await model.complete(ask("Hi"))
    assert asked == 1
    assert hint in caught.value.hint
    assert not caught.value.retryable


async def test_nobody_listening_is_an_error_that_names_the_address(tmp_path: Path) -> None:
    waits = Waits()
    async with model_at("http://127.0.0.1:9/v1", tmp_path, client=client_with(waits)) as model:
        with pytest.raises(ModelError, match="cannot connect") as caught:
            await model.complete(ask("Hi"))
    assert "http://127.0.0.1:9/v1" in caught.value.hint
    assert len(waits.seconds) == 3


async def test_a_watched_reply_is_cut_and_the_connection_closed(tmp_path: Path) -> None:
    closed = asyncio.Event()

    async def handler(request: web.Request) -> web.StreamResponse:
        assert (await request.json())["stream"] is True
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        try:
            while True:  # only the client's leaving ends this
                await response.write(delta("word "))
        finally:
            closed.set()

    seen: list[str] = []
    async with served(handler) as url, model_at(url, tmp_path) as model:
        reply = await model.complete(ask("Hi"), lambda p: bool(seen.append(p)) or len(seen) == 3)
        async with asyncio.timeout(10):
            await closed.wait()
    assert (reply.text, reply.finish_reason) == ("word word word ", "cut")
    assert reply.estimated
    assert reply.usage.completion_tokens > 0


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        ([delta("half"), b'data: {"choices": [{"del\n\n'], "not JSON"),
        ([delta("half")], "ended before the reply did"),
        ([b'data: {"error": {"message": "out of memory"}}\n\n'], "out of memory"),
    ],
)
async def test_a_broken_stream_is_an_error_not_half_a_reply(
    tmp_path: Path, stream: list[bytes], message: str
) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for piece in stream:
            await response.write(piece)
        return response

    async with served(handler) as url, model_at(url, tmp_path) as model:
        with pytest.raises(ModelError, match=message):
            await model.complete(ask("Hi"), never)


async def test_events_are_read_wherever_the_pieces_of_the_stream_end(tmp_path: Path) -> None:
    usage = b'data: {"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 3}}\r\n\r\n'
    whole = b": ping\n\n" + delta("gr\u00fcn") + delta(" und blau") + usage + b"data: [DONE]\n\n"

    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for start in range(0, len(whole), 7):
            await response.write(whole[start : start + 7])
        return response

    async with served(handler) as url, model_at(url, tmp_path) as model:
        reply = await model.complete(ask("Hi"), never)
    assert reply.text == "gr\u00fcn und blau"
    assert (reply.usage, reply.estimated) == (Usage(11, 3), False)


async def test_a_server_that_does_not_stream_although_asked_to_is_understood(
    tmp_path: Path,
) -> None:
    async def handler(_: web.Request) -> web.Response:
        return web.json_response(completion("whole"))

    seen: list[str] = []
    async with served(handler) as url, model_at(url, tmp_path) as model:
        assert (await model.complete(ask("Hi"), lambda p: bool(seen.append(p)))).text == "whole"
    assert seen == ["whole"]


async def test_reasoning_is_kept_apart_from_the_reply_and_from_the_watcher(tmp_path: Path) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        if not (await request.json()).get("stream"):
            return web.json_response(completion("42", reasoning_content="six by seven"))
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for piece in ("<th", "ink>six", " by seven</thi", "nk>\n\n4", "2"):
            await response.write(delta(piece))
        await response.write(b"data: [DONE]\n\n")
        return response

    seen: list[str] = []
    async with served(handler) as url, model_at(url, tmp_path) as model:
        for reply in (
            await model.complete(ask("?")),
            await model.complete(ask("?"), lambda p: bool(seen.append(p))),
        ):
            assert (reply.text, reply.reasoning) == ("42", "six by seven")
    assert "".join(seen) == "42"


async def test_native_calls_come_back_parsed_and_bad_arguments_as_text(tmp_path: Path) -> None:
    bodies: list[Any] = []

    async def handler(request: web.Request) -> web.Response:
        bodies.append(await request.json())
        calls = [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}},
            {"id": "b", "type": "function", "function": {"name": "g", "arguments": '{"x": '}},
        ]
        return web.json_response(completion("", tool_calls=calls))

    async with served(handler) as url, model_at(url, tmp_path, mode="native") as model:
        assert (await model.capabilities()).mode == "native"
        reply = await model.complete(ask("?", tools=(Tool("f"),)))
    assert reply.tool_calls == (ToolCall("a", "f", {"x": 1}), ToolCall("b", "g", '{"x": '))
    assert reply.finish_reason == "tool_calls"
    assert bodies[0]["tools"][0]["function"].keys() == {"name", "description", "parameters"}


async def test_a_conversation_goes_out_with_its_calls_and_results(tmp_path: Path) -> None:
    bodies: list[Any] = []

    async def handler(request: web.Request) -> web.Response:
        bodies.append(await request.json())
        return web.json_response(completion("done"))

    call = ToolCall("1", "f", {"x": "\u00e4"})
    messages = (
        Message("user", "?"),
        Message("assistant", "", tool_calls=(call,)),
        Message("tool", "5", tool_call_id="1"),
    )
    async with served(handler) as url, model_at(url, tmp_path) as model:
        await model.complete(ChatRequest(messages, stop=("Human:",), seed=7))
    sent = bodies[0]
    assert json.loads(sent["messages"][1]["tool_calls"][0]["function"]["arguments"]) == {
        "x": "\u00e4"
    }
    assert sent["messages"][2] == {"role": "tool", "content": "5", "tool_call_id": "1"}
    assert (sent["stop"], sent["seed"], sent["temperature"], sent["model"]) == (
        ["Human:"],
        7,
        0.0,
        "m",
    )


async def test_a_parameter_the_endpoint_does_not_know_is_left_out_from_then_on(
    tmp_path: Path,
) -> None:
    bodies: list[Any] = []

    async def handler(request: web.Request) -> web.Response:
        bodies.append(body := await request.json())
        for name in ("max_tokens", "seed", "logprobs"):
            if name in body:
                return web.json_response(
                    {"error": {"message": f"Unsupported parameter: '{name}'"}}, status=400
                )
        return web.json_response(completion("hi"))

    async with served(handler) as url, model_at(url, tmp_path) as model:
        asked = replace(ask("?"), logprobs=True)
        assert [(await model.complete(asked)).text for _ in range(2)] == ["hi", "hi"]
    assert len(bodies) == 5
    assert bodies[-1]["max_completion_tokens"] == 24
    assert "logprobs" not in bodies[-1]


async def test_probing_tells_native_calls_and_ignored_schemas_and_is_done_once(
    tmp_path: Path,
) -> None:
    asked = 0

    async def handler(request: web.Request) -> web.Response:
        nonlocal asked
        asked += 1
        if (await request.json()).get("tools"):
            call = {
                "id": "1",
                "type": "function",
                "function": {"name": "switch_lamp", "arguments": '{"on": true}'},
            }
            return web.json_response(completion("", tool_calls=[call]))
        return web.json_response(completion("hello"))

    async with served(handler) as url:
        for _ in range(2):
            async with model_at(url, tmp_path) as model:
                found = await model.capabilities()
                assert (found.native_tools, found.json_schema, found.mode) == (
                    True,
                    False,
                    "native",
                )
    assert asked == 2
    assert KEY not in (tmp_path / "endpoints.json").read_text()


@pytest.mark.parametrize("up", [True, False])
async def test_many_who_begin_at_once_probe_once(up: bool, tmp_path: Path) -> None:
    asked = 0

    async def handler(request: web.Request) -> web.Response:
        nonlocal asked
        asked += 1
        return (
            web.json_response(completion('{"zq": "k7"}'))
            if up
            else web.json_response({}, status=401)
        )

    async with served(handler) as url, model_at(url, tmp_path) as model:

        async def find() -> bool:
            try:
                return (await model.capabilities()).json_schema
            except ModelError:
                return False

        async with asyncio.TaskGroup() as group:
            found = [group.create_task(find()) for _ in range(4)]
        assert [one.result() for one in found] == [up] * 4
        assert asked == (2 if up else 1)
        assert await find() == up
        assert asked == 2, "what failed is tried again by who comes later"


async def test_an_endpoint_that_refuses_both_is_asked_in_text(tmp_path: Path) -> None:
    async def handler(request: web.Request) -> web.Response:
        body = await request.json()
        if "tools" in body or "response_format" in body:
            return web.json_response({"error": "not supported here"}, status=400)
        return web.json_response(completion("hello"))

    async with served(handler) as url, model_at(url, tmp_path) as model:
        assert (await model.capabilities()).mode == "text"


async def test_a_server_that_falls_silent_is_given_up(tmp_path: Path) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        await response.write(delta("half"))
        await asyncio.Event().wait()
        return response

    timeout = Timeout(connect=5, idle=0.2, total=5)
    client = client_with(Waits(), timeout=timeout, retry=Retry(attempts=1))
    async with (
        served(handler) as url,
        model_at(url, tmp_path, client=client, retry=Retry(attempts=1)) as model,
    ):
        with pytest.raises(ModelError, match=r"did not answer in time|broke off") as caught:
            await model.complete(ask("Hi"), never)
    assert caught.value.retryable


@pytest.mark.parametrize(
    "url", ["ftp://x/v1", "localhost:80", "http://u:p@host/v1", "http://host/v1?key=1"]
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigError):
        OpenAIModel(url)


def test_strict_is_claimed_only_for_closed_objects_with_every_property_required() -> None:
    closed = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "additionalProperties": False,
    }
    assert is_strict({**closed, "required": ["a"]})
    assert not is_strict(closed)
    assert not is_strict({"type": "array", "items": closed})
    assert not is_strict({})
