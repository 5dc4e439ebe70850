"""What calls show to be wrong with them."""

from __future__ import annotations

import pytest

from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import Tool, ToolCall
from callwright_lab.transcripts import Transcript
from callwright_lab.verify.dataset.rules import find_defects
from tests.verify.rows import ASKED, FOUND, GOOD, row, step


def _kinds(
    *steps: Step, query: str = ASKED, answer: str | None = "Yes, BA-7731 for 81.", **more: object
) -> list[str]:
    return [d.kind for d in find_defects(row(*steps, query=query, answer=answer, **more))]


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"city": "Bari"}, "missing_input"),
        ({**GOOD, "seats": "many"}, "wrong_value"),
        ({**GOOD, "seats": 271}, "value_from_nowhere"),
        ({**GOOD, "seats": "27,100"}, "value_from_nowhere"),
    ],
)
def test_what_a_schema_and_the_request_do_not_bear_out(
    arguments: dict[str, object], kind: str
) -> None:
    assert kind in _kinds(step("find_flight", arguments, FOUND))


def test_an_integer_longer_than_any_quantity_ends_nothing() -> None:
    assert "value_from_nowhere" not in _kinds(
        step("find_flight", {**GOOD, "seats": 10**400}, FOUND)
    )


def test_an_identifier_must_come_from_somewhere() -> None:
    found = step("find_flight", GOOD, FOUND)
    assert "identifier_from_nowhere" in _kinds(
        found, step("book", {"flight_id": "ZZ-9090"}, {"ok": 1}, "c2")
    )
    assert "identifier_from_nowhere" not in _kinds(
        found, step("book", {"flight_id": "BA-7731"}, {"ok": 1}, "c2")
    )


def test_nothing_is_said_of_what_a_cut_reply_may_have_held() -> None:
    steps = (step("find_flight", GOOD), step("book", {"flight_id": "ZZ-9090"}, id="c2"))
    assert "identifier_from_nowhere" not in _kinds(*steps, cut=frozenset({0, 1}))
    assert "identifier_from_nowhere" in _kinds(steps[1], cut=frozenset({0}))


def test_cut_arguments_are_not_held_against_a_call() -> None:
    torn = Step("", (ToolCall("c1", "find_flight", '\'{\\n "city": "Ba'),))
    again = Step("", (ToolCall("c2", "find_flight", '\'{\\n "city": "Ba'),))
    assert _kinds(torn, again, cut=frozenset({0, 1}), answer=None, given_up=True) == ["given_up"]


def test_a_reference_to_a_call_that_comes_later_dangles() -> None:
    tool = Tool("price", "", {"type": "object", "properties": {"id": {"type": "integer"}}})
    first = Step(
        "", (ToolCall("a", "price", {"id": "API_call_1"}),), shown='{"price": "API_call_0"}'
    )
    second = Step(
        "", (ToolCall("b", "price", {"id": "API_call_0"}),), shown='{"price": "API_call_1"}'
    )
    found = find_defects(Transcript(Trajectory("r", "The price?", (tool,), (first, second))))
    assert [(d.kind, d.call) for d in found] == [("dangling_reference", "a")]


def test_a_gold_call_of_a_tool_that_is_not_listed_is_the_requests_fault() -> None:
    assert _kinds(step("fly", {}), answer=None) == ["tool_not_offered"]
    assert "unknown_tool" in _kinds(step("fly", {}, FOUND))


def test_redundant_calls_are_found_where_nothing_changed_in_between() -> None:
    twice = (step("find_flight", GOOD, FOUND), step("find_flight", GOOD, FOUND, "c2"))
    assert "repeated_call" in _kinds(*twice)


@pytest.mark.parametrize(
    ("query", "arguments"),
    [
        ("Seats for two weeks in Bari on 2026-05-04", {"seats": 14}),
        ("1.5 hours to Bari on 2026-05-04", {"seats": 90}),
        ("3.986e14 seats to Bari on 2026-05-04", {"seats": 398600000000000}),
    ],
)
def test_a_number_in_another_unit_or_spelled_out_was_said(
    query: str, arguments: dict[str, object]
) -> None:
    assert "value_from_nowhere" not in _kinds(
        step("find_flight", {**GOOD, **arguments}, FOUND), query=query
    )


def test_the_address_of_a_site_that_the_request_names_was_said() -> None:
    asked = "The page of Trenitalia on 2026-05-04 for Bari"
    for city, held in (
        ("https://www.trenitalia.com", True),
        ("https://www.example.com/x.jpg", False),
    ):
        found = _kinds(step("find_flight", {"city": city, "day": "2026-05-04"}, FOUND), query=asked)
        assert ("value_from_nowhere" not in found) is held
