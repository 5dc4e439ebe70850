"""Money, units, weather, and reports that take a while."""

from __future__ import annotations

from typing import Any

import pytest

from callwright_lab.benchmarks.agents.task_set import OFFICE
from callwright_lab.benchmarks.agents.worlds.world import World


def test_a_transfer_moves_money_and_needs_it() -> None:
    world = World(["transfer", "deposit", "get_balance"])
    given = {"from_account": "petty", "to_account": "main", "amount": 500}
    assert world.call("transfer", given).content == {"error": "petty holds only 140.0 EUR"}
    world.call("deposit", {"account": "petty", "amount": 400})
    assert world.call("transfer", given).is_write
    assert world.call("get_balance", {"account": "petty"}).content["balance"] == 40
    assert world.call("get_balance", {"account": "main"}).content["balance"] == 18750


def test_a_report_is_pending_as_often_as_its_data_say() -> None:
    world = World(["start_report", "get_report"])
    assert world.call("start_report", {"kind": "returns", "month": "2026-02"}).is_write
    said = [world.call("get_report", {"job_id": "J-1"}).content for _ in range(3)]
    assert [row["status"] for row in said] == ["pending", "pending", "done"]
    assert said[-1]["total"] == 1300
    assert not world.call("start_report", {"kind": "sales", "month": "2030-01"}).is_ok


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        ("convert_unit", {"value": 30, "from_unit": "ft", "to_unit": "m"}, {"value": 9.14}),
        (
            "convert_currency",
            {"amount": 200, "from_currency": "EUR", "to_currency": "USD"},
            {"amount": 220.0},
        ),
        ("get_weather", {"city": "oslo", "date": "2026-03-13"}, {"sky": "clear", "high": 1}),
        (
            "convert_unit",
            {"value": 1, "from_unit": "kg", "to_unit": "m"},
            {"error": "kg cannot be converted to m"},
        ),
        (
            "get_weather",
            {"city": "Oslo", "date": "2026-04-01"},
            {"error": "there is no weather in Oslo for 2026-04-01"},
        ),
    ],
)
def test_figures_are_what_the_data_say(
    tool: str, given: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert World([*OFFICE.declarations]).call(tool, given).content.items() >= expected.items()
