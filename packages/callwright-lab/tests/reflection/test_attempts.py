"""Carrying out what a learner wants: the tools themselves, a simulator, or nobody."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.agent.probing import TrialPolicy
from callwright.nouns.errors import Failure
from callwright.nouns.protocols import MAY_REPEAT
from callwright.nouns.types import CheckedCall, JsonObject, ToolCall, ToolOutput
from callwright.repair.gate import Gate
from callwright.simulation.recording import Recorded, Recording
from callwright.testing import ScriptedModel
from callwright_lab.reflection.attempts import Trying
from callwright_lab.verify.budget import Account, Budget, BudgetSpent, Meter
from callwright_lab.verify.memory import InDoubt, Memory
from callwright_lab.verify.mock_tools import StandIn


class Killed(BaseException):
    """Ends the process, as far as the test goes."""


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


async def test_a_request_that_would_be_sent_again_beyond_the_budget_ends_the_row(
    world: Any,
) -> None:
    async def caller(name: str, arguments: dict[str, Any]) -> ToolOutput:
        assert not MAY_REPEAT.get()(), "nothing is left for a second request"
        return ToolOutput(failure=Failure("unavailable", "503", status=503))

    meter = Meter(Account(Budget(calls=1)))
    with pytest.raises(BudgetSpent):
        await Trying(caller, TrialPolicy()).call(call(world, "news", city="Oslo"), "", meter)
    assert meter.cost.calls == 1


async def test_what_may_write_goes_to_the_simulator_and_without_one_nowhere(world: Any) -> None:
    async def caller(name: str, arguments: Any) -> ToolOutput:
        raise AssertionError("called")

    held = await Trying(caller, TrialPolicy()).call(call(world, "book", city="Oslo"), "q", Meter())
    assert held.failure is not None
    assert (held.failure.kind, "may write" in held.failure.message) == ("not_executable", True)
    known = Recorded("book", {"city": "Oslo"}, ToolOutput({"booked": 1}), world.book.tool.digest)
    recording = Recording([known], [world.book.tool])
    model = ScriptedModel([{"error": "", "response": {"booked": 2}}])
    trying = Trying(caller, TrialPolicy(), StandIn(recording, model))
    meter = Meter()
    first = await trying.call(call(world, "book", city="Oslo"), "q", meter)
    assert (first.content, meter.cost.model_calls) == ({"booked": 1}, 0)
    second = await trying.call(call(world, "book", city="Rome"), "q", meter)
    assert (second.content, second.simulated, meter.cost.model_calls) == ({"booked": 2}, "model", 1)


async def test_without_tools_everything_is_simulated(world: Any) -> None:
    model = ScriptedModel([{"error": "", "response": {"title": "x"}}])
    trying = Trying(None, TrialPolicy(), StandIn(imitator=model))
    result = await trying.call(call(world, "news", city="Oslo"), "q", Meter())
    assert (result.content, result.simulated) == ({"title": "x"}, "model")
    assert (
        await Trying(None, TrialPolicy()).call(call(world, "news", city="Oslo"), "q", Meter())
    ).failure


async def test_a_call_that_came_back_is_not_made_again_by_who_goes_on(world: Any) -> None:
    notes: list[JsonObject] = []
    made: list[Any] = []

    async def caller(name: str, arguments: Any) -> ToolOutput:
        made.append(arguments)
        if len(made) == 2:
            raise TimeoutError
        return ToolOutput({"title": f"number {len(made)}", "key": "topsecretvalue"})

    results = []
    for account in (Account(Budget()), Account(Budget(calls=0))):  # the second may make none
        meter = Meter(account, Memory(list(notes), notes.append))
        trying = Trying(caller, TrialPolicy(), secrets=("topsecretvalue",))
        results.append(
            [await trying.call(call(world, "news", city="Oslo"), "q", meter) for _ in range(2)]
        )
        assert meter.cost.calls == 2
    assert results[0] == results[1]
    assert [result.failure and result.failure.kind for result in results[0]] == [None, "timeout"]
    assert len(made) == 2
    assert "topsecretvalue" not in str(notes)


async def test_a_write_that_was_under_way_is_in_doubt_and_a_read_is_made_again(world: Any) -> None:
    notes: list[JsonObject] = []

    async def killed(name: str, arguments: Any) -> ToolOutput:
        raise Killed

    async def caller(name: str, arguments: Any) -> ToolOutput:
        return ToolOutput("done")

    policy = TrialPolicy(sandbox=("book",))
    for tool in ("book", "news"):
        dying = Meter(memory=Memory((), notes.append))
        with pytest.raises(Killed):
            await Trying(killed, policy).call(call(world, tool, city="Oslo"), "q", dying)
    meter = Meter(memory=Memory(notes))
    assert (
        await Trying(caller, policy).call(call(world, "news", city="Oslo"), "q", meter)
    ).content == "done"
    for _ in range(2):
        with pytest.raises(InDoubt, match=r"book.*Oslo.*under way"):
            await Trying(caller, policy).call(call(world, "book", city="Oslo"), "q", meter)
    assert (
        await Trying(caller, policy).call(call(world, "book", city="Rome"), "q", meter)
    ).content == "done"
    assert meter.cost.calls == 2
