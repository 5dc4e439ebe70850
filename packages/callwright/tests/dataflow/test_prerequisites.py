"""What a tool needs first: looked up, from where it can be had before, never in a circle, never
what writes.
"""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.dataflow.prerequisites import (
    DEPTH,
    Prerequisites,
    add_producers,
    find_needs,
    link_prerequisites,
)
from callwright.nouns.types import DESTRUCTIVE, READ, UNKNOWN, WRITE, Effects, Tool


def _tool(
    name: str,
    takes: tuple[str, ...] = (),
    gives: Any = None,
    source: str = "shop",
    effects: Effects = UNKNOWN,
) -> Tool:
    schema = {
        "type": "object",
        "properties": {k: {"type": "string"} for k in takes},
        "required": list(takes),
    }
    return Tool(name, "", schema, gives, effects, source)


def _gives(*fields: str) -> dict[str, Any]:
    return {"type": "object", "properties": {f: {"type": "string"} for f in fields}}


CANCEL = _tool("cancel_order", ("order_id",), effects=WRITE)
SEARCH = _tool("search_orders", ("customer",), _gives("order_id", "date"))
FORECAST = _tool("forecast", ("latitude", "longitude"), source="weather")
GEOCODE = _tool("geocode", ("city",), _gives("latitude", "longitude"), source="maps", effects=READ)


def _names(
    found: list[Tool], request: str, pool: list[Tool], most: int = 5
) -> list[tuple[str, str]]:
    return [
        (link.consumer, link.producer)
        for link in link_prerequisites(found, request, lambda need: pool, most)
    ]


def test_a_tool_that_needs_an_identifier_brings_the_one_that_provides_it() -> None:
    assert _names([CANCEL], "Cancel my last order.", [SEARCH, GEOCODE]) == [
        ("cancel_order", "search_orders")
    ]


def test_one_that_was_found_itself_is_not_brought() -> None:
    assert _names([CANCEL, SEARCH], "Cancel my last order.", [SEARCH]) == []


@pytest.mark.parametrize(
    "request_",
    [
        "Cancel order 42.",
        "Cancel the order with id: 7",
        "Cancel AX-9931.",
        'Cancel "abc-def".',
        "Cancel 4471889",
    ],
)
def test_nothing_is_needed_where_the_request_gives_the_value(request_: str) -> None:
    assert find_needs(CANCEL, request_) == ()


def test_a_year_is_no_identifier() -> None:
    assert [need.field.text for need in find_needs(CANCEL, "Cancel the order of 2024.")] == [
        "order_id"
    ]


@pytest.mark.parametrize(
    "request_",
    [
        "Cancel my order and mail bo@example.org that it is gone.",
        "Cancel the order that https://example.org/basket shows.",
        "Cancel my order, it cost 12.50.",
    ],
)
def test_an_address_a_link_and_a_price_are_no_identifiers(request_: str) -> None:
    assert [need.field.text for need in find_needs(CANCEL, request_)] == ["order_id"]


@pytest.mark.parametrize(
    ("field", "request_"),
    [
        ({"description": "An e-mail address or number."}, "Block bo@example.org."),
        ({"description": "Its id or its URL."}, "Block https://example.org/bo."),
    ],
)
def test_an_input_that_takes_an_address_or_a_link_is_given_it(
    field: dict[str, str], request_: str
) -> None:
    schema = {"properties": {"user_id": field}, "required": ["user_id"]}
    assert find_needs(Tool("block_user", "", schema), request_) == ()


def test_a_number_is_given_by_numbers_only() -> None:
    schema = {"properties": {"order_id": {"type": "integer"}}, "required": ["order_id"]}
    cancel = Tool("cancel_order", "", schema)
    assert len(find_needs(cancel, "Cancel the order that comes at 10am with the box AX-9931.")) == 1
    assert find_needs(cancel, 'Cancel my order, "4471".') == ()


def test_coordinates_with_a_fraction_are_given() -> None:
    assert find_needs(FORECAST, "The weather at 59.91, 10.75.") == ()


def test_what_one_can_write_down_is_not_looked_up() -> None:
    assert find_needs(_tool("find_hotels", ("city", "nights")), "A hotel, please.") == ()
    assert find_needs(GEOCODE, "Where is it?") == ()


def test_an_option_and_a_choice_of_fixed_values_are_not_looked_up() -> None:
    schema = {
        "properties": {"order_id": {}, "country_code": {"enum": ["NO", "SE"]}},
        "required": ["country_code"],
    }
    assert find_needs(Tool("list_orders", "", schema), "Orders, please.") == ()


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
    assert (
        _names([CANCEL], "Cancel my order.", [_tool("search_orders", (), _gives("order_name"))])
        == []
    )


def test_the_best_provider_is_taken_and_no_more_than_wanted() -> None:
    unsaid = _tool("get_order")
    (best,) = Prerequisites.among([unsaid, SEARCH, CANCEL], "Cancel my last order.").of(CANCEL)
    assert best.producer == "search_orders"
    refund = _tool("refund_payment", ("payment_id",))
    payments = _tool("list_payments", (), _gives("payment_id"))
    pool = [SEARCH, payments]
    assert len(_names([CANCEL, refund], "Cancel it and refund me.", pool)) == 2
    assert _names([CANCEL, refund], "Cancel it and refund me.", pool, most=1) == [
        ("cancel_order", "search_orders")
    ]
    assert _names([CANCEL], "Cancel it.", pool, most=0) == []


def _reads(name: str, takes: list[str], gives: list[str], effects: Effects = READ) -> Tool:
    return _tool(name, tuple(takes), _gives(*gives), effects=effects)


HOTELS = _reads("search_hotels", ["city"], ["hotel_id"])
LIST = _reads("list_hotels", [], ["hotel_id"])
ADD = _reads("add_hotel", ["hotel_name"], ["hotel_id"], DESTRUCTIVE)
DETAILS = _reads("hotel_details", ["hotel_id"], ["room_code"])
ROOM = _reads("room_price", ["room_code"], ["price"])
WEATHER = _reads("weather", ["place"], ["temperature"])
ALL = (WEATHER, ROOM, DETAILS, HOTELS, LIST, ADD)


def _fed(*chosen: Tool) -> list[str]:
    return [t.name for t in add_producers(chosen, ALL)]


def test_producers_are_added_through_the_whole_chain() -> None:
    found = _fed(ROOM)
    assert found[:2] == ["room_price", "hotel_details"]
    assert len(set(found) & {"search_hotels", "list_hotels"}) == 1


def test_one_producer_that_is_chosen_already_is_enough() -> None:
    assert _fed(LIST, DETAILS) == ["list_hotels", "hotel_details"]


def test_a_tool_that_may_write_is_never_added() -> None:
    assert add_producers([DETAILS], (DETAILS, ADD)) == (DETAILS,)


def test_what_needs_nothing_stays_alone() -> None:
    assert _fed(WEATHER) == ["weather"]


def test_what_a_request_can_say_itself_is_not_looked_up() -> None:
    """A trip has an origin too, but a distance between two places must not bring the trips into
    view.
    """
    trips = _reads("list_trips", [], ["origin", "destination"])
    distance = _reads("flight_distance", ["origin", "destination"], ["km"])
    assert add_producers([distance], (trips, distance)) == (distance,)


PARCELS = _reads("list_parcels", [], ["parcel_id"])
PARCEL = _reads("get_parcel", ["parcel_id"], ["invoice_id"])
INVOICE = _reads("get_invoice", ["invoice_id"], ["parcel_id"])


def test_two_tools_that_return_what_the_other_requires_do_not_need_each_other() -> None:
    assert [Prerequisites.among([PARCEL, INVOICE]).of(one) for one in (PARCEL, INVOICE)] == [(), ()]


def test_a_circle_is_entered_where_something_outside_of_it_provides_a_value() -> None:
    found = Prerequisites.among([PARCEL, INVOICE, PARCELS])
    assert [link.producer for link in found.of(PARCEL)] == ["list_parcels"]
    assert [link.producer for link in found.of(INVOICE)] == ["get_parcel"]
    asked = Prerequisites.among([PARCEL, INVOICE], "What is invoice UR-4711 for?")
    assert [link.producer for one in (PARCEL, INVOICE) for link in asked.of(one)] == []


def test_what_requires_the_same_itself_provides_it_to_nobody() -> None:
    file = _reads("get_container_file", ["container_id", "file_id"], ["id"])
    container = _reads("get_container", ["container_id"], ["name"])
    files = _reads("list_files", [], ["file_id"])
    assert Prerequisites.among([file, container, files]).of(container) == ()


def test_what_requires_the_bare_id_of_what_it_is_named_after_provides_it_to_nobody() -> None:
    """Although it could be called before: its consumer waits for something deeper as well."""
    parcel = _tool("get_parcel", ("id",), effects=READ)
    parcels = _reads("list_parcels", [], ["id"])
    account = _reads("get_account", ["account_id"], ["customer_id"])
    accounts = _reads("list_accounts", [], ["account_id"])
    archive = _tool("archive_parcel", ("parcel_id", "customer_id"), effects=WRITE)
    found = Prerequisites.among([archive, parcel, parcels, account, accounts])
    assert (found.depth(parcel), found.depth(archive)) == (1, 2)
    by_need = {
        need.field.text: [link.producer for link in found.providers(need)]
        for need in found.needs(archive)
    }
    assert by_need["parcel_id"] == ["list_parcels"]
    assert set(by_need["customer_id"]) == {"get_account"}


def test_a_chain_is_as_deep_as_it_is_long_and_what_is_too_deep_cannot_be_had() -> None:
    things = ("user", "order", "parcel", "route", "driver", "truck")
    chain = [_reads("list_users", [], ["user_id"])]
    chain += [_reads(f"get_{a}", [f"{a}_id"], [f"{b}_id"]) for a, b in pairwise(things)]
    found = Prerequisites.among(chain)
    assert [found.depth(one) for one in chain] == [0, 1, 2, 3, 4, DEPTH + 1]
    assert [link.producer for one in chain for link in found.of(one)] == [
        one.name for one in chain[:-1]
    ]


THINGS = ("user", "order", "file", "run", "role")
FIELDS = st.lists(
    st.sampled_from([f"{thing}_id" for thing in THINGS] + ["id", "city"]), max_size=3, unique=True
)
CATALOGUES = st.lists(st.tuples(st.sampled_from(THINGS), FIELDS, FIELDS), min_size=1, max_size=9)


@settings(deadline=None)
@given(
    CATALOGUES,
    st.sampled_from(["", "Show order 4711.", "Show it, please."]),
    st.randoms(use_true_random=False),
)
def test_prerequisites_are_never_circular_and_the_same_whoever_is_asked_first(
    rows: list[tuple[str, list[str], list[str]]], request_: str, random: Random
) -> None:
    tools = [
        _reads(f"get_{thing}_{n}", takes, gives) for n, (thing, takes, gives) in enumerate(rows)
    ]
    found = Prerequisites.among(tools, request_)
    before = {tool.name: {link.producer for link in found.of(tool)} for tool in tools}
    left = dict(before)
    while ready := [name for name, first in left.items() if not first & left.keys()]:
        for name in ready:
            del left[name]
    assert left == {}, "each of these waits for another one of them"
    again = random.sample(tools, len(tools))
    other = Prerequisites.among(tools, request_)
    assert {tool.name: {link.producer for link in other.of(tool)} for tool in again} == before


@settings(deadline=None)
@given(CATALOGUES)
def test_what_is_added_to_a_choice_can_be_called(
    rows: list[tuple[str, list[str], list[str]]],
) -> None:
    """Whatever need of a chosen tool can be met at all is met, by tools whose own needs are met as
    well.
    """
    tools = [
        _reads(f"get_{thing}_{n}", takes, gives) for n, (thing, takes, gives) in enumerate(rows)
    ]
    kept = add_producers(tools[:1], tools)
    assert kept[0] == tools[0]
    found = Prerequisites.among(tools)
    names = {tool.name for tool in kept}
    for tool in kept:
        for need in found.needs(tool):
            able = {link.producer for link in found.providers(need)}
            assert not able or able & names


@pytest.mark.parametrize(
    ("lister", "takes", "wanted", "is_provider"),
    [
        ("list_orders", ("customer",), "order_id", True),
        ("searchMessages", (), "message_id", True),
        ("list_all_orders", (), "order_id", True),
        ("list_order_comments", (), "order_id", False),  # it lists comments
        ("list_orders", ("order_id",), "order_id", False),
        ("get_order", ("id",), "order_id", False),  # which takes what it would give
        ("list_orders", (), "order_note", False),
    ],
)
def test_a_list_of_things_has_their_ids_where_their_name_can_be_a_verb(
    lister: str, takes: tuple[str, ...], wanted: str, is_provider: bool
) -> None:
    tools = [_tool(lister, takes, effects=READ), change := _tool("update_it", (wanted,))]
    found = Prerequisites.among(tools, "Twenty, please.", documented=True)
    assert [link.producer for link in found.of(change)] == [lister] * is_provider
