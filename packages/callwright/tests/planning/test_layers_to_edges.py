"""Barriers become edges where the data flow is known, and nowhere else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.plan import Plan
from callwright.nouns.types import Tool
from callwright.planning.edges import shipped_model
from callwright.planning.layers_to_edges import Flow, find_flows, layers_to_edges


def tool(name: str, about: str, takes: tuple[str, ...], gives: tuple[str, ...]) -> Tool:
    text = {"type": "string"}
    return Tool(
        name,
        about,
        {"type": "object", "properties": dict.fromkeys(takes, text), "required": list(takes)},
        {"type": "object", "properties": dict.fromkeys(gives, text)},
    )


HOTELS = tool("search_hotels", "Find hotels in a city", ("city",), ("hotel_id",))
WEATHER = tool("get_weather", "Weather of a city", ("city",), ("celsius",))
BOOK = tool("book_hotel", "Book a room in a hotel", ("hotel_id", "guest"), ("booking_id",))
PACK = tool("packing_list", "What to pack", ("mood",), ("items",))
TRIP = Plan.from_layers([["search_hotels", "get_weather"], ["book_hotel", "packing_list"]])


def test_a_tool_waits_for_what_feeds_it_and_not_for_the_rest_of_the_layer() -> None:
    plan = layers_to_edges(TRIP, find_flows("Book a hotel", [HOTELS, WEATHER, BOOK, PACK]))
    after = {s.tool: s.after for s in plan.slots}
    assert after["book_hotel"] == {"search_hotels"}
    assert "'hotel_id'" in next(s.reason for s in plan.slots if s.tool == "book_hotel")


def test_where_nothing_is_shown_the_barrier_stays() -> None:
    plan = layers_to_edges(TRIP, find_flows("Book a hotel", [HOTELS, WEATHER, BOOK, PACK]))
    assert next(s for s in plan.slots if s.tool == "packing_list") == TRIP.slots[3]


def test_a_flow_against_the_layers_is_not_followed() -> None:
    against = [
        Flow("book_hotel", "search_hotels", "r"),
        Flow("get_weather", "search_hotels", "same layer"),
    ]
    assert layers_to_edges(TRIP, against) == TRIP


def test_of_several_producers_all_are_waited_for_even_those_of_earlier_layers() -> None:
    plan = layers_to_edges(
        Plan.from_layers([["a"], ["b", "x"], ["c"]]),
        [Flow("a", "c", "needs a"), Flow("b", "c", "needs b")],
    )
    assert plan.slots[-1].after == {"a", "b"}
    assert plan.slots[-1].reason == "needs a; needs b"


def test_the_edge_model_shows_what_schemas_leave_open() -> None:
    find = Tool(
        "find_song", "Find a song by its title", {"type": "object", "properties": {"title": {}}}
    )
    text = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    say = Tool("translate", "Translate a text", text)
    query = "Find the song called Yesterday, then translate the song into Norwegian"
    assert find_flows(query, [find, say]) == ()
    flows = find_flows(query, [find, say], shipped_model())
    assert [(f.producer, f.consumer) for f in flows] == [("find_song", "translate")]
    assert "%" in flows[0].reason


NAMES = "abcdef"


@given(
    st.lists(st.integers(0, 2), min_size=6, max_size=6),
    st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES))),
)
def test_a_sharpened_plan_is_sound_and_nothing_runs_later_than_before(
    layers: list[int], pairs: list[tuple[str, str]]
) -> None:
    plan = Plan.from_layers(
        [[n for n, k in zip(NAMES, layers, strict=True) if k == layer] for layer in range(3)]
    )
    sharp = layers_to_edges(plan, [Flow(a, b, "") for a, b in pairs])
    assert sharp.problems(NAMES) == ()
    assert [s.id for s in sharp.slots] == [s.id for s in plan.slots]
    before = {s.tool: k for k, row in enumerate(plan.layers) for s in row}
    assert all(before[s.tool] >= k for k, row in enumerate(sharp.layers) for s in row)
