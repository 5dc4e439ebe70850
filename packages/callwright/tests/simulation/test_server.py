"""The server as agents meet it: over real HTTP, through our own OpenAPI client."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from callwright.nouns.types import Json, Tool, ToolCall, ToolOutput
from callwright.simulation.routes import Answer, Route
from callwright.simulation.server import MAX_BODY
from callwright.tools.catalog import open_catalog
from callwright.tools.openapi.source import OpenAPISource
from tests.simulation.serving import asked, served


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


async def _repeat(body: Json, tools: Mapping[str, Tool], ask: Answer) -> tuple[int, Json, str]:
    output = await ask(tools["weather_for_skycast"], ToolCall("", "", {"city": body}))
    return 203, [body, output.content], output.simulated


async def test_a_registered_request_is_answered_beside_the_server_s_own() -> None:
    async with served(routes={"/mine": Route("/mine", "Mine", _repeat)}) as base:
        answer = await asked("POST", f"{base}/mine", b'"Oslo"')
        assert answer == (203, ["Oslo", {"tool": "weather_for_skycast", "celsius": 7}], "recorded")
        assert (await asked("POST", f"{base}/mine", b"{"))[0] == 422
        assert (await asked("GET", f"{base}/mine"))[0] == 404
        assert (await asked("POST", f"{base}/others", b"{}"))[0] == 404


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
