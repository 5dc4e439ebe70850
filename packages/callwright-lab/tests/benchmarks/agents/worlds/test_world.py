"""One world: its tools are declared, its log is complete, its state is its own."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from callwright_lab.benchmarks.agents.task_set import HOME, OFFICE, load_tools
from callwright_lab.benchmarks.agents.worlds.world import FUNCTIONS, World


def test_every_tool_is_declared_as_its_function_takes_it() -> None:
    assert set(FUNCTIONS) == set(load_tools(OFFICE))
    for name, row in OFFICE.declarations.items():
        taken = dict(inspect.signature(FUNCTIONS[name]).parameters)
        del taken["state"]
        assert set(row["properties"]) == set(taken), name
        needed = {n for n, part in taken.items() if part.default is inspect.Parameter.empty}
        assert set(row["required"]) == needed, name
        assert row["effect"] in ("read", "write", "destructive")


def test_effects_are_declared_to_who_offers_the_tools() -> None:
    tools = load_tools(OFFICE)
    assert tools["get_part"].effects.read_only
    assert not tools["send_mail"].effects.read_only
    assert not tools["send_mail"].effects.destructive
    assert tools["delete_file"].effects.destructive


@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        ("no_such_tool", {}, "there is no tool no_such_tool"),
        ("send_mail", {}, "there is no tool send_mail"),
        ("get_part", "B-220", "the arguments are no JSON object"),
        ("get_part", {}, "part_code"),
        ("get_part", {"part_code": 7}, "part_code"),
        ("get_part", {"part_code": "B-220", "colour": "red"}, "colour"),
    ],
)
def test_a_call_that_cannot_be_is_an_answer_and_logged(tool: str, given: Any, said: str) -> None:
    world = World(["get_part"])
    called = world.call(tool, given)
    assert not called.is_ok
    assert said in called.text
    assert world.log == [called]


def test_worlds_share_no_state() -> None:
    first, second = World(["deposit"]), World(["get_balance"])
    first.call("deposit", {"account": "petty", "amount": 60})
    assert second.call("get_balance", {"account": "petty"}).content["balance"] == 140
    kept = first.call("deposit", {"account": "petty", "amount": 1}).content
    first.call("deposit", {"account": "petty", "amount": 1})
    assert kept["balance"] == 201


def test_a_home_speaks_the_language_of_its_task() -> None:
    worlds = {name: World(["list_lamps", "switch_lamp"], HOME, name) for name in ("en", "zh")}
    named = {name: world.call("list_lamps", {}).content[0] for name, world in worlds.items()}
    assert named["en"] == {"lamp_id": "L-1", "name": "Kitchen", "on": True, "brightness": 80}
    assert named["zh"] == {**named["en"], "name": "厨房"}
    assert worlds["en"].call("switch_lamp", {"lamp_id": "L-1", "on": False}).is_write
    assert worlds["zh"].state["lamps"]["L-1"]["on"]
    assert not any(called.is_write for called in worlds["zh"].log)
