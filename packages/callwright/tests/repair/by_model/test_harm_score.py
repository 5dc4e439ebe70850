"""The features of a change and the score over them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import READ, Reply, Tool, ToolCall
from callwright.repair.by_model.guard import Upstream
from callwright.repair.by_model.harm_score import (
    FEATURES,
    LIKELIHOOD,
    MOST,
    PLAIN,
    HarmScore,
    measure_change,
)
from callwright.repair.by_model.refiner import read_proposal
from callwright.repair.draft import AFTER_CALLS, Drafts

TEXT = {"type": "string"}
FIND = Tool(
    "find",
    "",
    {"type": "object", "properties": {"city": TEXT, "area": TEXT}, "required": ["city"]},
    effects=READ,
)
BOOK = Tool("book", "", {"type": "object", "properties": {"city": TEXT}, "required": ["city"]})
QUERY = "Find a hotel in Oslo, near the harbour."


def measured(
    before: list[ToolCall], answer: str, logprobs: tuple[float, ...] = (), query: str = QUERY
) -> dict[str, float]:
    up = Upstream("", tuple(before), (FIND, BOOK), query)
    drafts = Drafts(before, turn=AFTER_CALLS)
    found = read_proposal(drafts, up, Reply(f"<func_call>{answer}</func_call>"))
    assert found.change is not None
    return measure_change(up, drafts.order, found.change.edits, found.objections, logprobs)


def nonzero(features: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in features.items() if value}


def test_a_right_value_that_gives_way_to_another_of_the_conversation() -> None:
    before = [ToolCall("c", "find", {"city": "Oslo"})]
    found = measured(before, '[{"name": "find", "arguments": {"city": "harbour"}}]')
    assert nonzero(found) == {"lost": 1, "sound": 1, "values_changed": 1, "held_replaced": 1}


def test_an_invented_value_in_a_wrong_call_that_may_write() -> None:
    before = [ToolCall("c", "book", {"city": 7})]
    found = measured(before, '[{"name": "book", "arguments": {"city": "Bergen"}}]')
    assert nonzero(found) == {"ungrounded": 1, "values_changed": 1, "writes": 1}


def test_calls_that_come_and_go_and_keys_are_told_apart() -> None:
    before = [ToolCall("c", "find", {"town": "Oslo"}), ToolCall("d", "find", {"area": "harbour"})]
    found = measured(before, '[{"name": "find", "arguments": {"city": "Oslo"}}]')
    assert nonzero(found) == {
        "dropped": 1, "keys_added": 1, "keys_dropped": 1, "held_replaced": 1,
    }  # fmt: skip
    more = [f'{{"name": "find", "arguments": {{"city": "Oslo {n}"}}}}' for n in range(6)]
    found = measured([ToolCall("c", "find", {"town": "Oslo"})], f"[{', '.join(more)}]")
    assert found["added"] == MOST


def test_likelihood_is_left_out_where_none_is_stated() -> None:
    before = [ToolCall("c", "find", {"town": "Oslo"})]
    answer = '[{"name": "find", "arguments": {"city": "Oslo"}}]'
    assert set(measured(before, answer)) == set(PLAIN)
    found = measured(before, answer, (-0.5, -1.5, -0.1))
    assert set(found) == set(FEATURES)
    assert found["surprise"] == pytest.approx(0.7)
    assert found["hesitation"] == 1.5


weights = st.dictionaries(st.sampled_from(FEATURES), st.floats(0, 20))
features = st.fixed_dictionaries(dict.fromkeys(FEATURES, st.floats(0, MOST)))


@given(st.floats(-20, 20), weights, features, st.sampled_from(FEATURES), st.floats(0, 5))
def test_no_feature_lowers_the_score(
    intercept: float,
    weights: dict[str, float],
    features: dict[str, float],
    name: str,
    more: float,
) -> None:
    score = HarmScore(intercept, weights)
    higher = {**features, name: features[name] + more}
    assert 0 <= score.rate(features) <= score.rate(higher) <= 1


def test_the_score_is_the_logistic_function_of_the_sum() -> None:
    score = HarmScore(-2, {"lost": 1.5, "sound": 0.0})
    assert score.rate({"lost": 2, "sound": 1}) == pytest.approx(1 / (1 + math.exp(-1)))
    assert score.explain({"lost": 2, "sound": 1}) == {"lost": 3.0}
    assert HarmScore(-5_000, {}).rate({}) == 0.0


@pytest.mark.parametrize("weights", [{"lost": -0.1}, {"colour": 1.0}, {"lost": math.nan}])
def test_a_weight_that_lowers_the_score_is_refused(weights: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="is no feature with a weight"):
        HarmScore(0, weights)


def test_the_features_of_likelihood_are_not_plain() -> None:
    assert set(PLAIN).isdisjoint(LIKELIHOOD)
