"""The cases are whole, and their world answers as a strict server does."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.cli.doctor.write_cases import TOOLS, Call, World, read_cases
from callwright.models.write_record import CASES_VERSION, LEAST_CASES
from callwright.nouns.types import ToolCall
from callwright.repair.gate import Gate
from callwright.tools.lists import chat_messages as chat

VERSION, CASES = read_cases()
OFFER = chat.read_tools(list(TOOLS)).tools


def test_there_are_enough_cases_of_every_kind_in_five_languages() -> None:
    assert VERSION == CASES_VERSION
    assert len(CASES) >= LEAST_CASES
    assert len({case.name for case in CASES}) == len(CASES)
    kinds = {case.name.rpartition("-")[0] for case in CASES}
    assert {"once", "two-wishes", "look-up", "missing-order", "small-talk", "pending"} <= kinds
    languages = {case.name.rpartition("-")[2] for case in CASES}
    assert languages >= {"english", "german", "spanish", "chinese", "arabic"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_call_of_a_case_fits_the_tools_and_works_in_the_world(case: Any) -> None:
    world, gate = World(), Gate(OFFER)
    for call in (*case.before, *case.writes):
        given = {**call.arguments, **({"text": "x"} if call.tool == "send_message" else {})}
        verdict = gate.check(ToolCall("c", call.tool, given))
        assert not getattr(verdict, "violations", ())
        assert "error" not in world.call(call.tool, given)
    assert len(world.made) == len(case.before) + len(case.writes)
    assert len(case.said) == (2 if case.before else 1)
    assert bool(case.before) == bool(case.reply)
    assert not (case.talk and case.writes)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("place_order", {"code": "X-1", "quantity": 1}),
        ("place_order", {"code": "A-100", "quantity": "3"}),
        ("place_order", {"code": "A-100"}),
        ("place_order", {"code": "E-900", "quantity": 1}),
        ("cancel_order", {"order": "O-99"}),
        ("get_order", {"order": "O-99"}),
        ("get_product", {}),
        ("send_message", {"to": "Ben", "text": "x"}),
        ("delete_all", {}),
        ("place_order", "{"),
    ],
)
def test_what_a_server_refuses_changes_nothing(tool: str, arguments: Any) -> None:
    world = World()
    assert "error" in world.call(tool, arguments)
    assert world.made == []


def test_a_cancelled_order_is_pending_at_first() -> None:
    world = World()
    assert world.call("cancel_order", {"order": "O-12"})["status"] == "pending"
    statuses = [world.call("get_order", {"order": "O-12"})["status"] for _ in range(2)]
    assert statuses == ["pending", "cancelled"]
    assert world.call("get_order", {"order": "O-13"})["status"] == "placed"


def test_products_are_found_by_words_and_orders_have_numbers_of_their_own() -> None:
    world = World()
    assert world.call("find_product", {"words": "hex bolts"}) == {
        "products": [{"code": "B-200", "name": "Hex bolt", "price": 2, "stock": 310}]
    }
    assert world.call("find_product", {"words": ""}) == {"products": []}
    assert world.call("get_product", {"code": "A-100"})["stock"] == 420
    placed = [world.call("place_order", {"code": "A-100", "quantity": 1}) for _ in range(2)]
    assert [one["order"] for one in placed] == ["O-501", "O-502"]


def test_a_call_is_known_by_the_arguments_that_identify_it() -> None:
    wanted = Call("send_message", {"to": "a@example.org"})
    assert wanted.is_met_by(Call("send_message", {"to": "a@example.org", "text": "Hello"}))
    assert not wanted.is_met_by(Call("send_message", {"to": "b@example.org", "text": "Hello"}))
    assert not wanted.is_met_by(Call("place_order", {"to": "a@example.org"}))
