"""What a found tool needs first comes along: looked up, from where it can be, never something that writes."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.retrieval.closure import brought, needs, producer
from callwright.types import READ, UNKNOWN, WRITE, Effects, Tool


def _tool(
    name: str, takes: tuple[str, ...] = (), gives: Any = None, source: str = "shop", effects: Effects = UNKNOWN
) -> Tool:
    schema = {"type": "object", "properties": {k: {"type": "string"} for k in takes}, "required": list(takes)}
    return Tool(name, "", schema, gives, effects, source)


def _gives(*fields: str) -> dict[str, Any]:
    return {"type": "object", "properties": {f: {"type": "string"} for f in fields}}


CANCEL = _tool("cancel_order", ("order_id",), effects=WRITE)
SEARCH = _tool("search_orders", ("customer",), _gives("order_id", "date"))
FORECAST = _tool("forecast", ("latitude", "longitude"), source="weather")
GEOCODE = _tool("geocode", ("city",), _gives("latitude", "longitude"), source="maps", effects=READ)


def _names(found: list[Tool], request: str, pool: list[Tool], most: int = 5) -> list[tuple[str, str]]:
    return [(link.consumer, link.producer) for link in brought(found, request, lambda need: pool, most)]


def test_a_tool_that_needs_an_identifier_brings_the_one_that_provides_it() -> None:
    assert _names([CANCEL], "Cancel my last order.", [SEARCH, GEOCODE]) == [("cancel_order", "search_orders")]


def test_one_that_was_found_itself_is_not_brought() -> None:
    assert _names([CANCEL, SEARCH], "Cancel my last order.", [SEARCH]) == []


@pytest.mark.parametrize(
    "request_",
    ["Cancel order 42.", "Cancel the order with id: 7", "Cancel AX-9931.", 'Cancel "abc-def".', "Cancel 4471889"],
)
def test_nothing_is_needed_where_the_request_gives_the_value(request_: str) -> None:
    assert needs(CANCEL, request_) == ()


def test_a_year_is_no_identifier() -> None:
    assert [need.field.text for need in needs(CANCEL, "Cancel the order of 2024.")] == ["order_id"]


def test_what_one_can_write_down_is_not_looked_up() -> None:
    assert needs(_tool("find_hotels", ("city", "nights")), "A hotel, please.") == ()
    assert needs(GEOCODE, "Where is it?") == ()


def test_an_option_and_a_choice_of_fixed_values_are_not_looked_up() -> None:
    schema = {"properties": {"order_id": {}, "country_code": {"enum": ["NO", "SE"]}}, "required": ["country_code"]}
    assert needs(Tool("list_orders", "", schema), "Orders, please.") == ()


def test_identifiers_come_from_the_same_source_and_coordinates_from_anywhere() -> None:
    other = _tool("search_orders", ("customer",), _gives("order_id"), source="another shop")
    assert _names([CANCEL], "Cancel my last order.", [other]) == []
    assert _names([FORECAST], "The weather in Oslo.", [GEOCODE]) == [("forecast", "geocode")]


def test_what_writes_is_never_brought_and_what_nobody_vouched_for_only_if_its_name_reads() -> None:
    gives = _gives("order_id")
    writing = _tool("find_or_create_order", (), gives, effects=WRITE)
    unknown = _tool("place_order", (), gives)
    assert _names([CANCEL], "Cancel my last order.", [writing, unknown]) == []
    assert _names([CANCEL], "Cancel my last order.", [writing, unknown, SEARCH]) == [
        ("cancel_order", "search_orders")
    ]
    reading = _tool("place_order", (), gives, effects=READ)
    assert _names([CANCEL], "Cancel my last order.", [reading]) == [("cancel_order", "place_order")]


def test_a_name_is_no_identifier() -> None:
    assert _names([CANCEL], "Cancel my order.", [_tool("search_orders", (), _gives("order_name"))]) == []


def test_the_best_provider_is_taken_and_no_more_than_wanted() -> None:
    unsaid = _tool("get_order")
    need = needs(CANCEL, "Cancel my last order.")[0]
    best = producer(need, [unsaid, SEARCH])
    assert best is not None
    assert best.producer == "search_orders"
    refund = _tool("refund_payment", ("payment_id",))
    payments = _tool("list_payments", (), _gives("payment_id"))
    pool = [SEARCH, payments]
    assert len(_names([CANCEL, refund], "Cancel it and refund me.", pool)) == 2
    assert _names([CANCEL, refund], "Cancel it and refund me.", pool, most=1) == [("cancel_order", "search_orders")]
    assert _names([CANCEL], "Cancel it.", pool, most=0) == []
