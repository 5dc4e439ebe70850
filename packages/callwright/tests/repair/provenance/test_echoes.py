from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import Failure, ToolResult
from callwright.repair.provenance.echoes import has_argument, strip_echoes
from callwright.repair.provenance.sources import ProvenanceIndex


def strip(arguments: Any, content: Any, *said: str) -> Any:
    result = ToolResult("r1", "g", arguments, content)
    return strip_echoes(result, lambda text: any(text in one for one in said)).content


@pytest.mark.parametrize(
    ("arguments", "content", "left"),
    [
        ({"id": "C-1"}, {"id": "C-1", "open": 2}, {"id": None, "open": 2}),
        ({"id": "C-1"}, {"ids": ["c 1", "C-2"]}, {"ids": [None, "C-2"]}),
        ({"id": "C-1"}, '{"id": "C-1"}', {"id": None}),
        ({"id": "C-1"}, [{"id": "C-1"}, {"id": "C-2"}], [{"id": None}, {"id": "C-2"}]),
        ({"id": "C-1"}, "No customer C-1.", "No customer  ."),
        ({"customer_id": 7}, {"id": 7, "open": 7}, {"id": None, "open": 7}),
        ({"who": {"mail": "a@b.no"}}, {"to": "a@b.no"}, {"to": None}),
        ({"city": "Oslo"}, {"city": "Oslo"}, {"city": "Oslo"}),
        ({"limit": True}, {"limit": 1}, {"limit": 1}),
    ],
)
def test_what_repeats_an_argument_is_taken_out(arguments: Any, content: Any, left: Any) -> None:
    assert strip(arguments, content) == left


def test_a_record_of_which_somebody_spoke_keeps_what_it_repeats() -> None:
    record = {"id": "C-1", "name": "Lena Hoff"}
    assert strip({"id": "C-1"}, record, "Mail Lena Hoff.") == record
    assert strip({"id": "C-1"}, [record], "Mail Lena Hoff.") == [record]
    assert strip({"id": "C-1"}, {"of": [record]}, "Mail Lena Hoff.") == {"of": [record]}
    assert strip({"id": "C-1", "name": "Lena 2"}, {"id": "C-1", "name": "Lena 2"}, "Lena 2") == {
        "id": None,
        "name": None,
    }


def test_a_failed_result_and_one_that_repeats_nothing_stay_the_same_object() -> None:
    failed = ToolResult("r1", "g", {"id": "C-1"}, "C-1", Failure("not_found", "no C-1"))
    other = ToolResult("r1", "g", {"id": "C-1"}, {"id": "C-2"})
    for result in (failed, other):
        assert strip_echoes(result, lambda _: False) is result


def test_sources_without_echoes_are_the_same_object_where_nothing_is_repeated() -> None:
    known = ProvenanceIndex("Mail Lena.")
    known.add_result(ToolResult("r1", "g", {"id": "C-1"}, {"id": "C-2"}))
    assert known.without_echoes() is known
    known.add_result(ToolResult("r2", "g", {"id": "C-1"}, {"id": "C-1", "mail": "l@h.no"}))
    bare = known.without_echoes()
    assert not bare.holds("C-1")
    assert bare.holds("l@h.no")
    assert known.holds("C-1")


def test_an_argument_is_found_at_every_depth() -> None:
    assert has_argument({"on": ["2026-03-13"]}, "2026-03-13")
    assert has_argument({"order": {"id": "ORD-1", "of": 7}}, "ord-1")
    assert has_argument({"order": {"id": "ORD-1", "of": 7}}, 7)
    assert not has_argument({"on": ["2026-03-13"]}, "2026-03-14")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=3), JSON, max_size=3), JSON)
def test_whatever_comes_back_is_stripped_once(arguments: Any, content: Any) -> None:
    result = ToolResult("r1", "g", arguments, content)
    once = strip_echoes(result, lambda _: False)
    assert strip_echoes(once, lambda _: False) is once
