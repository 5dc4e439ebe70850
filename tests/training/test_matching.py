"""Which call stands for which gold call."""

from __future__ import annotations

from callwright.training.matching import likeness, pairs
from callwright.training.refiner_formats import Invocation


def call(name: str, **arguments: object) -> Invocation:
    return Invocation(name, arguments)


def test_likeness_counts_names_and_values_of_the_same_tool() -> None:
    assert likeness(call("a", x=1), call("b", x=1)) == 0
    assert likeness(call("a"), call("a")) == 4
    assert likeness(call("a", x=1), call("a", x=1)) == 4
    assert likeness(call("a", x=1), call("a", x=2)) == 2
    assert likeness(call("a", x=1), call("a", y=1)) == 1


def test_each_call_is_used_once_and_the_total_is_the_greatest() -> None:
    output = [call("a", x=2), call("a", x=1), call("b")]
    assert sorted(pairs(output, [call("a", x=1), call("a", x=2)])) == [(0, 1), (1, 0)]
    assert pairs(output, [call("c")]) == []
    assert pairs([], [call("a")]) == []
    assert len(pairs([call("a", x=1)], [call("a", x=1), call("a", x=1)])) == 1
