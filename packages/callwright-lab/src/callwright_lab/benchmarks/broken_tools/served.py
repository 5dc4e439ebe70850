"""The world of the broken-tools benchmark, running: its APIs behind one real HTTP server, the desk
behind its twins.

What is broken is broken at the server; catalogue, retrieval and trials meet it as they would meet
any other.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qsl, unquote

from callwright.http import HttpResponse
from callwright.jsontext import write
from callwright.nouns.errors import ConfigError, MissingExtra
from callwright.nouns.protocols import ToolSource
from callwright.nouns.types import Json, JsonObject, Tool, ToolOutput, to_canonical_json
from callwright.tools.catalog import Catalog, open_catalog
from callwright.tools.openapi.response import output_of
from callwright.tools.sources import SourceSpec, sources_of
from callwright_lab.benchmarks.broken_tools.apis import FILM_KEY, Breakages
from callwright_lab.benchmarks.broken_tools.kinds import Breakage
from callwright_lab.benchmarks.broken_tools.world import Need, World
from callwright_lab.benchmarks.desk.tasks import Desk

Twins = Mapping[str, tuple[str, str]]  # a tool -> its twin's name and description


class WorldServer:
    """ASGI application: ``/<api>/openapi.json`` and the operations that it describes. ``requests``
    counts them.
    """

    def __init__(self, world: World, breakages: Breakages) -> None:
        self._apis = {api.name: api for api in world.apis}
        self._breakages = breakages
        self.requests = 0

    async def __call__(self, scope: Any, _: Any, send: Any) -> None:
        assert scope["type"] == "http", "started without lifespan and websockets"
        status, body = self._respond(scope["path"], scope["query_string"].decode("latin-1"))
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": write(body)})

    def _respond(self, path: str, query: str) -> tuple[int, Json]:
        name, _, rest = path.lstrip("/").partition("/")
        api = self._apis.get(name)
        if api is None:
            return 404, {"message": "no such API"}
        if rest == "openapi.json":
            return 200, {**api.document(self._breakages), "servers": [{"url": f"/{name}"}]}
        self.requests += 1
        return api.answer(f"/{unquote(rest)}", dict(parse_qsl(query)), self._breakages)


@asynccontextmanager
async def serve_app(app: WorldServer) -> AsyncIterator[str]:
    """The server on a free port of loopback; its address. Raises MissingExtra."""
    try:
        import uvicorn
    except ImportError:
        raise MissingExtra("serving the benchmark's world", "proxy") from None
    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", ws="none", log_level="error"))
    with socket.create_server(
        ("127.0.0.1", 0)
    ) as listening:  # who connects early waits in its queue
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(server.serve(sockets=[listening]))
                try:
                    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
                finally:
                    server.should_exit = True
        except BaseExceptionGroup as errors:  # what went wrong inside the block is said as it was
            raise errors.exceptions[0] from None


class TwinnedSource:
    """A tool source in front of another: some tools a second time under another name, some of all
    of them broken.
    """

    def __init__(self, source: ToolSource, twins: Twins, breakages: Breakages) -> None:
        self._source, self._twins, self._breakages = source, twins, breakages
        self._originals: dict[str, Tool] = {}

    @property
    def name(self) -> str:
        return self._source.name

    async def open(self) -> Sequence[Tool]:
        tools = {tool.name: tool for tool in await self._source.open()}
        self._originals = dict(tools)
        for tool in tuple(tools.values()):
            if tool.name in self._twins:
                name, about = self._twins[tool.name]
                tools[name] = replace(tool, name=name, description=about)
                self._originals[name] = tool
        return [
            _add_documented_parameter(tool, self._breakages.get(name))
            for name, tool in tools.items()
        ]

    async def call(self, tool: Tool, arguments: JsonObject) -> ToolOutput:
        breakage = self._breakages.get(tool.name)
        if breakage is None:
            return await self._source.call(self._originals[tool.name], arguments)
        status, body = breakage.reply()
        answer = HttpResponse(status, {"content-type": "application/json"}, write(body))
        return output_of(answer, tool.name, (), 0.0)

    async def aclose(self) -> None:
        await self._source.aclose()


def _add_documented_parameter(tool: Tool, breakage: Breakage | None) -> Tool:
    if breakage is None or breakage.documented is None:
        return tool
    name, schema = breakage.documented
    wanted = {**tool.input_schema, "properties": {**tool.properties, name: schema}}
    return replace(tool, input_schema={**wanted, "required": [*tool.required, name]})


@asynccontextmanager
async def open_world_catalog(world: World, rate: int, desk: Desk | None) -> AsyncIterator[Catalog]:
    """Every tool of a half, a share of them broken, each open and callable."""
    breakages = world.choose_broken(rate)
    app = WorldServer(world, breakages)
    with _open_desk_folder(world, desk):
        async with serve_app(app) as base:
            remote = [f"{base}/{api.name}/openapi.json?name={api.name}" for api in world.apis]
            async with open_catalog(
                [*map(_build_api_source, remote), *_build_desk_sources(world, desk, breakages)]
            ) as catalog:
                missing = [
                    t for tools in world.families.values() for t in tools if t not in catalog
                ]
                if missing:
                    raise ConfigError(
                        f"the world lacks {', '.join(missing[:5])}",
                        hint="; ".join(catalog.problems[:3]),
                    )
                yield catalog


def _build_api_source(spec: str) -> ToolSource:
    from callwright.tools.openapi.source import OpenAPIOptions, OpenAPISource

    url, _, name = spec.partition("?name=")
    return OpenAPISource(
        url, OpenAPIOptions(name=name, environment={f"{name.upper()}_API_KEY": FILM_KEY})
    )


@contextmanager
def _open_desk_folder(world: World, desk: Desk | None) -> Iterator[None]:
    if desk is None or not world.twins:
        yield
        return
    with TemporaryDirectory(prefix="desk-") as folder:
        desk.fresh(Path(folder) / "desk")
        yield


def _build_desk_sources(world: World, desk: Desk | None, breakages: Breakages) -> list[ToolSource]:
    if desk is None or not world.twins:
        return []
    twins = {tool: (name, about) for tool, name, about in world.twins.values()}
    specs: list[SourceSpec] = [desk.faulty(()), str(desk.folder / "mcp.json")]
    return [
        TwinnedSource(source, twins, breakages) for spec in specs for source in sources_of(spec)
    ]


Truth = dict[str, str]  # of a tool and a call: what it replies in a world where nothing is broken


async def collect_replies(world: World, catalog: Catalog) -> Truth:
    """Return the reply of every usable tool to the call that a query needs, by call key; "" for a
    failure.

    The replies of an unbroken world are the truth. A tool *truly answers* if its reply in a broken
    world is the same.
    """
    found: Truth = {}
    for need in dict(_list_needs(world)).values():
        for tool in world.families[need.family]:
            arguments = world.call(tool, need)
            key = make_call_key(tool, arguments)
            if key not in found:
                output = await catalog.call(tool, arguments)
                found[key] = "" if output.failure is not None else to_canonical_json(output.content)
    return found


def make_call_key(tool: str, arguments: JsonObject) -> str:
    """One call as a key."""
    return f"{tool} {to_canonical_json(arguments)}"


def find_answering_tools(world: World, need: Need, truth: Truth, here: Truth) -> tuple[str, ...]:
    """Return the tools of a need's family that truly answer it in this world. The gold of the
    benchmark.
    """
    keys = {
        tool: make_call_key(tool, world.call(tool, need)) for tool in world.families[need.family]
    }
    return tuple(tool for tool, key in keys.items() if truth[key] and here[key] == truth[key])


def _list_needs(world: World) -> list[tuple[str, Need]]:
    return [
        (to_canonical_json([n.family, n.arguments]), n)
        for query in world.queries
        for n in query.needs
    ]
