"""An answer on its way between a client and an upstream, either of which may leave."""

from __future__ import annotations

import asyncio
import json
import socket
import zlib

import openai
import pytest

from callwright.proxy.server.budget import Budget
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import SSE, body, chunk, text_stream
from tests.proxy.server.test_app import asked_of, collect, message, replies
from tests.proxy.upstream import Reply, proxy, upstream


async def test_text_reaches_the_client_before_the_answer_is_complete() -> None:
    hold = asyncio.Event()
    first = chunk({"role": "assistant", "content": "It "})
    stream = [first, chunk({"content": "rains."}), chunk({}, "stop"), b"data: [DONE]\n\n"]
    async with (
        upstream(replies(Reply(stream, hold=hold))) as up,
        proxy(up.url) as (address, _),
        asked_of(address) as client,
    ):
        streamed = await client.chat.completions.create(**message())
        said = await anext(aiter(streamed))
        assert said.choices[0].delta.content == "It "
        hold.set()
        rest = [c async for c in streamed]
    assert rest[-1].choices[0].finish_reason == "stop"


async def test_a_client_that_leaves_closes_the_upstream_at_once() -> None:
    never = asyncio.Event()
    reply = Reply([chunk({"content": "It "}), b""], hold=never)
    async with upstream(replies(reply)) as up, proxy(up.url) as (address, made):
        for _ in range(20):
            up.went.clear()
            async with asked_of(address) as client:
                streamed = await client.chat.completions.create(**message())
                await anext(aiter(streamed))
                await streamed.close()
            async with asyncio.timeout(5):
                await up.went.wait()
        assert made.counters.active == 0
    assert up.gone == 20


async def test_an_upstream_that_hangs_up_in_the_middle_is_an_error_for_the_client() -> None:
    reply = Reply([chunk({"content": "It <tool_c"})], cut=True)
    async with (
        upstream(replies(reply)) as up,
        proxy(up.url) as (address, _),
        asked_of(address) as client,
    ):
        streamed = await client.chat.completions.create(**message())
        seen: list[str] = []
        with pytest.raises(openai.APIError, match="upstream"):
            await collect(streamed, seen)
    assert "".join(seen) == "It <tool_c"


async def test_an_upstream_that_is_not_there_is_a_502() -> None:
    async with proxy("http://127.0.0.1:9/v1") as (address, _), asked_of(address) as client:
        with pytest.raises(openai.InternalServerError) as caught:
            await client.chat.completions.create(**message())
    assert caught.value.status_code == 502


@pytest.mark.parametrize("whole_answer", [False, True])
async def test_a_client_that_reads_nothing_holds_the_upstream_back_and_is_cut_off(
    whole_answer: bool,
) -> None:
    """Of 200 MB the upstream gets rid of what fits into the sockets' buffers. An answer is whole or
    a stream.
    """
    piece = chunk({"content": "x" * 50_000})
    reply = Reply(
        [piece] * 4_000,
        headers={"content-type": "application/octet-stream"} if whole_answer else SSE,
    )
    settings = Settings(guided="off", budget=Budget(stalled_seconds=0.2))
    sent = json.dumps(body()).encode()
    async with upstream(replies(reply)) as up, proxy(up.url, settings) as (address, made):
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as client:
            path = b"/v1/files/1/content" if whole_answer else b"/v1/chat/completions"
            client.sendall(
                b"POST %b HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n"
                % (path, len(sent))
                + sent
            )
            async with asyncio.timeout(20):
                await up.went.wait()
            assert up.written < 20_000_000
            assert len(up.asked) == 1
    assert made.counters.active == 0
    assert [r.outcome for r in made.counters.records] == ([] if whole_answer else ["gone"])


async def test_a_compressed_answer_that_is_cut_is_an_error() -> None:
    packed = zlib.compress(text_stream(*"It rains."), wbits=31)[:150]
    reply = Reply(
        [packed],
        headers={"content-type": "text/event-stream", "content-encoding": "gzip"},
        cut=True,
    )
    async with (
        upstream(replies(reply)) as up,
        proxy(up.url) as (address, _),
        asked_of(address) as client,
    ):
        with pytest.raises(openai.APIError):
            await collect(await client.chat.completions.create(**message()), [])


async def test_an_upstream_that_falls_silent_is_an_error_in_time() -> None:
    reply = Reply([chunk({"content": "It "}), b""], hold=asyncio.Event())
    settings = Settings(guided="off", idle_seconds=0.2)
    async with (
        upstream(replies(reply)) as up,
        proxy(up.url, settings) as (address, _),
        asked_of(address) as client,
    ):
        with pytest.raises(openai.APIError, match="in time"):
            await collect(await client.chat.completions.create(**message()), [])
