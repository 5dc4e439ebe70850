"""The edge planner: every tool once, the same whatever the order, acyclic, quick, and it says
why.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import combinations, permutations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from callwright.nouns.errors import ConfigError, MissingExtra, PlanError, WeightsError
from callwright.nouns.plan import Plan
from callwright.nouns.types import Tool
from callwright.planning import open_planner
from callwright.planning.edges import (
    LIKELY,
    MAX_TOOLS,
    SHIPPED,
    WITH_ENCODER,
    EdgePlanner,
    acyclic_edges,
    layer_chances,
    log_odds,
    open_model,
)
from callwright.planning.features import DIGEST, NAMES
from callwright.planning.meaning import DIGEST as MEANT
from callwright.planning.meaning import NAMES as MEANINGS
from callwright.weights.trees import Forest, read_forest, write_forest
from tests.planning.processor import quickest

Matrix = np.ndarray[Any, Any]


def tool(
    name: str, about: str = "", required: tuple[str, ...] = (), outputs: tuple[str, ...] = ()
) -> Tool:
    text = {"type": "string"}
    return Tool(
        name,
        about,
        {"type": "object", "properties": dict.fromkeys(required, text), "required": list(required)},
        {"type": "object", "properties": dict.fromkeys(outputs, text)} if outputs else None,
    )


TRIP = [
    tool("book_hotel", "Book a room in a hotel", ("hotel_id", "guest"), ("booking_id",)),
    tool("search_hotels", "Find hotels in a city", ("city",), ("hotel_id", "name", "price")),
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


def test_a_plain_chain_is_put_in_order() -> None:
    plan = EdgePlanner().plan(ASKED, TRIP)
    assert [[s.tool for s in layer] for layer in plan.layers] == [
        ["search_hotels"],
        ["book_hotel"],
        ["send_confirmation"],
    ]


def test_it_works_without_output_schemas() -> None:
    bare = [tool(t.name, t.description, t.required) for t in TRIP]
    plan = EdgePlanner().plan(ASKED, bare)
    depth = {s.tool: k for k, layer in enumerate(plan.layers) for s in layer}
    assert depth["search_hotels"] < depth["book_hotel"]


CITY_WEATHER = tool("get_weather", "Current weather of a city", ("city",), ("temperature",))


@pytest.mark.parametrize(
    ("query", "others"),
    [
        (
            "What is the weather in Oslo? And the stock price of AAPL?",
            [tool("get_stock_price", "Price of a stock", ("ticker",), ("price",))],
        ),
        ("Weather and time in Tokyo", [tool("get_time", "Current time in a city", ("city",))]),
        (
            "Get the news on climate and the weather in Bergen",
            [tool("get_news", "Latest headlines about a topic", ("topic",))],
        ),
    ],
)
def test_independent_questions_stay_in_one_layer(query: str, others: list[Tool]) -> None:
    plan = EdgePlanner().plan(query, [CITY_WEATHER, *others])
    assert len(plan.layers) == 1


def test_a_slot_says_what_it_waits_for_and_how_likely_each_layer_is() -> None:
    slots = {s.tool: s for s in EdgePlanner().plan(ASKED, TRIP).slots}
    assert "'hotel_id' of search_hotels provides" in slots["book_hotel"].reason
    assert slots["search_hotels"].reason == ""
    for slot in slots.values():
        assert sum(slot.probabilities) == pytest.approx(1.0, abs=0.01)


def test_listing_the_tools_in_another_order_changes_nothing() -> None:
    forward, backward = EdgePlanner().plan(ASKED, TRIP), EdgePlanner().plan(ASKED, TRIP[::-1])
    assert set(forward.edges) == set(backward.edges)
    assert {s.tool: s.probabilities for s in forward.slots} == {
        s.tool: s.probabilities for s in backward.slots
    }
    assert [s.tool for s in backward.slots] == [t.name for t in TRIP[::-1]]


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(PlanError, match="2 tools are named 'search_hotels'"):
        EdgePlanner().plan(ASKED, [*TRIP, TRIP[1]])


def test_no_tool_and_one_tool_are_fine() -> None:
    assert EdgePlanner().plan("anything", []).slots == ()
    assert [s.probabilities for s in EdgePlanner().plan("anything", TRIP[:1]).slots] == [(1.0,)]


odd_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(deadline=None, max_examples=40)
@given(
    st.text(max_size=60),
    st.lists(st.tuples(st.text(max_size=8), st.text(max_size=30), odd_json), max_size=5),
)
def test_odd_tools_and_queries_still_get_a_place_each(
    query: str, rows: list[tuple[str, str, object]]
) -> None:
    tools = [
        Tool(
            f"{name}{i}", about, {"properties": schema, "required": schema}, {"properties": schema}
        )  # type: ignore[dict-item, unused-ignore]
        for i, (name, about, schema) in enumerate(rows)
    ]
    plan = EdgePlanner().plan(query, tools)
    assert [s.tool for s in plan.slots] == [t.name for t in tools]
    assert plan.problems([t.name for t in tools]) == ()


def test_hundreds_of_tools_are_planned_in_bounded_time() -> None:
    many = [
        tool(f"get_thing_{i}", f"Thing number {i}", (f"thing_{i - 1}_id",), (f"thing_{i}_id",))
        for i in range(400)
    ]
    before = time.process_time()
    plan = EdgePlanner().plan(ASKED, [*TRIP, *many])
    assert time.process_time() - before < 3.0
    assert len(plan.slots) == 403
    assert len({name for edge in plan.edges for name in edge}) <= MAX_TOOLS


def test_twenty_tools_take_well_under_fifty_milliseconds_of_processor() -> None:
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
    planner = EdgePlanner()
    assert quickest(lambda: planner.plan(ASKED, tools), 0.05) < 0.05


@st.composite
def chance_matrices(draw: st.DrawFn, below: float = 1.0) -> Matrix:
    """Chances of the ordered pairs of one to seven tools, 0 on the diagonal."""
    count = draw(st.integers(1, 7))
    chances = draw(arrays(float, (count, count), elements=st.floats(0, below)))
    np.fill_diagonal(chances, 0)
    return chances


def layers_of(chances: Matrix) -> list[int]:
    """The layer of every tool, as a plan has it."""
    names = [f"t{i}" for i in range(len(chances))]
    plan = Plan.from_edges(names, [(names[i], names[j]) for i, j in acyclic_edges(chances)])
    depth = {slot.tool: k for k, layer in enumerate(plan.layers) for slot in layer}
    return [depth[name] for name in names]


def longest_path(linked: Matrix) -> int:
    """Edges of the longest path of an acyclic graph: the highest power of its matrix that is
    not 0.
    """
    power, count = np.eye(len(linked), dtype=int), -1
    while power.any():
        power, count = ((power @ linked) > 0).astype(int), count + 1
    return count


@given(chance_matrices())
def test_edges_never_close_a_cycle_and_are_likely_every_one(chances: Matrix) -> None:
    kept = acyclic_edges(chances)
    layer = layers_of(chances)
    assert all(layer[i] < layer[j] for i, j in kept)
    assert all(chances[i, j] >= LIKELY for i, j in kept)


@given(chance_matrices(below=np.nextafter(LIKELY, 0)))
def test_pairs_less_likely_than_not_cost_no_layer(chances: Matrix) -> None:
    assert acyclic_edges(chances) == []
    assert set(layers_of(chances)) == {0}


@given(chance_matrices(), st.randoms(use_true_random=False))
def test_likely_pairs_without_a_cycle_all_order_and_nothing_else_does(
    chances: Matrix, random: Random
) -> None:
    order = [*range(len(chances))]
    random.shuffle(order)
    place = np.argsort(order)
    forward = place[:, None] < place[None, :]
    acyclic = np.where(forward, chances, np.minimum(chances, 0.49))
    likely = acyclic >= LIKELY
    layer = layers_of(acyclic)
    assert all(layer[i] < layer[j] for i, j in np.argwhere(likely))
    assert max(layer) == longest_path(likely.astype(int))


@given(chance_matrices())
def test_a_cycle_is_broken_where_it_costs_least(chances: Matrix) -> None:
    """No other order of the tools keeps edges of a greater weight."""
    weight = np.where(chances >= LIKELY, np.maximum(log_odds(chances), 0), 0)
    kept = sum(weight[e] for e in acyclic_edges(chances))
    few = range(min(5, len(chances)))  # of the first five tools every order is tried
    inside = sum(weight[e] for e in acyclic_edges(chances[: len(few), : len(few)]))
    best = max(sum(weight[i, j] for i, j in combinations(order, 2)) for order in permutations(few))
    assert inside >= best - 1e-6
    assert kept >= inside - 1e-6


def test_of_two_pairs_against_each_other_the_likelier_stays() -> None:
    assert acyclic_edges(np.array([[0.0, 0.9], [0.8, 0.0]])) == [(0, 1)]


def test_as_likely_as_not_is_an_edge_and_no_chance_is_none() -> None:
    assert acyclic_edges(np.array([[0.0, 0.5], [0.0, 0.0]])) == [(0, 1)]
    assert acyclic_edges(np.zeros((3, 3))) == []
    assert acyclic_edges(np.zeros((0, 0))) == []


def test_layer_chances_follow_the_pairs() -> None:
    sure = layer_chances(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]))
    assert sure.tolist() == np.eye(3).tolist()
    half = layer_chances(np.array([[0.0, 0.5], [0.0, 0.0]]))
    assert half[0].tolist() == [1.0, 0.0]
    assert 0.35 < half[1, 1] < 0.65


def test_weights_for_other_features_are_refused(tmp_path: Path) -> None:
    leaf = Forest.from_arrays(
        {"feature": [0], "threshold": [0.0], "left": [0], "right": [0], "value": [0.0], "root": [0]}  # type: ignore[dict-item]
    )
    write_forest(
        tmp_path,
        "old",
        leaf,
        {"features": "of last year", "calibration": {"slope": 1.0, "offset": 0.0}},
    )
    with pytest.raises(WeightsError, match="other features"):
        open_model(tmp_path / "old.npz")


class Flat:
    """A stand-in encoder: every text is the same vector."""

    name, width = "flat", 2

    def encode(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        return np.tile(np.array([1.0, 0.0], np.float32), (len(texts), 1))


def with_vectors(folder: Path, encoder: str = "flat") -> Path:
    """A model that looks at one number of the encoder alone: whether a declares outputs."""
    column = len(NAMES) + MEANINGS.index("meaning_declared")
    forest = Forest.from_arrays(
        {
            "feature": np.array([column, 0, 0]),
            "threshold": np.array([0.5, 0.0, 0.0]),
            "left": np.array([1, 1, 2]),
            "right": np.array([2, 1, 2]),
            "value": np.array([0.0, -4.0, 4.0]),
            "root": np.array([0]),
        }
    )
    card = {"features": DIGEST, "calibration": {"slope": 1.0, "offset": 0.0}}
    write_forest(folder, "mine", forest, card | {"encoder": encoder, "meanings": MEANT})
    return folder / "mine.npz"


def test_a_model_with_vectors_reads_them(tmp_path: Path) -> None:
    planner = EdgePlanner(open_model(with_vectors(tmp_path), Flat()))
    assert planner.name == "edges-encoder"
    chances = planner.model.probabilities(
        ASKED, [TRIP[0], tool("bare", "tells nothing", ("booking_id",))]
    )
    assert chances[0, 1] > 0.9
    assert chances[1, 0] < 0.1


def test_a_model_is_opened_with_the_encoder_it_was_trained_with(tmp_path: Path) -> None:
    mine = with_vectors(tmp_path, "another")
    with pytest.raises(
        ConfigError,
        match="trained with vectors of 'another', and are opened with vectors of 'flat'",
    ):
        open_model(mine, Flat())
    with pytest.raises(
        ConfigError, match="trained with vectors of 'another', and are opened without an encoder"
    ):
        open_model(mine)
    with pytest.raises(
        ConfigError, match="trained without an encoder, and are opened with vectors of 'flat'"
    ):
        open_model(SHIPPED, Flat())


def test_a_model_for_other_vectors_is_refused(tmp_path: Path) -> None:
    path = with_vectors(tmp_path)
    card = path.with_suffix(".json")
    card.write_text(card.read_text().replace(MEANT, "of last year"))
    with pytest.raises(WeightsError, match="other features"):
        open_model(path, Flat())


@pytest.mark.parametrize("path", [SHIPPED, WITH_ENCODER], ids=lambda p: p.stem)
def test_the_shipped_card_says_where_the_weights_come_from(path: Path) -> None:
    card = read_forest(path)[1]
    assert card["features"] == DIGEST
    assert card.get("meanings", MEANT) == MEANT
    assert card.get("encoder") == (None if path == SHIPPED else "minilm-int8")
    assert card["private"] is False
    assert {"data", "command", "scores", "sha256", "settings"} <= set(card)
    assert not {"ultratool", "complextool_plan", "api_bank"} & set(card["data"])
    assert path.stat().st_size < 3_000_000


def test_the_shipped_model_with_vectors_puts_a_plain_chain_in_order() -> None:
    try:
        planner = open_planner("edges-encoder")
    except (MissingExtra, WeightsError) as exc:
        pytest.skip(f"the weights of minilm-int8 cannot be had: {exc.message}")
    assert planner.name == "edges-encoder"
    plan = planner.plan(ASKED, TRIP)
    assert [[s.tool for s in layer] for layer in plan.layers] == [
        ["search_hotels"],
        ["book_hotel"],
        ["send_confirmation"],
    ]
    assert plan == planner.plan(ASKED, TRIP)
