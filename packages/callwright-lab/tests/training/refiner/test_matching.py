"""Which call stands for which gold call."""

from __future__ import annotations

from callwright_lab.training.refiner.formats import Invocation
from callwright_lab.training.refiner.matching import (
    canonicalize_value,
    match_calls,
    score_similarity,
)


def call(name: str, **arguments: object) -> Invocation:
    return Invocation(name, arguments)


def test_likeness_counts_names_and_values_of_the_same_tool() -> None:
    assert score_similarity(call("a", x=1), call("b", x=1)) == 0
    assert score_similarity(call("a"), call("a")) == 4
    assert score_similarity(call("a", x=1), call("a", x=1)) == 4
    assert score_similarity(call("a", x=1), call("a", x=2)) == 2
    assert score_similarity(call("a", x=1), call("a", y=1)) == 1


def test_each_call_is_used_once_and_the_total_is_the_greatest() -> None:
    output = [call("a", x=2), call("a", x=1), call("b")]
    assert sorted(match_calls(output, [call("a", x=1), call("a", x=2)])) == [(0, 1), (1, 0)]
    assert match_calls(output, [call("c")]) == []
    assert match_calls([], [call("a")]) == []
    assert len(match_calls([call("a", x=1)], [call("a", x=1), call("a", x=1)])) == 1


def test_values_are_the_same_where_json_schema_calls_them_equal() -> None:
    assert canonicalize_value({"b": [1.0], "a": 2}) == canonicalize_value({"a": 2, "b": [1]})
    assert len({canonicalize_value(v) for v in (1, True, "1", [1], None, 1.5)}) == 6
    assert score_similarity(Invocation("a", {"n": 2.0}), Invocation("a", {"n": 2})) == 4
