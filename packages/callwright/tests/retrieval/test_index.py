"""The index: found what was asked for, whatever order the tools came in and however the index came
about.
"""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Tool
from callwright.retrieval import MODES, ToolIndex
from tests.retrieval.conftest import WordEncoder, tool

REQUESTS = [
    "the weather forecast of Oslo",
    "book a hotel and find flights",
    "money",
    "nothing that is known: xyzzy",
]


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        ("What will the weather be like in Oslo?", "getForecast"),
        ("How many euro are 20 dollars, in another currency?", "convert_currency"),
        ("I need a hotel for two nights", "book_hotel"),
        ("flights from Oslo", "search_flights"),
    ],
)
def test_the_tool_that_was_asked_for_comes_first(
    tools: list[Tool], request_: str, name: str
) -> None:
    assert ToolIndex.build(tools).search(request_)[0].name == name


def test_hits_fall_from_at_most_one_and_k_is_kept(tools: list[Tool]) -> None:
    hits = ToolIndex.build(tools).search(
        "a hotel, flights, the weather and a text in another language", 3
    )
    assert len(hits) == 3
    assert all(1 >= a.score >= b.score > 0 for a, b in pairwise(hits))


def test_what_shares_no_word_is_not_found(tools: list[Tool]) -> None:
    assert ToolIndex.build(tools).search("xyzzy") == ToolIndex.build(tools).search("") == ()
    assert ToolIndex.build([]).search("hotel") == ()


def test_equal_scores_are_ordered_by_name() -> None:
    tools = [tool(name, "words alike") for name in ("t3", "t1", "t2", "t4")]
    assert [hit.name for hit in ToolIndex.build(tools).search("words", 3)] == ["t1", "t2", "t3"]


@pytest.mark.parametrize("mode", MODES)
def test_scores_do_not_depend_on_the_order_of_tools(
    tools: list[Tool], encoder: WordEncoder, mode: str
) -> None:
    first = ToolIndex.build(tools, encoder)
    for seed in range(5):
        shuffled = random.Random(seed).sample(tools, len(tools))
        other = ToolIndex.build(shuffled, encoder)
        assert all(first.search(r, mode=mode) == other.search(r, mode=mode) for r in REQUESTS)  # type: ignore[arg-type]


_NAMES = st.sampled_from(["get_a", "get_b", "set_a", "set_b", "list_c"])
_STEP = st.tuples(
    _NAMES, st.sampled_from(["", "hotel room", "flight", "weather flight"]), st.sampled_from("xy")
)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.one_of(_STEP, _NAMES), max_size=10),
    st.integers(0, 10),
    st.sampled_from([1, 16_000]),
)
def test_an_index_updated_in_steps_equals_one_built_at_once(
    steps: list[tuple[str, str, str] | str], searched_after: int, exact: int
) -> None:
    """``exact``: also where a graph proposes whose vectors are looked at."""
    stepped, left = ToolIndex.build([], WordEncoder(), exact=exact), dict[str, Tool]()
    for number, step in enumerate(steps):
        if number == searched_after:
            stepped.search("hotel")  # from here on the searchable form is updated too
        if isinstance(step, str):
            left.pop(step, None)
            stepped = stepped.updated(without=[step])
        else:
            left[step[0]] = tool(step[0], step[1], source=step[2])
            stepped = stepped.updated([left[step[0]]])
    at_once = ToolIndex.build(left.values(), WordEncoder())
    assert stepped.documents == at_once.documents
    for request_ in ("a hotel and a flight", "set the weather", "room"):
        assert stepped.search(request_) == at_once.search(request_)


def test_only_new_texts_are_encoded(tools: list[Tool], encoder: WordEncoder) -> None:
    index = ToolIndex.build(tools, encoder)
    encoder.read.clear()
    index.updated([*tools, tool("new", "A new one.")], without=["book_hotel"])
    assert encoder.read == ["new: A new one."]


def test_an_index_with_an_encoder_is_searched_by_words_and_meaning(
    tools: list[Tool], encoder: WordEncoder
) -> None:
    index = ToolIndex.build(tools, encoder)
    assert index.search("a hotel room") == index.search("a hotel room", mode="hybrid")
    assert index.search(" ", mode="hybrid") == ()


def test_synced_holds_exactly_these_tools(tools: list[Tool]) -> None:
    index = ToolIndex.build(tools)
    changed = [
        replace(tools[0], description="Tides and currents."),
        *tools[1:4],
        tool("new", "A new one."),
    ]
    synced = index.synced(changed)
    assert [d.name for d in synced.documents] == sorted(t.name for t in changed)
    assert synced.search("tides")[0].name == "getForecast"
    assert not synced.search("currency")
    assert len(index) == 6, "the old index still stands"
    assert index.search("currency")


def test_nothing_is_made_again_where_nothing_changed(tools: list[Tool]) -> None:
    index = ToolIndex.build(tools)
    assert index.synced(reversed(tools)) is index
    assert index.updated(tools[:2], without=["unknown"]) is index


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigError, match="two tools are called 'a'"):
        ToolIndex.build([tool("a"), tool("a", "another")])


def test_a_mode_there_is_not_and_no_tools_wanted_are_refused(tools: list[Tool]) -> None:
    index = ToolIndex.build(tools)
    with pytest.raises(ConfigError, match="no retrieval mode 'best'"):
        index.search("hotel", mode="best")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="at least 1"):
        index.search("hotel", 0)


def test_where_a_graph_proposes_scores_are_those_of_looking_at_all(
    tools: list[Tool], encoder: WordEncoder
) -> None:
    every, proposed = ToolIndex.build(tools, encoder), ToolIndex.build(tools, encoder, exact=2)
    assert every.fields.near is None
    assert proposed.fields.near is not None
    for mode in MODES:
        assert all(every.search(r, mode=mode) == proposed.search(r, mode=mode) for r in REQUESTS)


def test_of_very_many_tools_those_near_the_request_or_best_by_words_are_looked_at(
    encoder: WordEncoder,
) -> None:
    crowd = [
        tool(f"t{n}", f"Something about {n} and {n * 7 % 13}.", source=f"s{n % 90}")
        for n in range(900)
    ]
    wanted = tool("tides", "High and low water.", source="sea")
    index = ToolIndex.build([*crowd, wanted], encoder, exact=100)
    for mode in ("hybrid", "single", "dense"):
        assert index.search("high and low water", 1, mode=mode)[0].name == "tides"  # type: ignore[arg-type]
