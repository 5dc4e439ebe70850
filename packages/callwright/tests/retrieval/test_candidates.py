"""What a ranker reads: one row a candidate, relative to the others, whatever the catalogue is
called.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.nouns.types import Tool
from callwright.retrieval.candidates import MOST, NAMES, candidate_features
from callwright.retrieval.index import ToolIndex
from callwright.retrieval.projection import Projection, build_identity
from tests.retrieval.conftest import WordEncoder, tool

REQUEST = (
    "Find flights between the airports of Oslo and Bergen. Then put a text in another language."
)


def _rows(
    tools: list[Tool], request: str = REQUEST, projection: Projection | None = None
) -> dict[str, dict[str, float]]:
    found = ToolIndex.build(tools, WordEncoder()).candidates(request)
    rows = candidate_features(found, projection or build_identity())
    return {
        name: dict(zip(NAMES, row.tolist(), strict=True))
        for name, row in zip(found.names, rows, strict=True)
    }


def test_the_best_for_a_clause_is_first_there_and_leads(tools: list[Tool]) -> None:
    rows = _rows(tools)
    for name in ("search_flights", "translate_text"):
        assert rows[name]["clause_words_place"] == 1.0
        assert rows[name]["clause_words_first"] == 1.0
        assert rows[name]["clause_words_lead"] > 0
    assert rows["book_hotel"]["clause_words_lead"] < 0


def test_a_name_that_the_request_says_counts(tools: list[Tool]) -> None:
    rows = _rows(tools)
    assert rows["search_flights"]["name_in_clause"] > rows["getForecast"]["name_in_clause"] == 0.0
    assert rows["translate_text"]["parent_in_request"] == 0.0


def test_the_best_candidate_is_behind_none_and_places_are_shares(tools: list[Tool]) -> None:
    rows = _rows(tools)
    assert max(row["behind"] for row in rows.values()) == 0.0
    assert sorted(row["place_mean"] for row in rows.values())[-2:] == [0.5, 1.0]


def test_what_siblings_share_in_their_names_does_not_tell_them_apart() -> None:
    tools = [
        tool("hotel_book", "Reserve.", source="a"),
        tool("hotel_cancel", "Undo.", source="a"),
        tool("x", source="b"),
    ]
    rows = _rows(tools, "Book a hotel room")
    assert rows["hotel_book"]["own_name_in_request"] == 1.0
    assert rows["hotel_cancel"]["own_name_in_request"] == 0.0
    assert rows["hotel_cancel"]["name_in_request"] > 0.0


def test_at_most_so_many_are_looked_at() -> None:
    tools = [tool(f"hotel_{i}", "A hotel room.", source=f"s{i % 7}") for i in range(MOST + 20)]
    found = ToolIndex.build(tools, WordEncoder()).candidates("hotel room")
    assert len(found.names) == MOST
    assert candidate_features(found, build_identity()).shape == (MOST, len(NAMES))


def test_names_of_sources_say_nothing_but_by_their_words(tools: list[Tool]) -> None:
    renamed = [
        replace(t, source=f"zz{t.source.translate(str.maketrans('aeiou', 'ouiea'))}") for t in tools
    ]
    before, after = _rows(tools), _rows(renamed)
    for name, row in before.items():
        assert after[name] == pytest.approx(row)


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=80), st.permutations(range(4)))
def test_rows_are_finite_and_do_not_depend_on_the_order_of_tools(
    request_: str, order: list[int]
) -> None:
    tools = [
        tool("a_b", "one two", source="x"), tool("c", "three é ß", "two"), tool("d"), tool("e", "one", source="x")
    ]  # fmt: skip
    rows = _rows(tools, request_)
    assert all(np.isfinite(list(row.values())).all() for row in rows.values())
    assert _rows([tools[i] for i in order], request_) == rows


def test_vectors_that_are_not_turned_say_what_meaning_says(tools: list[Tool]) -> None:
    for row in _rows(tools).values():
        assert row["turned_request"] == pytest.approx(row["dense"])
        assert row["turned_clause"] == pytest.approx(row["dense_clause"])
        assert row["turned_parent_clause"] == pytest.approx(row["dense_parent_clause"])


def test_a_projection_turns_requests_and_not_tools(tools: list[Tool]) -> None:
    width = WordEncoder.width
    away = Projection(-np.eye(width, dtype=np.float32), WordEncoder.name)
    rows = _rows(tools, projection=away)
    assert rows["search_flights"]["dense"] > 0.2
    assert rows["search_flights"]["turned_request"] == 0.0


def test_a_source_that_the_request_names_leads_in_its_clause() -> None:
    tools = [
        tool("shorten", "Make an address short.", source="shop bitly"),
        tool("create", "Make a new address.", source="shop rebrand"),
        tool("domains", "List addresses.", source="shop rebrand"),
    ]
    rows = _rows(tools, "Make my long address short with the bitly tool, please.")
    assert rows["shorten"]["source_named"] == 1.0
    assert rows["shorten"]["source_run"] == 1.0
    assert rows["shorten"]["source_lead"] > 0 > rows["create"]["source_lead"]
    assert rows["create"]["source_named"] == 0.0


def test_inputs_that_the_request_speaks_of_count() -> None:
    needs = Tool(
        "track",
        "Where a parcel is.",
        {
            "type": "object",
            "properties": {"colis": {"type": "string", "description": "number of the parcel"}},
            "required": ["colis"],
        },
    )
    with_id = _rows([needs], "Track the parcel with colis 17.")["track"]
    without = _rows([needs], "Track the thing.")["track"]
    assert (with_id["required"], with_id["required_in_request"]) == (1.0, 1.0)
    assert without["required_in_request"] == 0.0
    assert with_id["described_in_request"] > without["described_in_request"]
