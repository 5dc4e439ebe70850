"""The server as agents meet it: over real HTTP, through our own OpenAPI client and through
StableToolBench's form.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn

from callwright import Failure
from callwright.cli.proxy import bound
from callwright.http import Egress, HttpClient, HttpResponse
from callwright.nouns.types import READ, Tool, ToolCall, ToolOutput
from callwright.simulation.server import MAX_BODY, ToolServer
from callwright.tools.catalog import open_catalog
from callwright.tools.openapi.source import OpenAPISource

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
async def served(key: str = "") -> AsyncIterator[str]:
    with bound("127.0.0.1", 0) as listening:
        app = ToolServer([WEATHER], answer, key=key)
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


async def test_a_catalogue_reads_the_description_and_calls_the_tools() -> None:
    async with (
        served() as base,
        open_catalog([OpenAPISource(f"{base}/openapi.json", trusted=True)]) as catalog,
    ):
        (tool,) = catalog.tools
        assert (tool.name, tool.required, tool.effects.read_only) == (
            "weather_for_skycast",
            ("city",),
            True,
        )
        good = await catalog.call(tool.name, {"city": "Oslo"})
        assert good == ToolOutput({"tool": tool.name, "celsius": 7}, simulated="recorded")
        slow = await catalog.call(tool.name, {"city": "Nowhere"})
        assert slow.failure is not None
        assert (slow.failure.kind, slow.simulated) == ("rate_limit", "model")
        bad = await catalog.call(tool.name, {"city": "Atlantis"})
        assert bad.failure is not None
        assert (bad.failure.status, bad.simulated) == (400, "")
        assert "no such city" in bad.failure.message


async def test_stabletoolbench_s_own_request_is_understood() -> None:
    request = {
        "category": "Weather",
        "tool_name": "SkyCast",
        "api_name": "weather",
        "strip": "",
        "toolbench_key": "",
    }
    async with served() as base:
        for given in ({"city": "Oslo"}, '{"city": "Oslo"}'):
            for names in (
                {},
                {"tool_name": "skycast_for_Weather", "api_name": "weather_for_skycast"},
            ):
                status, body, how = await asked(
                    "POST", f"{base}/virtual", {**request, **names, "tool_input": given}
                )
                assert (status, body["error"], body["response"]["celsius"], how) == (
                    200,
                    "",
                    7,
                    "recorded",
                )
        _, body, _ = await asked(
            "POST", f"{base}/virtual", {**request, "tool_input": {"city": "Atlantis"}}
        )
        assert body == {"error": "no such city", "response": ""}
        _, body, _ = await asked(
            "POST", f"{base}/virtual", {**request, "api_name": "tides", "tool_input": ""}
        )
        assert body["error"] == "API doesn't exist"
        assert (await asked("POST", f"{base}/virtual", {"tool_name": 1}))[0] == 422
        assert (await asked("POST", f"{base}/virtual", b"{"))[0] == 422


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/healthz", 200),
        ("GET", "/tools", 200),
        ("GET", "/tools/weather_for_skycast", 404),
        ("POST", "/tools/tides", 404),
        ("GET", "/nothing", 404),
    ],
)
async def test_paths(method: str, path: str, status: int) -> None:
    async with served() as base:
        assert (await asked(method, base + path))[0] == status


async def test_a_request_that_is_too_long_is_refused() -> None:
    async with served() as base:
        status, body, _ = await asked(
            "POST", f"{base}/tools/weather_for_skycast", b" " * (MAX_BODY + 1)
        )
    assert (status, str(MAX_BODY) in body["error"]["message"]) == (413, True)


async def test_without_a_key_only_loopback_names_are_served_and_with_one_only_who_sends_it() -> (
    None
):
    async with served() as base:
        assert (await asked("GET", f"{base}/tools", host="evil.example"))[0] == 403
    async with served(key="k" * 16) as base:
        assert (await asked("GET", f"{base}/tools"))[0] == 401
        assert (await asked("GET", f"{base}/tools", authorization="Bearer " + "k" * 16))[0] == 200
