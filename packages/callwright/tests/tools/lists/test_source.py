from __future__ import annotations

import pytest

from callwright.agent.safety.consent import Consent
from callwright.nouns.errors import CatalogError
from callwright.tools.lists.source import ListSource
from callwright.tools.mcp.source import MCPSource

GOOD = {"name": "f", "description": "F.", "parameters": {"a": {"type": "int"}}}


async def test_a_list_offers_what_can_be_read_and_says_what_cannot() -> None:
    source = ListSource.read([GOOD, {"description": "nameless"}, GOOD], name="mine")
    tools = await source.open()
    assert [(t.name, t.source) for t in tools] == [("f", "mine")]  # equal descriptions are one tool
    assert source.problems == ("mine, entry 1: a tool has no name: {'description': 'nameless'}",)


async def test_nobody_runs_a_tool_that_is_known_by_its_description() -> None:
    source = ListSource.read([GOOD], name="mine")
    (tool,) = await source.open()
    output = await source.call(tool, {"a": 1})
    assert output.failure is not None
    assert (output.failure.kind, output.failure.outcome_unknown) == ("not_executable", False)
    await source.aclose()


async def test_a_list_without_a_usable_tool_is_an_error_with_the_reasons() -> None:
    with pytest.raises(CatalogError) as error:
        await ListSource.read([{"parameters": {}}], name="mine").open()
    assert "has no name" in error.value.hint


async def test_a_tool_without_annotations_asks_before_it_writes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is declared of it, and it is handed to a run: of a list, and of a server that is
    trusted.
    """
    server = MCPSource.stdio("rooms", trusted=True)

    async def listed() -> list[dict[str, object]]:
        return [{"name": "book", "inputSchema": {"type": "object"}}]

    monkeypatch.setattr(server._connection, "start", listed)
    for source in (ListSource.read([GOOD]), server):
        (tool,) = await source.open()
        assert Consent().why(tool) == "it may destroy something"
