from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import Failure, ToolResult
from callwright.repair.provenance.echoes import (
    has_argument,
    spell_pattern,
    strip_echoes,
    tell_failure,
)
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


@pytest.mark.parametrize(
    ("arguments", "message", "told"),
    [
        ({"id": "chair"}, "no order chair; did you mean ORD-4711?", "ord-4711"),
        ({"amount": 1}, "Error: minimum donation is 7.50", "7.50"),
        ({"n": 12}, "12 is more than the 5 that are left", "5"),
        ({"id": "٤٧١"}, "رقم 471 غير صحيح، المتاح 88", "88"),
    ],
)
def test_a_failure_tells_what_its_call_did_not(arguments: Any, message: str, told: str) -> None:
    failed = ToolResult("r1", "g", arguments, None, Failure("error_payload", message))
    assert told in tell_failure(failed)


@pytest.mark.parametrize(
    ("arguments", "message", "kept"),
    [
        ({"id": "ORD-9999"}, "order ord 9999 not found", "9999"),
        ({"amount": 7.5}, "7.50 is too little", "7.50"),
        ({"who": {"name": "Smithson"}}, "Nobody is called Smithson", "smithson"),
        ({"id": "订单99"}, "没有订单99。", "99"),
    ],
)
def test_a_failure_does_not_tell_what_its_call_made_up(
    arguments: Any, message: str, kept: str
) -> None:
    failed = ToolResult(
        "r1", "g", arguments, None, Failure("tool_error", message, detail=[message])
    )
    assert kept not in tell_failure(failed)


def test_a_failure_about_no_value_tells_nothing() -> None:
    for failure in (Failure("timeout", "after 30 seconds"), Failure("unavailable", "503"), None):
        assert tell_failure(ToolResult("r1", "g", {}, None, failure)) == ""


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("the order ord-471, please", True),
        ("the order ORD 471".lower(), True),
        ("the order ord-4711", False),
        ("订单ord471。", True),
    ],
)
def test_a_text_is_found_however_it_is_written_but_not_in_a_longer_number(
    text: str, is_found: bool
) -> None:
    assert (spell_pattern("ord471").search(text) is not None) is is_found
