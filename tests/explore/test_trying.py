"""Carrying out what a learner wants: the tools themselves, a simulator, or nobody."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.execution.recording import Recorded, Recording
from callwright.execution.simulate import Simulator
from callwright.explore.trying import Trying
from callwright.gate import Gate
from callwright.testing import ScriptedModel
from callwright.trials import TrialPolicy
from callwright.types import CheckedCall, ToolCall, ToolOutput
from callwright.verify.budget import Account, Budget, BudgetSpent, Meter


def call(world: Any, tool: str, **arguments: Any) -> CheckedCall:
    verdict = Gate([t.tool for t in world.tools]).check(ToolCall("w1", tool, arguments))
    assert isinstance(verdict, CheckedCall)
    return verdict


async def test_a_call_is_charged_before_it_is_made_and_secrets_do_not_come_back(world: Any) -> None:
    made: list[str] = []

    async def caller(name: str, arguments: Any) -> ToolOutput:
        made.append(name)
        return ToolOutput({"key": "topsecretvalue", "city": arguments["city"]})

    meter = Meter(Account(Budget(calls=1)))
    trying = Trying(caller, TrialPolicy(), secrets=("topsecretvalue",))
    result = await trying.call(call(world, "news", city="Oslo"), "q", meter)
    assert result.content == {"key": "[secret]", "city": "Oslo"}
    assert meter.cost.calls == 1
    with pytest.raises(BudgetSpent):
        await trying.call(call(world, "news", city="Rome"), "q", meter)
    assert made == ["news"]


async def test_what_may_write_goes_to_the_simulator_and_without_one_nowhere(world: Any) -> None:
    async def caller(name: str, arguments: Any) -> ToolOutput:
        raise AssertionError("called")

    held = await Trying(caller, TrialPolicy()).call(call(world, "book", city="Oslo"), "q", Meter())
    assert held.failure is not None
    assert (held.failure.kind, "may write" in held.failure.message) == ("not_executable", True)
    known = Recorded("book", {"city": "Oslo"}, ToolOutput({"booked": 1}), world.book.tool.digest)
    recording = Recording([known], [world.book.tool])
    model = ScriptedModel([{"error": "", "response": {"booked": 2}}])
    trying = Trying(caller, TrialPolicy(), Simulator(recording, model), asks=True)
    meter = Meter()
    first = await trying.call(call(world, "book", city="Oslo"), "q", meter)
    assert (first.content, meter.cost.model_calls) == ({"booked": 1}, 0)
    second = await trying.call(call(world, "book", city="Rome"), "q", meter)
    assert (second.content, second.simulated, meter.cost.model_calls) == ({"booked": 2}, "model", 1)


async def test_without_tools_everything_is_simulated(world: Any) -> None:
    trying = Trying(None, TrialPolicy(), Simulator(None, ScriptedModel([{"error": "", "response": {"title": "x"}}])))
    result = await trying.call(call(world, "news", city="Oslo"), "q", Meter())
    assert (result.content, result.simulated) == ({"title": "x"}, "model")
    assert (await Trying(None, TrialPolicy()).call(call(world, "news", city="Oslo"), "q", Meter())).failure
