"""What is chosen can be fed: a required input gets a producer, and no more than it needs."""

from __future__ import annotations

from callwright.planning.closure import with_producers
from callwright.types import DESTRUCTIVE, READ, Effects, Tool


def tool(name: str, needs: list[str], gives: list[str], effects: Effects = READ) -> Tool:
    properties = {key: {"type": "string"} for key in needs}
    output = {"type": "object", "properties": {key: {"type": "string"} for key in gives}}
    return Tool(
        name, name.replace("_", " "), {"type": "object", "properties": properties, "required": needs}, output, effects
    )


SEARCH = tool("search_hotels", ["city"], ["hotel_id"])
LIST = tool("list_hotels", [], ["hotel_id"])
ADD = tool("add_hotel", ["hotel_name"], ["hotel_id"], DESTRUCTIVE)
DETAILS = tool("hotel_details", ["hotel_id"], ["room_code"])
ROOM = tool("room_price", ["room_code"], ["price"])
WEATHER = tool("weather", ["place"], ["temperature"])
ALL = (WEATHER, ROOM, DETAILS, SEARCH, LIST, ADD)


def names(*chosen: Tool) -> list[str]:
    return [t.name for t in with_producers(chosen, ALL)]


def test_producers_are_added_through_the_whole_chain() -> None:
    found = names(ROOM)
    assert found[:2] == ["room_price", "hotel_details"]
    assert len(set(found) & {"search_hotels", "list_hotels"}) == 1


def test_one_producer_that_is_chosen_already_is_enough() -> None:
    assert names(LIST, DETAILS) == ["list_hotels", "hotel_details"]


def test_a_tool_that_may_write_is_never_added() -> None:
    assert with_producers([DETAILS], (DETAILS, ADD)) == (DETAILS,)


def test_what_needs_nothing_stays_alone() -> None:
    assert names(WEATHER) == ["weather"]


def test_what_a_request_can_say_itself_is_not_looked_up() -> None:
    """A trip has an origin too, but a distance between two places must not bring the trips into view."""
    trips = tool("list_trips", [], ["origin", "destination"])
    distance = tool("flight_distance", ["origin", "destination"], ["km"])
    assert with_producers([distance], (trips, distance)) == (distance,)
