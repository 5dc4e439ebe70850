"""What speaks for a tool being needed: sense, and the same whatever the order."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.nouns.types import Tool
from callwright.planning.features import pair_features
from callwright.planning.needed import NAMES, needed_features
from tests.planning.tool_case import tool

Array = np.ndarray[Any, Any]


TOOLS = [
    tool("search_hotels", "Find hotels in a city", ("city",), ("hotel_id",)),
    tool("book_hotel", "Book a room in a hotel", ("hotel_id", "guest"), ("booking_id",)),
    tool("get_exchange_rate", "Rate between two currencies", ("base", "target"), ("rate",)),
    tool("get_weather", "Weather of a city", ("city",), ("celsius",)),
]
ASKED = "Find a hotel in Oslo and book a room there for Ann Lee"


def looked(query: str, tools: list[Tool]) -> Array:
    odds = np.full((len(tools), len(tools)), -2.0)
    np.fill_diagonal(odds, -np.inf)
    return needed_features(query, tools, pair_features(query, tools), odds)


def column(rows: Array, name: str) -> list[float]:
    return [float(x) for x in rows[:, NAMES.index(name)]]


def test_what_the_query_speaks_of_is_seen() -> None:
    telling = column(looked(ASKED, TOOLS), "telling")
    assert telling[0] == telling[1] == 1.0
    assert telling[2] == telling[3] == 0.0


def test_what_feeds_a_tool_that_is_asked_for_is_seen() -> None:
    feeds = column(looked(ASKED, TOOLS), "feeds_asked")
    assert feeds[0] > 0.3
    assert feeds[2] == feeds[3] == 0.0


def test_words_that_only_one_tool_has_count_for_it() -> None:
    alone = column(looked("What is the weather like, and the exchange rate?", TOOLS), "alone")
    assert alone[3] > 0
    assert alone[0] == 0


def test_one_tool_and_none_are_fine() -> None:
    assert looked(ASKED, TOOLS[:1]).shape == (1, len(NAMES))
    assert looked(ASKED, []).shape == (0, len(NAMES))


@settings(deadline=None, max_examples=25)
@given(st.permutations(range(len(TOOLS))), st.text(max_size=40))
def test_listing_the_tools_in_another_order_permutes_the_rows(order: list[int], query: str) -> None:
    rows = looked(query, TOOLS)
    assert np.array_equal(rows[order], looked(query, [TOOLS[k] for k in order]))
    assert np.isfinite(rows).all()
