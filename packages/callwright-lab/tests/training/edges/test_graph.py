"""Training the choice of tools: what counts, what is never learned from, what the card says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from callwright.nouns.types import Tool
from callwright.planning.edges import EdgeModel, shipped_model
from callwright.planning.needed import NAMES
from callwright_lab import metrics
from callwright_lab.datasets.examples import example_from_calls
from callwright_lab.training.edges import graph
from callwright_lab.training.edges.choices import Choice

SMALL = graph.Settings(rounds=20, least=5)
THINGS = (
    "movie",
    "order",
    "flight",
    "hotel",
    "song",
    "parcel",
    "ticket",
    "photo",
    "recipe",
    "lesson",
)


def choice(i: int, source: str = "made") -> Choice:
    """One of three tools is asked for by its name."""
    names = [f"find_{THINGS[(i + k) % len(THINGS)]}" for k in range(3)]
    tools = tuple(Tool(name, f"{name.replace('_', ' a ')}") for name in names)
    return Choice(
        f"{source}{i}",
        source,
        f"Please find the {THINGS[i % 10]} of {i}",
        tools,
        frozenset(names[:1]),
    )


@pytest.fixture(scope="module")
def rows() -> list[graph.Rows]:
    return [graph.build_rows(choice(i, f"s{i % 2}"), shipped_model()) for i in range(60)]


def test_a_tool_is_a_row_and_a_pair_has_a_chance(rows: Sequence[graph.Rows]) -> None:
    assert rows[0].features.shape == (3, len(NAMES))
    assert rows[0].odds.shape == (3, 3)
    assert rows[0].target.tolist() == [
        t.name in rows[0].choice.needed for t in rows[0].choice.tools
    ]


def test_sources_weigh_by_the_power_of_their_size(rows: Sequence[graph.Rows]) -> None:
    some = [r for r in rows if r.choice.source == "s0"] + [
        r for r in rows if r.choice.source == "s1"
    ][:3]
    found = graph.compute_tool_weights(some, 0.0)
    assert found[:90].sum() == pytest.approx(found[90:].sum())


def test_what_the_request_names_is_learned_and_nobody_is_asked_about_what_they_saw(
    rows: Sequence[graph.Rows],
) -> None:
    pytest.importorskip("lightgbm", reason="extra 'train' is not installed")
    folds, left_out = (
        graph.predict_across_folds(rows, SMALL),
        graph.predict_unseen_sources(rows, SMALL),
    )
    assert sorted(r.choice.id for r, _ in folds) == sorted(r.choice.id for r in rows)
    assert sorted(r.choice.id for r, _ in left_out) == sorted(r.choice.id for r in rows)
    slope, offset = graph.fit_calibration(left_out)
    scores = graph.scored_tools(left_out, slope, offset)
    assert min(s.nodes.f1 for s in scores.values()) > 0.9
    alone = [r for r in rows if r.choice.source == "s0"]
    assert (
        graph.predict_unseen_sources(alone, SMALL) == []
    )  # there is no other source to learn from


def model(odds: float) -> EdgeModel:
    return replace(shipped_model(), offset=odds)


def test_a_choice_is_looked_at_by_an_edge_model_that_has_not_seen_its_tools() -> None:
    first = choice(0)
    unseen = [model(float(k)) for k in range(5)]
    (found,) = graph.build_choice_rows({"made": [first]}, unseen, model(99.0))
    from callwright_lab.datasets.splits import hash_fold

    same = graph.build_rows(first, unseen[hash_fold(first.combination)])
    assert np.array_equal(found.odds, same.odds)
    candidate = replace(first, source=graph.CANDIDATES)
    (found,) = graph.build_choice_rows({graph.CANDIDATES: [candidate]}, unseen, model(99.0))
    assert np.array_equal(found.odds, graph.build_rows(candidate, model(99.0)).odds)


def test_whole_graphs_are_scored_where_a_plan_is_known(rows: Sequence[graph.Rows]) -> None:
    first = rows[0]
    (name,) = first.choice.needed
    plan = example_from_calls(first.choice.id, "made", "q", first.choice.tools, [name], {})
    odds = np.where(first.target, 9.0, -9.0)
    scores = graph.scored_graphs([(first, odds)], {plan.id: plan}, (1.0, 0.0))
    assert scores["s0"] == metrics.graph_score([name], (), [name], ())
    assert graph.scored_graphs([(first, odds)], {}, (1.0, 0.0)) == {}


def test_a_table_has_a_row_a_source() -> None:
    shares: dict[str, Any] = {"one": {"node F1": 0.5}, "two": {"node F1": 1.0}}
    assert graph.render_table(shares).splitlines()[2:] == ["| one | 0.500 |", "| two | 1.000 |"]
