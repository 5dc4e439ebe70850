"""Each feature says one thing, and the modes weigh them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Tool
from callwright.retrieval.features import FEATURES, MODES
from callwright.retrieval.index import ToolIndex
from tests.retrieval.conftest import WordEncoder, tool


def _of(index: ToolIndex, request: str, feature: str) -> dict[str, float]:
    column = index.features(request, [feature])[:, 0]
    return {d.name: float(s) for d, s in zip(index.documents, column, strict=True)}


@pytest.mark.parametrize("mode", MODES)
def test_the_weights_of_a_mode_are_of_features_there_are_and_add_up_to_one(mode: str) -> None:
    weights = MODES[mode]  # type: ignore[index]
    assert set(weights) <= set(FEATURES)
    assert sum(weights.values()) == pytest.approx(1)


def test_the_best_clause_counts_where_the_whole_request_speaks_of_something_else(
    tools: list[Tool],
) -> None:
    index = ToolIndex.build(tools)
    request = (
        "Find flights between the airports of Oslo and Bergen on a day. Then put a text in another"
        " language."
    )
    whole, best = _of(index, request, "bm25"), _of(index, request, "bm25_clause")
    assert min(whole["translate_text"], whole["search_flights"]) < 1.0
    assert best["translate_text"] == best["search_flights"] == 1.0


def test_a_tool_is_spoken_for_by_the_others_of_its_parent(tools: list[Tool]) -> None:
    index = ToolIndex.build(tools)
    assert _of(index, "hotel room", "bm25")["search_flights"] == 0.0
    assert _of(index, "hotel room", "bm25_parent")["search_flights"] == 1.0


def test_an_only_parent_speaks_for_none() -> None:
    index = ToolIndex.build([tool("a", "hotel", source="one"), tool("b", "flight", source="one")])
    assert _of(index, "hotel", "bm25_parent") == {"a": 0.0, "b": 0.0}


def test_a_parent_is_asked_for_clause_by_clause_too(tools: list[Tool]) -> None:
    request = (
        "Find flights between the airports of Oslo and Bergen on a day. Then put a text in another"
        " language."
    )
    found = _of(ToolIndex.build(tools), request, "bm25_parent_clause")
    assert found["book_hotel"] == found["search_flights"] == found["translate_text"] == 1.0


def test_meaning_is_the_cosine_with_the_request_or_its_best_clause(
    tools: list[Tool], encoder: WordEncoder
) -> None:
    index = ToolIndex.build(tools, encoder)
    request = "Flights between two airports on a day. A text in another language."
    asked = encoder.encode(
        [request, "Flights between two airports on a day.", "A text in another language."]
    )
    row = encoder.encode([d.text for d in index.documents if d.name == "translate_text"])[0]
    assert _of(index, request, "dense")["translate_text"] == pytest.approx(
        max(0.0, row @ asked[0]), abs=1e-5
    )
    assert _of(index, request, "dense_clause")["translate_text"] == pytest.approx(
        max(asked[1:] @ row), abs=1e-5
    )
    parents = _of(index, request, "dense_parent")
    assert parents["book_hotel"] == parents["search_flights"], "one parent, one score"


def test_what_has_to_be_encoded_is_encoded_in_one_batch(
    tools: list[Tool], encoder: WordEncoder
) -> None:
    index = ToolIndex.build(tools, encoder)
    request = "Flights between two airports on a day. A text in another language."
    for mode, count in (("hybrid", 3), ("single", 1), ("lexical", 0), ("bm25", 0), ("dense", 1)):
        encoder.read.clear()
        index.search(request, mode=mode)  # type: ignore[arg-type]
        assert len(encoder.read) == count, mode


def test_meaning_without_vectors_is_refused(tools: list[Tool]) -> None:
    with pytest.raises(ConfigError, match="no vectors"):
        ToolIndex.build(tools).search("hotel", mode="hybrid")


@settings(max_examples=20, deadline=None)
@given(st.text(max_size=60))
def test_every_feature_lies_between_nothing_and_one(request_: str) -> None:
    index = ToolIndex.build(
        [tool("a_b", "one two", source="x"), tool("c", "three é ß", "two"), tool("d")],
        WordEncoder(),
    )
    found = index.features(request_, FEATURES)
    assert found.shape == (3, len(FEATURES))
    assert found.dtype == np.float32
    assert ((found >= 0) & (found <= 1)).all()
