"""Clients of both eras in front of servers of both eras."""

from __future__ import annotations

from typing import Any

import mcp_types as types
import pytest
from mcp import MCPError

from callwright.gateway.server.handlers import take_page
from tests.gateway.doors import build_gateway, connect, peer, read_text, try_call, world

ERAS = [
    pytest.param(mode, options, id=f"{mode}-client-{options[0] if options else 'modern'}-server")
    for mode in ("auto", "legacy")
    for options in ((), ("--legacy",))
]


async def give_name(context: Any, params: Any) -> types.ElicitResult:
    assert params.message == "What is your name?"
    return types.ElicitResult(action="accept", content={"name": "Ann"})


async def write_text(context: Any, params: Any) -> types.CreateMessageResult:
    assert params.messages[0].content.text == "Say hi"
    return types.CreateMessageResult(
        role="assistant", content=types.TextContent(text="hi"), model="m-1"
    )


async def list_roots(context: Any) -> types.ListRootsResult:
    return types.ListRootsResult(roots=[types.Root(uri="file:///home/ann")])


@pytest.mark.parametrize(("mode", "options"), ERAS)
async def test_tools_are_listed_page_by_page_and_called_with_structured_results(
    mode: str, options: tuple[str, ...]
) -> None:
    gateway = build_gateway({"w": world(*options, trusted=True)})
    async with gateway.running(), connect(gateway, mode) as client:
        assert client.protocol_version == ("2026-07-28" if mode == "auto" else "2025-11-25")
        listed = await client.list_tools()
        assert len(listed.tools) == 10
        assert listed.tools[0].name == "w__add"
        assert listed.tools[0].output_schema is not None
        assert listed.tools[0].annotations is not None
        assert listed.tools[0].annotations.read_only_hint
        result = await client.call_tool("w__add", {"a": 1, "b": 2})
        assert (read_text(result), result.structured_content) == ("3", {"sum": 3})


@pytest.mark.parametrize(("mode", "options"), ERAS)
async def test_a_server_that_asks_in_the_middle_of_a_call_is_answered_by_the_client(
    mode: str, options: tuple[str, ...]
) -> None:
    gateway = build_gateway({"w": world(*options)}, consent="client")
    callbacks: dict[str, Any] = {
        "elicitation_callback": give_name,
        "sampling_callback": write_text,
        "list_roots_callback": list_roots,
    }
    async with gateway.running(), connect(gateway, mode, **callbacks) as client:
        await client.list_tools()
        assert read_text(await client.call_tool("w__ask_name", {})) == "accept: Ann"
        assert read_text(await client.call_tool("w__ask_model", {})) == "m-1: hi"
        assert read_text(await client.call_tool("w__ask_roots", {})) == "file:///home/ann"


@pytest.mark.parametrize(("mode", "options"), ERAS)
async def test_a_client_that_cannot_be_asked_is_told_so(
    mode: str, options: tuple[str, ...]
) -> None:
    gateway = build_gateway({"w": world(*options)}, consent="client")
    async with gateway.running(), connect(gateway, mode) as client:
        await client.list_tools()
        assert "licit" in await try_call(client, "w__ask_name")


@pytest.mark.parametrize(("mode", "options"), ERAS)
async def test_progress_and_logs_come_with_the_call_that_they_belong_to(
    mode: str, options: tuple[str, ...]
) -> None:
    gateway = build_gateway({"w": world(*options)}, consent="client")
    logs: list[Any] = []
    steps: list[Any] = []

    async def note_log(params: Any) -> None:
        logs.append((params.level, params.data, params.logger))

    async def note_progress(done: float, total: float | None, message: str | None) -> None:
        steps.append((done, total, message))

    callbacks: dict[str, Any] = {"logging_callback": note_log, "log_level": "error"}
    async with gateway.running(), connect(gateway, mode, **callbacks) as client:
        if mode == "legacy":
            request = types.SetLevelRequest(params=types.SetLevelRequestParams(level="error"))
            await client.session.send_request(request, types.EmptyResult)
        await client.list_tools()
        result = await client.call_tool("w__work", {}, progress_callback=note_progress)
        assert read_text(result) == "worked"
        await client.call_tool("w__link", {})
    assert steps == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]
    assert logs == [("error", "nearly failed", "world")]


@pytest.mark.parametrize(("mode", "options"), ERAS)
async def test_prompts_resources_templates_and_completion_go_to_their_server(
    mode: str, options: tuple[str, ...]
) -> None:
    gateway = build_gateway({"w": world(*options), "peer": peer()}, consent="client")
    async with gateway.running(), connect(gateway, mode) as client:
        prompts = (await client.list_prompts()).prompts
        assert [prompt.name for prompt in prompts] == ["w__trip"]
        made = await client.get_prompt("w__trip", {"city": "Oslo"})
        assert made.messages[0].content.text == "Plan a trip to Oslo."  # type: ignore[union-attr]
        assert [str(one.uri) for one in (await client.list_resources()).resources] == ["note://one"]
        templates = (await client.list_resource_templates()).resource_templates
        assert [one.uri_template for one in templates] == ["city://{name}"]
        for uri in ("note://one", "city://Oslo"):
            read = await client.read_resource(uri)
            assert read.contents[0].text == f"all of {uri}"  # type: ignore[union-attr]
        ref = types.PromptReference(name="w__trip")
        done = await client.complete(ref, {"name": "city", "value": "Os"})
        assert done.completion.values == ["Oslo", "Osaka"]
        with pytest.raises(MCPError, match="no server is known to have"):
            await client.read_resource("nowhere://x")
        with pytest.raises(MCPError, match="there is no prompt"):
            await client.get_prompt("w__trap", {})


async def test_a_resource_that_a_result_names_can_be_read() -> None:
    gateway = build_gateway({"w": world()}, consent="client")
    async with gateway.running(), connect(gateway) as client:
        await client.list_tools()
        with pytest.raises(MCPError):
            await client.read_resource("hidden://thing")
        await client.call_tool("w__link", {})
        read = await client.read_resource("hidden://thing")
        assert read.contents[0].text == "all of hidden://thing"  # type: ignore[union-attr]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_structured_result_without_content_gets_its_text(mode: str) -> None:
    gateway = build_gateway({"p": peer(trusted=True)})
    async with gateway.running(), connect(gateway, mode) as client:
        told = await client.call_tool("p__bare", {})
    assert (told.is_error, told.structured_content) == (False, {"sum": 3})
    assert read_text(told) == '{"sum":3}'


async def test_what_the_gateway_is_stands_in_its_instructions() -> None:
    gateway = build_gateway({"w": world(trusted=True), "other": world()})
    async with gateway.running():
        async with connect(gateway) as client:
            await client.list_tools()
        async with connect(gateway) as client:
            told = client.session.instructions or ""
    assert "w__" in told
    assert "w: Be kind." in told
    assert "other: Be kind." not in told, "what an untrusted server tells is nobody's word"


def test_a_page_ends_with_a_cursor_that_only_the_gateway_made() -> None:
    entries = [{"name": str(number)} for number in range(1_201)]
    first, following = take_page(entries, None)
    assert len(first) == 500
    second, following = take_page(
        entries, types.PaginatedRequestParams(cursor=following["nextCursor"])
    )
    third, following = take_page(
        entries, types.PaginatedRequestParams(cursor=following["nextCursor"])
    )
    assert [*first, *second, *third] == entries
    assert following == {}
    for wrong in ("x", "MQ==", "1"):
        with pytest.raises(MCPError, match="cursor"):
            take_page(entries, types.PaginatedRequestParams(cursor=wrong))
