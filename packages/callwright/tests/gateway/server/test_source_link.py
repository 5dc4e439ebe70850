from __future__ import annotations

import json
from pathlib import Path

from aiohttp import web

from callwright.gateway.configuration import read_servers
from callwright.gateway.server.caller import ConnectionKey
from callwright.gateway.server.link import Flight, refuse_ask
from callwright.gateway.server.source_link import SourceLink
from callwright.gateway.session.commands import Rejected, Returned
from tests.gateway.doors import build_gateway, connect, try_call

MODULE = '''
from typing import Literal

def greet(name: str, tone: Literal["warm", "cold"] = "warm") -> dict[str, str]:
    """Greet somebody."""
    return {"said": f"{tone}: {name}"}

def fail(name: str) -> str:
    """Fail."""
    raise ValueError("no such name")
'''


def write_module(folder: Path) -> str:
    path = folder / "greetings.py"
    path.write_text(MODULE)
    return str(path)


async def test_functions_of_a_module_are_tools_of_a_server(tmp_path: Path) -> None:
    write_module(tmp_path)
    gateway = build_gateway(
        {"py": {"python": "greetings.py", "trusted": True}}, tmp_path, consent="client"
    )
    async with gateway.running(), connect(gateway) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names == {"py__greet", "py__fail"}
        told = await client.call_tool("py__greet", {"name": "Ann", "tone": "WARM"})
        assert told.structured_content == {"said": "warm: Ann"}
        failed = await client.call_tool("py__fail", {"name": "x"})
        assert failed.is_error


async def test_operations_of_a_document_are_tools_of_a_server(tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"city": request.match_info["city"], "sun": True})

    application = web.Application()
    application.router.add_get("/weather/{city}", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    address = runner.addresses[0]
    city = {"name": "city", "in": "path", "required": True, "schema": {"type": "string"}}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "W", "version": "1"},
        "paths": {
            "/weather/{city}": {
                "get": {
                    "operationId": "get_weather",
                    "parameters": [city],
                    "responses": {"200": {"description": "ok"}},
                }
            }
        },
    }
    (tmp_path / "doc.json").write_text(json.dumps(document))
    entry = {"openapi": "doc.json", "base_url": f"http://{address[0]}:{address[1]}"}
    gateway = build_gateway({"api": entry}, tmp_path, consent="client")
    async with gateway.running(), connect(gateway, "legacy") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["api__get_weather"]
        told = await client.call_tool("api__get_weather", {"City": "Oslo"})
        assert told.structured_content == {"city": "Oslo", "sun": True}
    await runner.cleanup()


async def test_it_has_tools_and_nothing_else(tmp_path: Path) -> None:
    write_module(tmp_path)
    (entry,) = read_servers({"py": {"python": "greetings.py"}}, tmp_path).entries
    link = SourceLink(entry, ConnectionKey())
    assert not link.is_open
    assert len(await link.open()) == 2
    assert (link.is_open, link.is_busy, link.is_outdated) == (True, False, False)
    assert [link.has(name) for name in ("tools", "prompts")] == [True, False]
    assert await link.list_all("prompts") == []
    assert len(await link.list_again()) == 2
    flight = Flight(refuse_ask)
    for method, params in (("prompts/get", {}), ("tools/call", {"name": "none"})):
        assert isinstance(await link.send(method, params, flight), Rejected)
    assert isinstance(await link.watch("x://y"), Rejected)
    call = {"name": "greet", "arguments": {"name": "Ann"}}
    assert isinstance(await link.send("tools/call", call, flight), Returned)
    await link.close()
    assert not link.is_open


async def test_a_document_that_is_none_costs_its_own_tools(tmp_path: Path) -> None:
    write_module(tmp_path)
    servers = {"bad": {"openapi": "none.yaml"}, "py": {"python": "greetings.py"}}
    gateway = build_gateway(servers, tmp_path, consent="client")
    async with gateway.running(), connect(gateway) as client:
        assert len((await client.list_tools()).tools) == 2
        assert "none.yaml" in gateway.describe_servers()[0]["last_failure"]
        assert "There is no tool" in await try_call(client, "bad__x")
