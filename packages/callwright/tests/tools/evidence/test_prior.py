"""What is known of a tool leans its score a little, and never carries one that does not fit past
one that does.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import Tool
from callwright.retrieval import ToolIndex
from callwright.tools.evidence import Rate, compute_weight, get_known_rates
from callwright.tools.evidence.prior import RISE, SINK

RATES = st.floats(0, 1)


def test_what_nothing_is_known_of_is_left_as_it_is() -> None:
    assert compute_weight(0.5) == 1.0


@given(RATES, RATES)
def test_it_is_monotone_and_small(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 1 - SINK <= compute_weight(low) <= compute_weight(high) <= 1 + RISE


def test_rates_are_by_digest_and_a_changed_tool_is_unknown() -> None:
    tool = Tool("weather", "The weather.")
    rates = {tool.digest: Rate(0.8, 3.0)}
    assert get_known_rates(rates, [tool, Tool("weather2", "The weather.")]) == {"weather": 0.8}
    assert get_known_rates(rates, [Tool("weather", "The weather of a city.")]) == {}


TOOLS = [
    Tool("weather_alpha", "The weather in a city now.", source="a"),
    Tool("weather_beta", "The weather in a city now.", source="b"),
    Tool("weather_map", "A map of the weather of a country.", source="c"),
    Tool("book_hotel", "Book a hotel room in a city.", source="d"),
    Tool("count_words", "Count the words of a text.", source="e"),
]
QUERY = "What is the weather in the city of Oslo now?"
INDEX = ToolIndex.build(TOOLS)


def order(**success: float) -> list[str]:
    return [hit.name for hit in INDEX.search(QUERY, 10, known=success)]


def test_of_two_that_fit_alike_the_one_that_works_comes_first() -> None:
    assert order(weather_beta=0.7)[:2] == ["weather_beta", "weather_alpha"]
    assert order(weather_alpha=0.3)[:2] == ["weather_beta", "weather_alpha"]


@given(st.dictionaries(st.sampled_from([t.name for t in TOOLS]), RATES))
def test_no_tool_rises_above_one_that_works_and_fits_better(success: dict[str, float]) -> None:
    plain = {hit.name: hit.score for hit in INDEX.search(QUERY, 10)}
    ranked = order(**success)
    assert sorted(ranked) == sorted(plain)
    for at, above in enumerate(ranked):
        for below in ranked[at + 1 :]:
            if success.get(below, 0.5) >= 0.5 and success.get(above, 0.5) >= 0.5:
                assert plain[above] * (1 + RISE) >= plain[below] - 1e-6


@given(st.dictionaries(st.sampled_from([t.name for t in TOOLS[:4]]), RATES))
def test_unknown_tools_keep_their_scores_and_their_order(success: dict[str, float]) -> None:
    plain = [(h.name, h.score) for h in INDEX.search(QUERY, 10) if h.name not in success]
    made = [
        (h.name, h.score) for h in INDEX.search(QUERY, 10, known=success) if h.name not in success
    ]
    assert made == plain


def test_a_tool_that_is_known_to_fail_makes_room_for_one_below_the_last_place() -> None:
    first = [hit.name for hit in INDEX.search(QUERY, 1)]
    assert [hit.name for hit in INDEX.search(QUERY, 1, known={first[0]: 0.1})] != first
