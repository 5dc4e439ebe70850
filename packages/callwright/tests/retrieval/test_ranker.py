"""The ranker orders what was found, says for what it was trained, and is not read where features
have changed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from callwright.nouns.errors import WeightsError
from callwright.nouns.types import Tool
from callwright.retrieval.candidates import DIGEST, NAMES
from callwright.retrieval.index import ToolIndex
from callwright.retrieval.projection import Projection
from callwright.retrieval.ranker import Ranker, open_ranker, save_ranker, shipped_ranker
from callwright.weights.trees import Forest, write_forest
from tests.retrieval.conftest import WordEncoder, tool


def by(feature: str, above: float = 0.5) -> Ranker:
    """A ranker of one tree: +1 where a feature is above a bound, else -1."""
    column = NAMES.index(feature)
    return Ranker(
        Forest.from_arrays(
            {
                "feature": np.array([column, 0, 0]),
                "threshold": np.array([above, 0.0, 0.0]),
                "left": np.array([1, 1, 2]),
                "right": np.array([2, 1, 2]),
                "value": np.array([0.0, -1.0, 1.0]),
                "root": np.array([0]),
            }
        ),
        {},
    )


def test_candidates_come_in_the_order_of_the_ranker(tools: list[Tool]) -> None:
    index = ToolIndex.build(tools, WordEncoder())
    hits = index.search(
        "hotel room in another language", mode="ranked", ranker=by("parent_size", 0.8)
    )
    large = {"getForecast", "getAlerts", "search_flights", "book_hotel"}  # of sources of two tools
    assert {hit.name for hit in hits[: len(large & {h.name for h in hits})]} <= large
    assert all(0 < hit.score < 1 for hit in hits)


def test_the_first_ten_are_the_first_ten_of_two_hundred() -> None:
    tools = [
        tool(f"hotel_{i}", f"A hotel room number {i}.", source=f"s{i % 9}") for i in range(230)
    ]
    index = ToolIndex.build(tools, WordEncoder())
    many, few = (
        index.search("hotel room 7", 200, mode="ranked"),
        index.search("hotel room 7", 10, mode="ranked"),
    )
    assert many[:10] == few
    assert len(many) == 200
    assert [h.score for h in many] == sorted((h.score for h in many), reverse=True)
    assert min(h.score for h in many) > 0


def test_what_is_shipped_says_what_it_learned_from() -> None:
    card = shipped_ranker().card
    assert card["features"] == DIGEST
    assert all(source["licence"] for source in card["data"].values())
    assert card["command"].startswith("callwright train ranker")


def test_trees_for_other_features_are_refused(tmp_path: Path) -> None:
    write_forest(tmp_path, "ranker", by("mean").forest, {"features": "another"})
    with pytest.raises(WeightsError, match="other features"):
        open_ranker(tmp_path / "ranker.npz")
    write_forest(tmp_path, "ranker", by("mean").forest, {"features": DIGEST})
    assert open_ranker(tmp_path / "ranker.npz").card["features"] == DIGEST


def test_a_ranker_is_read_as_it_was_saved(tmp_path: Path, tools: list[Tool]) -> None:
    width = WordEncoder.width
    turned = np.eye(width, dtype=np.float32)[::-1] / 2
    about = {"features": DIGEST, "encoder": WordEncoder.name}
    made = Ranker(by("turned_request", 0.3).forest, about, Projection(turned, WordEncoder.name))
    card = save_ranker(tmp_path, made)
    found = open_ranker(tmp_path / "ranker.npz")
    assert found.card == card
    assert found.projection.encoder == WordEncoder.name
    assert np.array_equal(found.projection.matrix, turned)
    candidates = ToolIndex.build(tools, WordEncoder()).candidates("hotel room")
    assert np.array_equal(found(candidates), made(candidates))


def test_what_is_shipped_turns_the_vectors_of_the_default_encoder() -> None:
    projection = shipped_ranker().projection
    assert projection.encoder == shipped_ranker().card["encoder"] == "minilm-int8"
    assert projection.matrix.shape == (384, 384)
    assert not np.array_equal(projection.matrix, np.eye(384))
