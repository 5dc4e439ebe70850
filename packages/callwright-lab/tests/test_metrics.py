"""Every metric on one plan worked out by hand.

Gold: a and b first, c after a, d after c. Predicted: a first, b and c second, d second too.
"""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright_lab import metrics

GOLD = {"a": 0, "b": 0, "c": 1, "d": 2}
EDGES = {("a", "c"), ("c", "d")}
FOUND = {"a": 0, "b": 1, "c": 1, "d": 1}


def test_layer_accuracy_counts_tools_in_exactly_their_layer() -> None:
    assert metrics.layer_accuracy(GOLD, FOUND) == (2, 4)


def test_layer_error_sums_absolute_differences() -> None:
    assert metrics.layer_error(GOLD, FOUND) == (2, 4)
    assert metrics.pool_share([metrics.layer_error(GOLD, FOUND)]) == 0.5


def test_order_accuracy_counts_pairs_of_different_layers_and_a_tie_as_wrong() -> None:
    # of ac, ad, bc, bd, cd: ac and ad are right, bc and bd and cd are ties
    assert metrics.order_accuracy(GOLD, FOUND) == (2, 5)


def test_relation_accuracy_counts_all_pairs_and_a_tie_as_right_where_gold_ties() -> None:
    assert metrics.relation_accuracy(GOLD, FOUND) == (2, 6)
    assert metrics.relation_accuracy(GOLD, GOLD) == (6, 6)


def test_a_plan_is_valid_if_every_dependency_points_to_a_later_layer() -> None:
    assert metrics.score_validity(EDGES, FOUND) == (0.0, 1)
    assert metrics.score_validity({("a", "c")}, FOUND) == (1.0, 1)
    assert metrics.score_validity((), FOUND) == (1.0, 1)


def test_exact_wants_every_tool_in_its_layer() -> None:
    assert metrics.score_exact_match(GOLD, FOUND) == (0.0, 1)
    assert metrics.score_exact_match(GOLD, GOLD) == (1.0, 1)


def test_edge_f1_is_pooled_and_blind_to_distractors() -> None:
    counts = metrics.edge_counts(EDGES, {("a", "c"), ("b", "d"), ("x", "d")}, GOLD)
    assert counts == (1, 2, 2)
    assert metrics.pool_f1([counts]) == 0.5
    assert metrics.pool_f1([counts, (0, 0, 0)]) == 0.5
    assert metrics.pool_f1([]) == 0.0


def test_shares_are_pooled_over_examples() -> None:
    assert metrics.pool_share([(1, 2), (3, 6)]) == 0.5
    assert metrics.pool_share([]) == 0.0


def test_taking_distractors_out_closes_empty_layers_up() -> None:
    assert metrics.compact_layers({"a": 0, "x": 1, "b": 2, "y": 3}, ["a", "b"]) == {"a": 0, "b": 1}


def test_rankings_are_measured_by_what_of_the_relevant_stands_in_the_first_k() -> None:
    ranked, relevant = ["a", "x", "b", "y", "c"], {"a", "b", "c"}
    assert [metrics.recall_at(k, ranked, relevant) for k in (1, 3, 5)] == [1 / 3, 2 / 3, 1]
    assert [metrics.all_at(k, ranked, relevant) for k in (4, 5)] == [0, 1]
    assert metrics.ndcg_at(1, ranked, relevant) == 1
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    assert metrics.ndcg_at(5, ranked, relevant) == pytest.approx(
        (1 + 1 / 2 + 1 / math.log2(6)) / ideal
    )
    assert metrics.ndcg_at(3, [], relevant) == metrics.recall_at(3, [], relevant) == 0


def test_an_overlap_worked_out_by_hand() -> None:
    found = metrics.score_overlap({"a", "b", "x"}, {"a", "b", "c", "d"})
    assert (found.precision, found.recall, found.f1) == (2 / 3, 2 / 4, pytest.approx(4 / 7))
    assert metrics.score_overlap(["a", "a"], ["a"]) == metrics.Overlap(1, 1, 1), (
        "what is said twice is there once"
    )


def test_a_share_of_nothing_is_full_only_where_nothing_was_wanted() -> None:
    assert metrics.score_overlap((), ()) == metrics.Overlap(1, 1, 1)
    assert (
        metrics.score_overlap((), {"a"})
        == metrics.score_overlap({"a"}, ())
        == metrics.Overlap(0, 0, 0)
    )


def test_a_graph_is_exact_only_if_nodes_and_edges_are_gold() -> None:
    nodes, edges = {"a", "b", "c"}, {("a", "b"), ("b", "c")}
    assert metrics.graph_score(nodes, edges, nodes, edges).exact == 1
    assert metrics.graph_score(nodes | {"d"}, edges, nodes, edges).exact == 0
    turned = metrics.graph_score(nodes, {("b", "a"), ("b", "c")}, nodes, edges)
    assert (turned.exact, turned.nodes.f1, turned.edges.f1) == (0, 1, 0.5), (
        "an edge has a direction"
    )


def test_scores_are_averaged_over_plans_and_not_over_edges() -> None:
    right = metrics.graph_score({"a"}, (), {"a"}, ())
    wrong = metrics.graph_score({"a", "b"}, {("a", "b")}, {"c", "d", "e"}, {("c", "d"), ("d", "e")})
    whole = metrics.average_scores([right, right, right, wrong])
    assert (whole.exact, whole.nodes.f1, whole.edges.precision) == (0.75, 0.75, 0.75)
    # F1 .5 (P 1/3, R 1) and 1: the mean of them, not the harmonic mean of the mean P and R
    half = metrics.graph_score({"a", "b", "c"}, (), {"a"}, ())
    assert metrics.average_scores([half, right]).nodes.f1 == 0.75


names = st.sets(st.sampled_from("abcdef"))


@given(names, names)
def test_overlaps_are_shares_and_turn_round_with_their_sides(
    found: set[str], gold: set[str]
) -> None:
    one, other = metrics.score_overlap(found, gold), metrics.score_overlap(gold, found)
    assert (one.precision, one.recall, one.f1) == (other.recall, other.precision, other.f1)
    assert all(0 <= x <= 1 for x in (one.precision, one.recall, one.f1))
    assert (one.f1 == 1) == (found == gold)
    if one.precision + one.recall:
        harmonic = 2 * one.precision * one.recall / (one.precision + one.recall)
        assert one.f1 == pytest.approx(harmonic)


@given(names, names, st.sampled_from("abcdef"))
def test_one_more_right_item_never_lowers_f1_and_one_more_wrong_one_never_raises_it(
    found: set[str], gold: set[str], more: str
) -> None:
    before, after = (
        metrics.score_overlap(found, gold).f1,
        metrics.score_overlap(found | {more}, gold).f1,
    )
    assert after >= before if more in gold else after <= before


graphs = st.tuples(names, st.sets(st.tuples(st.sampled_from("abc"), st.sampled_from("def"))))


@given(graphs, graphs)
def test_a_graph_is_exact_just_where_every_f1_is_full(
    found: tuple[set[str], set[tuple[str, str]]], gold: tuple[set[str], set[tuple[str, str]]]
) -> None:
    score = metrics.graph_score(*found, *gold)
    assert (score.exact == 1) == (score.nodes.f1 == 1 and score.edges.f1 == 1)
    assert metrics.average_scores([score]) == score


def test_values_of_one_cluster_are_drawn_together() -> None:
    values = [1.0] * 5 + [0.0] * 5
    apart = metrics.clustered_bootstrap(values, [str(i) for i in range(10)])
    together = metrics.clustered_bootstrap(values, ["a"] * 5 + ["b"] * 5)
    assert apart.value == together.value == 0.5
    assert (together.low, together.high) == (0.0, 1.0)
    assert together.high - together.low > apart.high - apart.low
    assert metrics.clustered_bootstrap([2.0], ["a"]) == metrics.Interval(2.0, 2.0, 2.0)
    with pytest.raises(ValueError, match="do not match"):
        metrics.clustered_bootstrap([1.0], [])
