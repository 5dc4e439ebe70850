"""Sources that are read when they are asked, and answer as if they had been read at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import ToolResult
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.provenance.upstream import Upstream

LEAVES = st.sampled_from(
    ["Oslo", "Rome and Bern", "O-12", 7, 4.5, "2025-06-20", "twelve", None, True]
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["city", "id"]), inner)
    ),
)


def result(number: int, content: Any) -> ToolResult:
    return ToolResult(f"r{number}", "find", {}, content)


@given(st.lists(VALUES, max_size=3), st.lists(VALUES, max_size=3), VALUES)
def test_it_answers_as_sources_that_hold_all_of_it(
    before: list[Any], upstream: list[Any], asked: Any
) -> None:
    first = [result(n, content) for n, content in enumerate(before)]
    then = [result(n + 9, content) for n, content in enumerate(upstream)]
    base = ProvenanceIndex("Go to Oslo for 7 days", results=first)
    plain = ProvenanceIndex("Go to Oslo for 7 days", results=[*first, *then])
    questions: list[Callable[[ProvenanceIndex], Any]] = [
        lambda s: s.holds(asked),
        lambda s: s.under("city"),
        lambda s: s.mentions("days"),
        lambda s: s.brief(300),
        lambda s: s.days(),
        lambda s: [r.id for r in s.results],
        lambda s: s.copy().holds(asked),
        lambda s: s.without(["r9"]).holds(asked),
        lambda s: s.holds_words("bern"),
    ]
    for ask in questions:
        assert ask(Upstream(base, lambda: then)) == ask(plain)
    one = Upstream(base, lambda: then)
    assert [ask(one) for ask in questions] == [ask(plain) for ask in questions]
    assert len(base.results) == len(first), "what it stands on is left as it is"


def test_what_the_request_or_a_reference_answers_is_not_looked_for_in_the_results() -> None:
    def never() -> list[ToolResult]:
        raise AssertionError("read")

    sources = Upstream(ProvenanceIndex("Go to Oslo"), never, taken=[8.25, "K7"])
    assert sources.holds("Oslo")
    assert sources.holds([8.25, {"id": "K7"}])
    with pytest.raises(AssertionError, match="read"):
        sources.holds("elsewhere")


def test_it_has_no_attributes_that_sources_have_not() -> None:
    with pytest.raises(AttributeError):
        _ = Upstream(ProvenanceIndex(), list).nothing


def test_what_calls_were_made_with_is_known_before_their_results_are_read() -> None:
    known = Upstream(
        ProvenanceIndex("Pay it."), lambda: [ToolResult("r1", "get", {"id": "B-1"}, {"sum": 5})]
    )
    assert known.was_asked_with("b-1")
    assert not known.was_asked_with("B-2")
    assert "leaves" not in known.__dict__
    assert known.holds(5)
    assert known.was_asked_with("B-1")
