"""Every metric on one plan worked out by hand.

Gold: a and b first, c after a, d after c. Predicted: a first, b and c second, d second too.
"""

from __future__ import annotations

import math

import pytest

from callwright import metrics

GOLD = {"a": 0, "b": 0, "c": 1, "d": 2}
EDGES = {("a", "c"), ("c", "d")}
FOUND = {"a": 0, "b": 1, "c": 1, "d": 1}


def test_layer_accuracy_counts_tools_in_exactly_their_layer() -> None:
    assert metrics.layer_accuracy(GOLD, FOUND) == (2, 4)


def test_layer_error_sums_absolute_differences() -> None:
    assert metrics.layer_error(GOLD, FOUND) == (2, 4)
    assert metrics.share([metrics.layer_error(GOLD, FOUND)]) == 0.5


def test_order_accuracy_counts_pairs_of_different_layers_and_a_tie_as_wrong() -> None:
    # of ac, ad, bc, bd, cd: ac and ad are right, bc and bd and cd are ties
    assert metrics.order_accuracy(GOLD, FOUND) == (2, 5)


def test_relation_accuracy_counts_all_pairs_and_a_tie_as_right_where_gold_ties() -> None:
    assert metrics.relation_accuracy(GOLD, FOUND) == (2, 6)
    assert metrics.relation_accuracy(GOLD, GOLD) == (6, 6)


def test_a_plan_is_valid_if_every_dependency_points_to_a_later_layer() -> None:
    assert metrics.valid(EDGES, FOUND) == (0.0, 1)
    assert metrics.valid({("a", "c")}, FOUND) == (1.0, 1)
    assert metrics.valid((), FOUND) == (1.0, 1)


def test_exact_wants_every_tool_in_its_layer() -> None:
    assert metrics.exact(GOLD, FOUND) == (0.0, 1)
    assert metrics.exact(GOLD, GOLD) == (1.0, 1)


def test_edge_f1_is_pooled_and_blind_to_distractors() -> None:
    counts = metrics.edge_counts(EDGES, {("a", "c"), ("b", "d"), ("x", "d")}, GOLD)
    assert counts == (1, 2, 2)
    assert metrics.f1([counts]) == 0.5
    assert metrics.f1([counts, (0, 0, 0)]) == 0.5
    assert metrics.f1([]) == 0.0


def test_shares_are_pooled_over_examples() -> None:
    assert metrics.share([(1, 2), (3, 6)]) == 0.5
    assert metrics.share([]) == 0.0


def test_taking_distractors_out_closes_empty_layers_up() -> None:
    assert metrics.compact({"a": 0, "x": 1, "b": 2, "y": 3}, ["a", "b"]) == {"a": 0, "b": 1}


def test_rankings_are_measured_by_what_of_the_relevant_stands_in_the_first_k() -> None:
    ranked, relevant = ["a", "x", "b", "y", "c"], {"a", "b", "c"}
    assert [metrics.recall_at(k, ranked, relevant) for k in (1, 3, 5)] == [1 / 3, 2 / 3, 1]
    assert [metrics.all_at(k, ranked, relevant) for k in (4, 5)] == [0, 1]
    assert metrics.ndcg_at(1, ranked, relevant) == 1
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    assert metrics.ndcg_at(5, ranked, relevant) == pytest.approx((1 + 1 / 2 + 1 / math.log2(6)) / ideal)
    assert metrics.ndcg_at(3, [], relevant) == metrics.recall_at(3, [], relevant) == 0
