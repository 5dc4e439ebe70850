"""Each feature says one thing, and the modes weigh them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.retrieval.conftest import tool

from callwright.retrieval.features import FEATURES, MODES
from callwright.retrieval.index import ToolIndex
from callwright.types import Tool


def _of(index: ToolIndex, request: str, feature: str) -> dict[str, float]:
    column = index.features(request, [feature])[:, 0]
    return {d.name: float(s) for d, s in zip(index.documents, column, strict=True)}


@pytest.mark.parametrize("mode", MODES)
def test_the_weights_of_a_mode_are_of_features_there_are_and_add_up_to_one(mode: str) -> None:
    weights = MODES[mode]  # type: ignore[index]
    assert set(weights) <= set(FEATURES)
    assert sum(weights.values()) == pytest.approx(1)


def test_the_best_clause_counts_where_the_whole_request_speaks_of_something_else(tools: list[Tool]) -> None:
    index = ToolIndex.build(tools)
    request = "Find flights between the airports of Oslo and Bergen on a day. Then put a text in another language."
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


def test_the_name_feature_reads_names_only(tools: list[Tool]) -> None:
    found = _of(ToolIndex.build(tools), "weather forecast", "bm25_name")
    assert {name for name, score in found.items() if score} == {"getForecast"}


@settings(max_examples=20, deadline=None)
@given(st.text(max_size=60))
def test_every_feature_lies_between_nothing_and_one(request_: str) -> None:
    index = ToolIndex.build([tool("a_b", "one two", source="x"), tool("c", "three é ß", "two"), tool("d")])
    wanted = [name for name in FEATURES if name.startswith("bm25")]
    found = index.features(request_, wanted)
    assert found.shape == (3, len(wanted))
    assert found.dtype == np.float32
    assert ((found >= 0) & (found <= 1)).all()
