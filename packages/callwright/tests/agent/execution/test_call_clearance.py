"""Writes whose values nobody said do not leave; what may leave is cleared once."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from callwright import Orchestrator
from callwright.agent.options import Safety
from callwright.agent.strategies.dag import Given
from callwright.nouns.plan import Plan
from callwright.nouns.types import READ_LOCAL, WRITE
from callwright.testing import FakeTool, ScriptedModel, fake_source
from tests.agent.execution.test_call_runner import ORDERS, asked, call


def ordering() -> FakeTool:
    return FakeTool("order", {"quantity": {"type": "integer"}}, effects=WRITE, output="ok")


@pytest.mark.parametrize("strategy", ["layered", "react"])
@pytest.mark.parametrize("code", ORDERS)
async def test_a_write_with_a_value_that_nobody_said_never_leaves(code: str, strategy: str) -> None:
    some, words, digits = ORDERS[code]
    for said in (words, digits):
        tool = ordering()
        await asked(said, [tool], [call("order", quantity=36)], strategy)
        assert tool.calls == [{"quantity": 36}]
    tool = ordering()
    done = await asked(some, [tool], [call("order", quantity=36)], strategy)
    assert tool.calls == []
    assert done.status != "answered"
    assert any("'quantity'" in one and "36" in one for one in done.answer.missing)


async def test_a_later_result_may_give_the_value_that_was_kept_back() -> None:
    look = FakeTool("stock", {}, output={"left": 36}, effects=READ_LOCAL)
    tool, made = ordering(), call("order", quantity=36)
    calls = [made, call("stock"), made]
    done = await asked("Order what is left of the lamps.", [tool, look], calls, "react")
    assert tool.calls == [{"quantity": 36}]
    assert not any("quantity" in one for one in done.answer.missing)


async def test_the_values_of_a_given_plan_are_somebodys_own() -> None:
    mail = {"type": "string", "format": "email"}
    own = {"to": "ann@example.com", "page": 7}
    tool = FakeTool(
        "send",
        {"to": mail, "page": {"type": "integer"}},
        required=["to"],
        effects=WRITE,
        output="ok",
    )
    (slot,) = Plan.from_layers([["send"]]).slots
    given = Plan((dataclasses.replace(slot, arguments=own),))
    model = ScriptedModel({"*": {"statements": [], "missing": []}})
    options: dict[str, Any] = {"model": model, "safety": Safety(allow=["*"])}
    await Orchestrator([fake_source(tool)], strategy=Given(given), **options).run("Write to Ann.")
    assert tool.calls == [own]
    await asked("Write to Ann.", [tool], [call("send", **own)])
    assert tool.calls == [own], "a model's own values are judged"
