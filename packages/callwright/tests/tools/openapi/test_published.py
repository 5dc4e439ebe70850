"""Descriptions that others published, imported whole: TMDB's and GitHub's.

GitHub's is one file of the npm package named below, fetched once by npm into a cache folder (npm
comes from PyPI where Node is missing, see conftest).
"""

from __future__ import annotations

import tarfile
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

import jsonschema_rs
import pytest
from aiohttp import web

from callwright.nouns.types import Tool
from callwright.tools.openapi.source import OpenAPISource
from tests.peers import cache, npm_pack
from tests.places import DATA

PACKAGE, VERSION = "@octokit/openapi", "23.0.2"
MEMBER = "package/generated/api.github.com.json"
TMDB = DATA / "tmdb" / "tmdb_openapi.json"

needs_tmdb = pytest.mark.skipif(
    not TMDB.exists(), reason="needs the TMDB description, tmdb/tmdb_openapi.json"
)


@pytest.fixture(scope="session")
def github() -> Path:
    target = cache() / f"api.github.com-{VERSION}.json"
    if not target.exists():
        with (
            tarfile.open(npm_pack(PACKAGE, VERSION)) as archive,
            tempfile.TemporaryDirectory(dir=cache()) as folder,
        ):
            member = archive.extractfile(MEMBER)
            assert member is not None
            (Path(folder) / "whole").write_bytes(member.read())
            (Path(folder) / "whole").rename(target)
    return target


def check_schemas(tools: list[Tool]) -> None:
    """Every schema is JSON Schema 2020-12, compiles, and refers to nothing outside itself."""
    for tool in tools:
        for schema in filter(None, (tool.input_schema, tool.output_schema)):
            jsonschema_rs.meta.validate(
                {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
            )
            jsonschema_rs.Draft202012Validator(schema, offline=True)


async def test_githubs_description_is_imported_whole_in_seconds(github: Path) -> None:
    source = OpenAPISource(github, name="github")
    start = time.perf_counter()
    tools = list(await source.open())
    seconds = time.perf_counter() - start
    assert len(tools) + len(source.not_imported) == 1223
    assert source.not_imported == ()
    assert len({t.name for t in tools}) == 1223
    assert seconds < 30  # about 2 on one free core
    check_schemas(tools)
    assert sum(t.effects.read_only for t in tools) > 600
    by_name = {t.name: t for t in tools}
    issue = by_name["issues_create"]
    assert issue.required == ("owner", "repo", "title")
    assert not issue.effects.may_repeat
    assert by_name["repos_get-content"].output_schema is not None


async def test_githubs_tools_can_be_chosen_by_tag(github: Path) -> None:
    tools = await OpenAPISource(
        github, name="github", include=["tag:issues"], exclude=["DELETE"]
    ).open()
    assert {t.name.partition("_")[0] for t in tools} == {"issues"}
    assert len(tools) > 40


@needs_tmdb
async def test_tmdbs_description_is_imported_whole() -> None:
    source = OpenAPISource(TMDB)
    tools = list(await source.open())
    assert (source.name, len(tools), source.not_imported) == ("tmdb", 54, ())
    check_schemas(tools)
    search = next(t for t in tools if t.name == "GET_search-movie")
    assert search.required == ("query",)
    assert search.output_schema is not None
    assert "results" in search.output_schema["properties"]


@pytest.fixture
async def echo() -> AsyncIterator[str]:
    async def handle(request: web.Request) -> web.Response:
        return web.json_response({"method": request.method, "raw": request.raw_path})

    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


@needs_tmdb
async def test_tmdbs_tools_call_what_the_description_says(echo: str) -> None:
    source = OpenAPISource(TMDB, base_url=f"{echo}/3", environment={"TMDB_API_KEY": "k3y-canary"})
    tools = {t.name: t for t in await source.open()}
    output = await source.call(tools["GET_search-movie"], {"query": "Blade Runner", "page": 2})
    assert output.content["raw"] == "/3/search/movie?query=Blade%20Runner&page=2&api_key=[secret]"
    output = await source.call(tools["GET_movie-movie_id-keywords"], {"movie_id": 78})
    assert output.content["raw"] == "/3/movie/78/keywords?api_key=[secret]"
    await source.aclose()
    without = OpenAPISource(TMDB, base_url=f"{echo}/3", environment={})
    await without.open()
    failure = (await without.call(tools["GET_movie-movie_id-keywords"], {"movie_id": 78})).failure
    assert failure is not None
    assert (failure.kind, "TMDB_API_KEY" in failure.message) == ("auth", True)


async def test_every_call_to_github_stays_under_its_own_path(github: Path, echo: str) -> None:
    """Hostile values in every path parameter of a hundred operations: refused, or one segment
    each.
    """
    source = OpenAPISource(github, base_url=echo, include=["GET /repos/*"])
    tools = list(await source.open())[::2][:100]
    assert len(tools) == 100
    for index, tool in enumerate(tools):
        value = ("../../admin", "a/b?c#d", "%2e%2e", "x;y", "..\\z", "\u65e5", "a&b")[index % 7]
        arguments = dict.fromkeys(tool.required, value)
        output = await source.call(tool, arguments)
        template = source._bindings[tool.name].path
        if output.failure is None:
            raw = output.content["raw"].partition("?")[0]
            assert raw.count("/") == template.count("/")
            assert "admin" not in raw
        else:
            assert output.failure.kind == "tool_error"
    await source.aclose()
