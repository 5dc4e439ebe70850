"""A tool server over real HTTP, and a client of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import uvicorn

from callwright import Failure
from callwright.http import Egress, HttpClient, HttpResponse
from callwright.nouns.types import READ, Tool, ToolCall, ToolOutput
from callwright.serving.sockets import open_socket
from callwright.simulation.routes import Route
from callwright.simulation.server import ToolServer

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = Tool("weather_for_skycast", "Weather of a city.", CITY, effects=READ)


async def answer(tool: Tool, call: ToolCall) -> ToolOutput:
    given = (
        json.loads(call.arguments or "{}") if isinstance(call.arguments, str) else call.arguments
    )
    match given.get("city"):
        case "Oslo":
            return ToolOutput({"tool": tool.name, "celsius": 7}, simulated="recorded")
        case "Nowhere":
            return ToolOutput(
                failure=Failure("rate_limit", "slow down", retryable=True), simulated="model"
            )
    return ToolOutput(failure=Failure("tool_error", "no such city"))


@asynccontextmanager
async def served(key: str = "", routes: Mapping[str, Route] | None = None) -> AsyncIterator[str]:
    with open_socket("127.0.0.1", 0) as listening:
        app = ToolServer([WEATHER], answer, key=key, routes=routes)
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none"))
        async with asyncio.TaskGroup() as group:
            group.create_task(server.serve(sockets=[listening]))
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
            server.should_exit = True


async def asked(method: str, url: str, body: Any = None, **headers: str) -> tuple[int, Any, str]:
    client = HttpClient(Egress.any())
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        found = await client.request(method, url, headers=headers, data=data)
    finally:
        await client.aclose()
    assert isinstance(found, HttpResponse), found
    return found.status, json.loads(found.body), found.headers.get("x-callwright-simulated", "")
