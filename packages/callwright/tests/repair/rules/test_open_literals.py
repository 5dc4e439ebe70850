"""What a request names and no call holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import Tool, ToolCall
from callwright.repair.rules.open_literals import find_open_literals, holds_literal, list_kin_tools

BALANCE = Tool(
    "get_balance",
    "Get a balance.",
    {"properties": {"account": {"type": "string", "enum": ["main", "petty"]}}},
)


def call(**arguments: object) -> ToolCall:
    return ToolCall("", "get_balance", dict(arguments))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "query", ["main and petty together", "main和petty一共多少", "كم في main و petty"]
)
def test_an_option_that_is_named_is_open_until_a_call_holds_it(query: str) -> None:
    assert find_open_literals(query, [call(account="main")], [BALANCE]) == ("petty",)
    both = [call(account="main"), call(account="petty")]
    assert find_open_literals(query, both, [BALANCE]) == ()


def test_an_option_inside_another_word_is_not_named() -> None:
    assert find_open_literals("the main competty", [call(account="main")], [BALANCE]) == ()


def test_options_of_tools_that_are_not_called_say_nothing() -> None:
    other = ToolCall("", "get_weather", {"city": "Oslo"})
    assert find_open_literals("petty weather in Oslo", [other], [BALANCE]) == ()


def test_a_quotation_and_a_time_are_open_though_a_word_of_them_was_used() -> None:
    query = "Weather in Oslo? And enter 'Visit the Oslo office' at 11:00."
    made = ToolCall("", "get_weather", {"city": "Oslo"})
    assert find_open_literals(query, [made], ()) == ("Visit the Oslo office", "11:00")
    entered = ToolCall("", "create_event", {"title": "Visit the Oslo office", "time": "11:00"})
    assert find_open_literals(query, [made, entered], ()) == ()


def test_a_full_date_is_open_until_a_call_holds_it() -> None:
    query = "Book the room for 2026-12-05 and water the ficus"
    assert find_open_literals(query, [call(plant="ficus")], ()) == ("2026-12-05",)
    assert find_open_literals(query, [call(date="2026-12-05")], ()) == ()


@pytest.mark.parametrize(
    "query",
    [
        "Order 5 pieces of A-100 and 7 pieces of C-330.",
        "Bestelle 5 Stück A-100 und 7 Stück C-330.",
        "Pide 5 piezas de A-100 y 7 de C-330.",
        "订购5件A-100和7件C-330。",
        "اطلب 5 قطع من A-100 و7 قطع من C-330.",
    ],
)
def test_a_code_is_open_beside_a_call_that_holds_another_of_its_form(query: str) -> None:
    one = call(part="A-100", quantity=5)
    assert "C-330" in find_open_literals(query, [one], ())
    assert find_open_literals(query, [one, call(part="c-330", quantity=7)], ()) == ()


def test_the_tool_that_took_such_a_code_takes_the_open_one() -> None:
    one = call(part="A-100", quantity=5)
    assert list_kin_tools(["C-330", "7"], [one]) == {"get_balance"}
    assert list_kin_tools(["C-330", "11:00"], [one]) == frozenset()
    assert list_kin_tools(["7"], [one]) == frozenset()


def test_a_code_of_another_form_says_nothing() -> None:
    query = "Order 5 pieces of A-100 for order ORD-2026-17"
    assert find_open_literals(query, [call(part="A-100", quantity=5)], ()) == ()
    assert find_open_literals("Close T-701", [call(subject="tickets")], ()) == ()


def test_small_numbers_alone_are_not_open() -> None:
    assert find_open_literals("Remind me in 2 weeks", [call(date="2026-03-26")], ()) == ()


def test_a_call_holds_a_literal_in_any_spelling_of_case() -> None:
    assert holds_literal(call(title="visit THE Oslo office"), "Visit the Oslo office")
    assert not holds_literal(call(title="Oslo"), "Visit the Oslo office")


@given(st.text(max_size=60), st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=3))
def test_nothing_is_found_that_the_request_does_not_say(
    query: str, arguments: dict[str, str]
) -> None:
    found = find_open_literals(query, [call(**arguments)], [BALANCE])
    assert all(text.casefold() in query.casefold() for text in found)
