"""Raw calls, carried out as the tools' own servers would answer them."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.nouns.types import ToolCall
from callwright.testing import ScriptedModel
from callwright_lab.benchmarks.recovery.world import build_simulated_world
from tests.benchmarks.trajectory_case import WEATHER, step


def call(arguments: Any, tool: str = "weather") -> ToolCall:
    return ToolCall("c1", tool, arguments)


async def test_what_is_on_record_is_answered_again_and_the_rest_made_up() -> None:
    model = ScriptedModel({"simulate": {"error": "", "response": {"sky": "snow"}}})
    world = build_simulated_world([WEATHER], [step("r1", {"city": "Oslo"}, {"sky": "rain"})], model)
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
    result = await build_simulated_world([WEATHER]).carry_out(wrong)
    assert result.failure is not None
    assert said in result.failure.message
