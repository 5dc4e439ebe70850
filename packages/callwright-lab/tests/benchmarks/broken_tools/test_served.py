"""The dev half as it is served: over HTTP, by its own descriptions, through the catalogue."""

from __future__ import annotations

import pytest

from callwright.testing import FakeTool, fake_source
from callwright_lab.benchmarks.broken_tools.kinds import Breakage, choose_broken_tools
from callwright_lab.benchmarks.broken_tools.served import (
    TwinnedSource,
    collect_replies,
    find_answering_tools,
    open_world_catalog,
)
from callwright_lab.benchmarks.broken_tools.world import read_world
from tests.places import EXAMPLES

FOLDER = EXAMPLES / "broken_tools"


@pytest.mark.heavy
async def test_gold_calls_succeed_in_a_whole_world_and_in_a_broken_one_just_the_broken_tools_do_not_answer() -> (
    None
):
    world = read_world("dev", FOLDER, FOLDER, None)
    async with open_world_catalog(world, 0, None) as whole:
        truth = await collect_replies(world, whole)
        assert len(whole.tools) == 42
    assert all(truth.values())
    gone = choose_broken_tools(world.families, 50)
    async with open_world_catalog(world, 50, None) as catalog:
        here = await collect_replies(world, catalog)
    for query in world.queries:
        for need in query.needs:
            found = find_answering_tools(world, need, truth, here)
            assert found
            assert set(found) == {tool for tool in world.families[need.family] if tool not in gone}


@pytest.mark.parametrize(("kind", "failed"), [("auth", True), ("empty", False)])
async def test_a_local_tool_has_a_twin_and_breaks_like_a_server(kind: str, failed: bool) -> None:
    tool = FakeTool("weather", {"city": {"type": "string"}}, output={"celsius": 7})
    breakages = {"weather": Breakage(kind, 0)}  # type: ignore[arg-type]
    source = TwinnedSource(fake_source(tool), {"weather": ("climate", "The climate.")}, breakages)
    first, second = await source.open()
    assert (second.name, second.description, second.input_schema) == (
        "climate",
        "The climate.",
        first.input_schema,
    )
    assert (await source.call(second, {"city": "Oslo"})).content == {"celsius": 7}
    output = await source.call(first, {"city": "Oslo"})
    assert (output.failure is not None) == failed
    assert output.content != {"celsius": 7}
    await source.aclose()


async def test_a_parameter_that_nobody_can_know_is_documented_of_a_local_tool_too() -> None:
    source = TwinnedSource(
        fake_source(FakeTool("weather")), {}, {"weather": Breakage("missing_parameter", 0)}
    )
    (tool,) = await source.open()
    assert tool.required == ("carrier_code",)


async def test_what_goes_wrong_while_the_world_is_served_is_said_as_it_was() -> None:
    world = read_world("dev", FOLDER, FOLDER, None)
    with pytest.raises(LookupError, match="mine"):
        async with open_world_catalog(world, 0, None):
            raise LookupError("mine")
