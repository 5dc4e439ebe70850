"""What a plan refers to takes its place, where there is one reading; else it is said what is
missing.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.agent.execution.references import resolve_references
from callwright.nouns.types import Tool


def made(
    value: Any, content: Any, kind: Any = None, key: str = "x", more: tuple[Any, ...] = ()
) -> Any:
    schema = {} if kind is None else {"type": kind}
    tool = Tool("t", input_schema={"type": "object", "properties": {key: schema}})
    found = resolve_references({key: value}, {"a": [content, *more], "a.b": ["dotted"]}, tool)
    return found.arguments[key] if not found.missing else found.missing


PLACE = {"city": "Oslo", "latitude": 59.9, "codes": ["OSL", "TRF"], "in": {"country": "NO"}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${a.latitude}", 59.9),
        ("${a}", PLACE),
        ("${a.codes[1]}", "TRF"),
        ("${a.codes[*]}", ["OSL", "TRF"]),
        ("${a.in.country}", "NO"),
        ("${a.result.latitude}", 59.9),
        ("${a.Latitude}", 59.9),
        ("${a[0].city}", "Oslo"),
        ("${a.b}", "dotted"),
        ("At ${a.latitude} N, ${a.city}", "At 59.9 N, Oslo"),
        ("Codes ${a.codes}", 'Codes ["OSL","TRF"]'),
        ("costs $5 or ${HOME}", "costs $5 or ${HOME}"),
        (["${a.city}", {"k": "${a.latitude}"}], ["Oslo", {"k": 59.9}]),
    ],
)
def test_a_reference_becomes_the_value_that_it_names(text: Any, value: Any) -> None:
    assert made(text, PLACE) == value


def test_json_in_a_text_and_a_list_of_one_are_looked_into() -> None:
    assert made("${a.id}", '{"id": 7}') == 7
    assert made("${a.id}", [{"id": 7}]) == 7
    assert made("${a.id}", {"result": {"id": 7}}) == 7
    assert made("${a[*].id}", '[{"id": 7}]') == [7]


@pytest.mark.parametrize("text", ["Oslo", "01234", "12345"])
def test_a_plain_text_is_what_its_call_returned_under_whatever_name(text: str) -> None:
    """It was taken for nothing, null or a number."""
    assert made("${a.result}", text) == made("${a[*]}", text) == text
    assert "does not say which value is meant" in made("${a.city}", text)[0]


def test_a_result_that_holds_the_text_of_a_reference_stays_as_it_is() -> None:
    tool = Tool("t")
    found = resolve_references(
        {"x": "${a.v} and ${b.v}"}, {"a": [{"v": "see ${b.v}"}], "b": [{"v": 7}]}, tool
    )
    assert found.arguments == {"x": "see ${b.v} and 7"}


def test_a_whole_record_for_one_value_gives_the_field_of_that_name() -> None:
    assert made("${a}", PLACE, "number", "latitude") == 59.9
    assert made("${a}", PLACE, "string", "country") == "NO"
    assert made("${a}", {"order_id": "O7"}, "string", "id") == "O7"
    assert made("${a}", {"total": 12}, "number", "amount") == 12
    assert made("${a}", PLACE, "object") == PLACE


@pytest.mark.parametrize(
    ("text", "content", "kind"),
    [
        ("${a.nowhere}", PLACE, None),
        ("${a.codes[7]}", PLACE, None),
        ("${a.id}", [{"id": 1}, {"id": 2}], None),
        ("${a}", {"home_id": 1, "work_id": 2}, "integer"),
        ("${a.x}", None, None),
        ("${gone.x}", PLACE, None),
        ("see ${a.nowhere}", PLACE, None),
    ],
)
def test_where_no_or_several_values_can_be_meant_it_is_said_what_is_missing(
    text: str, content: Any, kind: Any
) -> None:
    found = made(text, content, kind, "id" if kind else "x")
    assert isinstance(found, tuple)
    assert "${" in found[0]


def test_of_several_calls_a_list_takes_all_and_a_value_none_unless_they_agree() -> None:
    assert made("${a.n}", {"n": 1}, "array", more=({"n": 2},)) == [1, 2]
    assert made("${a.n}", {"n": 1}, "integer", more=({"n": 1},)) == 1
    assert isinstance(made("${a.n}", {"n": 1}, "integer", more=({"n": 2},)), tuple)


def test_what_was_taken_whole_is_listed() -> None:
    found = resolve_references({"x": "${a.codes}", "y": "N ${a.city}"}, {"a": [PLACE]}, Tool("t"))
    assert found.taken == ("OSL", "TRF")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abid", max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    JSON, JSON, st.sampled_from(["${a}", "${a.id}", "${a[0].b}", "${a[*].id}", "x ${a.id} y ${b}"])
)
def test_arguments_without_references_stay_and_no_content_breaks_it(
    value: Any, content: Any, text: str
) -> None:
    assert resolve_references({"k": value}, {"a": [content]}, Tool("t")).arguments == {
        "k": value
    } or "${" in str(value)
    found = resolve_references({"k": text}, {"a": [content]}, Tool("t"))
    assert found.missing or found.arguments["k"] != text or text.startswith("x")
