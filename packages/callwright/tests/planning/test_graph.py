"""The graph planner: only what is needed, edges among that, the same whatever the order, quick."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.nouns.errors import PlanError, WeightsError
from callwright.planning import open_planner
from callwright.planning.arrows import is_connected
from callwright.planning.edges import shipped_model
from callwright.planning.graph import SHIPPED, GraphPlanner, choose_tools, link_members, open_graph
from callwright.planning.needed import DIGEST
from callwright.weights.trees import read_forest, write_forest
from tests.planning.processor import quickest
from tests.planning.tool_case import tool

TRIP = [
    tool("book_hotel", "Book a room in a hotel", ("hotel_id", "guest"), ("booking_id",)),
    tool("get_exchange_rate", "Exchange rate of two currencies", ("base", "quote"), ("rate",)),
    tool("search_hotels", "Find hotels in a city", ("city",), ("hotel_id", "name", "price")),
    tool("list_recipes", "Recipes by ingredient", ("ingredient",), ("recipe_id",)),
    tool(
        "send_confirmation",
        "Send the confirmation of a booking by mail",
        ("booking_id", "email"),
        ("status",),
    ),
]
ASKED = (
    "Find a hotel in Lisbon, book a room there for Ann Lee and send the confirmation of the booking"
    " to ann@example.org"
)


def test_what_the_request_does_not_need_is_not_planned() -> None:
    plan = GraphPlanner().plan(ASKED, TRIP)
    assert [s.tool for s in plan.slots] == ["book_hotel", "search_hotels", "send_confirmation"]
    assert {("search_hotels", "book_hotel"), ("book_hotel", "send_confirmation")} <= set(plan.edges)
    assert "'hotel_id' of search_hotels provides" in plan.slots[0].reason


def test_independent_requests_are_independent_steps() -> None:
    weather = tool("get_weather", "Current weather of a city", ("city",), ("temperature",))
    stock = tool("get_stock_price", "Price of a stock", ("ticker",), ("price",))
    plan = GraphPlanner().plan(
        "What is the weather in Oslo? And the stock price of AAPL?", [weather, stock]
    )
    assert len(plan.slots) == 2
    assert plan.edges == ()


def test_listing_the_tools_in_another_order_changes_nothing() -> None:
    forward, backward = GraphPlanner().plan(ASKED, TRIP), GraphPlanner().plan(ASKED, TRIP[::-1])
    assert set(forward.edges) == set(backward.edges)
    assert {s.tool: s.reason for s in forward.slots} == {s.tool: s.reason for s in backward.slots}


@settings(deadline=None, max_examples=25)
@given(st.text(max_size=60), st.lists(st.text(max_size=8), max_size=6), st.booleans())
def test_whatever_is_asked_the_plan_is_sound_and_of_the_tools_offered(
    query: str, names: list[str], connected: bool
) -> None:
    tools = [tool(f"{name}{k}", name) for k, name in enumerate(names)]
    plan = GraphPlanner(connected=connected).plan(query, tools)
    assert plan.problems([t.name for t in tools]) == ()
    assert bool(plan.slots) == bool(tools)
    if connected:
        assert is_connected(plan)
        assert len(plan.slots) >= min(2, len(tools))


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(PlanError, match="2 tools are named 'book_hotel'"):
        GraphPlanner().plan(ASKED, [*TRIP, TRIP[0]])


def test_it_is_opened_by_name() -> None:
    assert open_planner("graph").plan(ASKED, TRIP) == GraphPlanner().plan(ASKED, TRIP)


def test_twenty_tools_are_planned_in_milliseconds() -> None:
    tools = [
        tool(
            f"{verb}_{thing}",
            f"{verb} a {thing}",
            (f"{thing}_id", "date"),
            (f"{thing}_code", "price"),
        )
        for verb in ("search", "get", "book", "cancel")
        for thing in ("hotel", "flight", "car", "table", "ticket")
    ]
    assert quickest(lambda: GraphPlanner().plan(ASKED, tools), 0.06) < 0.06


def test_the_likeliest_are_chosen_where_too_few_make_the_cut() -> None:
    chances = np.array([0.1, 0.9, 0.2, 0.4])
    assert choose_tools(chances, 0.3) == [1, 3]
    assert choose_tools(chances, 0.95) == [1]
    assert choose_tools(chances, 0.95, least=3) == [1, 2, 3]
    assert choose_tools(np.zeros(0), 0.3) == []


def test_only_members_are_linked_and_joined_only_where_that_is_asked() -> None:
    chances = np.array([[0.0, 0.9, 0.1], [0.0, 0.0, 0.8], [0.2, 0.0, 0.0]])
    assert link_members(chances, [0, 1, 2]).edges == ((0, 1), (1, 2))
    assert link_members(chances, [0, 2]).edges == ()
    assert link_members(chances, [0, 2], connected=True).edges == ((2, 0),)


def test_weights_that_learned_from_another_edge_model_are_refused() -> None:
    other = replace(shipped_model(), card={**shipped_model().card, "sha256": "of another"})
    with pytest.raises(WeightsError, match="another edge model"):
        open_graph(SHIPPED, other)


def test_weights_for_other_features_are_refused(tmp_path: Path) -> None:
    forest, card = read_forest(SHIPPED)
    write_forest(tmp_path, "old", forest, {**card, "features": "of last year"})
    with pytest.raises(WeightsError, match="other features"):
        open_graph(tmp_path / "old.npz")


def test_the_shipped_card_says_where_the_weights_come_from() -> None:
    card = read_forest(SHIPPED)[1]
    assert card["features"] == DIGEST
    assert card["private"] is False
    assert {"data", "command", "scores", "sha256", "settings"} <= set(card)
    assert not {"ultratool", "complextool_plan", "complextool_easy", "api_bank"} & set(card["data"])
