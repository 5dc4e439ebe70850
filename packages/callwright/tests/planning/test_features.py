"""Features of pairs: bounded, blind to the order of tools, and telling where they should be."""

from __future__ import annotations

import random
import time

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.nouns.types import Tool, compute_digest
from callwright.planning.features import DIGEST, NAMES, pair_features


def tool(
    name: str, inputs: tuple[str, ...] = (), outputs: tuple[str, ...] = (), about: str = ""
) -> Tool:
    text = {"type": "string"}
    return Tool(
        name,
        about,
        {"type": "object", "properties": dict.fromkeys(inputs, text), "required": list(inputs)},
        {"type": "object", "properties": dict.fromkeys(outputs, text)} if outputs else None,
    )


SEARCH = tool("search_flights", ("origin", "destination"), ("flight_id", "price"), "Find flights")
BOOK = tool("book_flight", ("flight_id", "passenger"), ("booking_code",), "Book a flight")
MAIL = tool("send_email", ("address", "body"), (), "Send an email")
QUERY = (
    "Find flights from Oslo to Rome, then book the flight for Ann and send the booking code to"
    " ann@example.org"
)


def named(query: str, tools: list[Tool]) -> dict[tuple[str, str], dict[str, float]]:
    found = pair_features(query, tools)
    return {
        (a.name, b.name): dict(zip(NAMES, map(float, found[i, j]), strict=True))
        for i, a in enumerate(tools)
        for j, b in enumerate(tools)
    }


def test_the_shape_is_pairs_by_features_and_the_diagonal_is_zero() -> None:
    found = pair_features(QUERY, [SEARCH, BOOK, MAIL])
    assert found.shape == (3, 3, len(NAMES))
    assert found.dtype == np.float32
    assert np.isfinite(found).all()
    assert not found[np.eye(3, dtype=bool)].any()


def test_the_flow_of_an_identifier_shows() -> None:
    rows = named(QUERY, [SEARCH, BOOK, MAIL])
    assert rows["search_flights", "book_flight"]["flow_required"] == 1.0
    assert rows["book_flight", "search_flights"]["flow_required"] < 0.5
    assert rows["search_flights", "book_flight"]["both_ways"] > 0
    assert rows["book_flight", "search_flights"]["back_flow_required"] == 1.0


def test_a_result_spoken_of_in_another_tools_part_shows() -> None:
    rows = named(QUERY, [SEARCH, BOOK, MAIL])
    assert rows["book_flight", "send_email"]["said_output"] == 1.0
    assert rows["send_email", "book_flight"]["said_output"] == 0.0


@settings(deadline=None, max_examples=25)
@given(st.permutations(range(4)))
def test_permuting_the_tools_permutes_the_features(order: list[int]) -> None:
    tools = [SEARCH, BOOK, MAIL, tool("get_weather", ("city",), ("temperature",))]
    straight = pair_features(QUERY, tools)
    mixed = pair_features(QUERY, [tools[k] for k in order])
    assert np.allclose(mixed, straight[np.ix_(order, order)])


def test_no_tool_and_one_tool_are_fine() -> None:
    assert pair_features(QUERY, []).shape == (0, 0, len(NAMES))
    assert pair_features(QUERY, [MAIL]).shape == (1, 1, len(NAMES))


def test_the_digest_follows_the_names() -> None:
    assert compute_digest(list(NAMES)) == DIGEST
    assert len(set(NAMES)) == len(NAMES)


def test_twenty_tools_take_well_under_fifty_milliseconds_of_processor() -> None:
    words = (
        "flight",
        "hotel",
        "invoice",
        "movie",
        "user",
        "order",
        "ticket",
        "photo",
        "city",
        "report",
    )
    draw = random.Random(1)
    tools = [
        tool(f"{draw.choice(('search', 'get', 'book'))}_{words[i % 10]}_{i}", (f"{words[(i + 1) % 10]}_id", "date"),
             (f"{words[i % 10]}_id", "name", "price"), f"Works on a {words[i % 10]}")
        for i in range(20)
    ]  # fmt: skip
    best = min(_seconds(tools) for _ in range(5))
    assert best < 0.05


def _seconds(tools: list[Tool]) -> float:
    before = time.process_time()
    pair_features(QUERY, tools)
    return time.process_time() - before
