"""The processes that the measurement needs: ``python servers.py upstream|bare PORT [UPSTREAM]``."""

from __future__ import annotations

import asyncio
import json
import sys

import aiohttp
from aiohttp import web

from callwright.jsontext import parse

ARGUMENTS = json.dumps({"city": "Paris", "days": 3})


def chunk(delta: dict[str, object], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    made = {
        "id": "x",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [choice],
    }
    return b"data: " + json.dumps(made).encode() + b"\n\n"


def words(count: int) -> list[bytes]:
    return [chunk({"content": f"word{n} "}) for n in range(count)]


def call_text() -> str:
    return '<tool_call>\n{"name": "tool_3", "arguments": ' + ARGUMENTS + "}\n</tool_call>"


def stream_of(kind: str) -> list[bytes]:
    """``stream``: 60 words; ``repair``: 20 words and a call left in the text; both end as a server
    ends.
    """
    start, end = (
        [chunk({"role": "assistant", "content": ""})],
        [chunk({}, "stop"), b"data: [DONE]\n\n"],
    )
    if kind == "stream":
        return [*start, *words(60), *end]
    text = call_text()
    return [
        *start,
        *words(20),
        *[chunk({"content": text[i : i + 4]}) for i in range(0, len(text), 4)],
        *end,
    ]


def whole() -> bytes:
    call = {"id": "c1", "type": "function", "function": {"name": "tool_3", "arguments": ARGUMENTS}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    usage = {"prompt_tokens": 900, "completion_tokens": 20, "total_tokens": 920}
    made = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }
    return json.dumps(made).encode()


async def answer(request: web.Request) -> web.StreamResponse:
    kind = parse(await request.read())["model"]
    if kind == "whole":
        return web.Response(body=whole(), content_type="application/json")
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    pieces = stream_of("stream" if kind == "slow" else kind)
    for number, piece in enumerate(pieces):
        if kind == "slow":
            await asyncio.sleep(0.02 if number else 0)
        await response.write(piece)
    await response.write_eof()
    return response


def upstream() -> web.Application:
    made = web.Application(client_max_size=64_000_000)
    made.router.add_post("/v1/chat/completions", answer)
    return made


def bare(base: str) -> web.Application:
    """Copies requests and answers, and reads nothing."""
    made = web.Application(client_max_size=64_000_000)

    async def session(app: web.Application):  # type: ignore[no-untyped-def]
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as app["session"]:
            yield

    async def copy(request: web.Request) -> web.StreamResponse:
        body = await request.read()
        headers = {
            k: v for k, v in request.headers.items() if k.lower() not in ("host", "content-length")
        }
        async with request.app["session"].post(
            base + request.path, data=body, headers=headers
        ) as given:
            kept = {
                k: v
                for k, v in given.headers.items()
                if k.lower() not in ("transfer-encoding", "content-length")
            }
            response = web.StreamResponse(status=given.status, headers=kept)
            await response.prepare(request)
            async for piece in given.content.iter_any():
                await response.write(piece)
            await response.write_eof()
            return response

    made.cleanup_ctx.append(session)
    made.router.add_post("/v1/chat/completions", copy)
    return made


def main() -> None:
    try:
        import uvloop

        uvloop.install()
    except ImportError:
        pass
    role, port = sys.argv[1], int(sys.argv[2])
    app = upstream() if role == "upstream" else bare(sys.argv[3])
    web.run_app(app, host="127.0.0.1", port=port, print=None, access_log=None)


if __name__ == "__main__":
    main()
