"""ComplexTool-Plan, to measure: whose tools are whose, and no parent on two sides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import Tool
from callwright.planning.graph import open_graph
from callwright.planning.meaning import NAMES as MEANINGS
from callwright_lab.datasets.examples import PlanExample, example_from_calls
from callwright_lab.training.edges import complextool
from callwright_lab.training.edges.graph import Settings


def example(i: int, parent: str = "films") -> PlanExample:
    """Search first, then the cast: every time."""
    about = f'这是工具"{parent}"的子功能'
    film = {
        "type": "object",
        "properties": {"film_id": {"type": "string"}},
        "required": ["film_id"],
    }
    tools = [Tool("search", about), Tool("cast", about, film), Tool("heartbeat", about)]
    query = f"Search the film number {i} and show me its cast"
    return example_from_calls(
        f"e{i}", complextool.PARTS[i % 2], query, tools, ["search", "cast"], {1: [0]}
    )


def test_the_parent_is_read_from_the_description() -> None:
    assert complextool.find_parent_apis(example(0)) == {"films"}
    other = example_from_calls(
        "x", "s", "q", [Tool("alone"), Tool("b", "这是“songs”工具的子功能")], ["alone"], {}
    )
    assert complextool.find_parent_apis(other) == {"tool alone", "songs"}


@given(st.lists(st.frozensets(st.sampled_from("abcdefgh"), min_size=1, max_size=3), max_size=12))
def test_rows_that_share_a_parent_are_in_one_fold(groups: list[frozenset[str]]) -> None:
    found = complextool.assign_folds(groups)
    for a, one in zip(groups, found, strict=True):
        for b, other in zip(groups, found, strict=True):
            assert one == other or not a & b


def test_what_is_always_so_is_learned() -> None:
    pytest.importorskip("lightgbm", reason="extra 'train' is not installed")
    rows = [complextool.build_row(example(i), i % 5, open_graph()) for i in range(40)]
    trees = complextool.grow_forests(rows, Settings(rounds=80, least=5))
    scores = [complextool.score_row(r, *trees) for r in rows]
    assert np.mean([s.exact for s in scores]) > 0.9


class Letters:
    """Texts -> how often some letters stand in them, as unit vectors."""

    name, width = "letters", 4

    def encode(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        found = np.array([[1 + text.count(c) for c in "aest"] for text in texts], np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)


def test_with_an_encoder_tools_and_pairs_have_more_numbers() -> None:
    plain, more = (complextool.build_row(example(1), 0, open_graph(), e) for e in (None, Letters()))
    assert more.pairs.shape[-1] - plain.pairs.shape[-1] == len(MEANINGS)
    assert more.tools.shape[-1] - plain.tools.shape[-1] == 4
    assert np.isfinite(more.tools).all()
