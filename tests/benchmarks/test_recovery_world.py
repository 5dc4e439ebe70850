"""Raw calls, carried out as the tools' own servers would answer them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.benchmarks.trajectory_case import WEATHER, step

from callwright.benchmarks.recovery_world import live_world, simulated_world
from callwright.catalog import open_catalog
from callwright.testing import FakeTool, ScriptedModel, fake_source
from callwright.types import WRITE, ToolCall


def call(arguments: Any, tool: str = "weather") -> ToolCall:
    return ToolCall("c1", tool, arguments)


async def test_what_is_on_record_is_answered_again_and_the_rest_made_up() -> None:
    model = ScriptedModel({"simulate": {"error": "", "response": {"sky": "snow"}}})
    world = simulated_world([WEATHER], [step("r1", {"city": "Oslo"}, {"sky": "rain"})], model)
    assert (await world.carry_out(call({"city": "Oslo"}))).content == {"sky": "rain"}
    assert (await world.carry_out(call({"city": "Rome"}))).content == {"sky": "snow"}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (call({"city": "Oslo"}, "wether"), "no tool called 'wether'"),
        (call("Oslo"), "no JSON object"),
        (call({}), "city"),
    ],
)
async def test_a_wrong_call_fails_in_words(wrong: ToolCall, said: str) -> None:
    result = await simulated_world([WEATHER]).carry_out(wrong)
    assert result.failure is not None
    assert said in result.failure.message


async def test_a_success_with_an_error_inside_is_a_failure() -> None:
    tool = FakeTool("weather", {"city": {"type": "string"}}, output={"success": False, "error": "unknown city"})
    async with open_catalog([fake_source(tool)]) as catalog:
        result = await live_world(catalog).carry_out(call({"city": "X"}))
    assert not result.ok


async def test_live_tools_that_may_write_are_not_called_outside_a_sandbox() -> None:
    tool = FakeTool("weather", {"city": {"type": "string"}}, output="done", effects=WRITE)
    async with open_catalog([fake_source(tool)]) as catalog:
        refused = await live_world(catalog).carry_out(call({"city": "Oslo"}))
        assert refused.failure is not None
        assert refused.failure.kind == "not_executable"
        assert tool.calls == []
        assert (await live_world(catalog, sandbox=True).carry_out(call({"city": "Oslo"}))).ok
