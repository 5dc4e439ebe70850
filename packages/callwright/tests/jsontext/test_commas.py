from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.jsontext.commas import MAX_COMMAS, Complete, parse_adding_commas

scalars = st.text() | st.integers() | st.booleans() | st.none()
nested = st.recursive(
    scalars,
    lambda i: st.lists(i, max_size=4) | st.dictionaries(st.text(), i, max_size=4),
    max_leaves=8,
)
values = (st.lists(nested, max_size=4) | st.dictionaries(st.text(), nested, max_size=4)).filter(
    lambda value: json.dumps(value).count(",\n") <= MAX_COMMAS
)


@given(values, st.data())
def test_commas_left_out_at_line_ends_come_back_wherever_they_were(
    value: Any, data: st.DataObject
) -> None:
    lines = json.dumps(value, indent=1).split("\n")
    ends = [i for i, line in enumerate(lines) if line.endswith(",")]
    gone = data.draw(st.sets(st.sampled_from(ends))) if ends else set()
    text = "\n".join(line.removesuffix(",") if i in gone else line for i, line in enumerate(lines))
    assert parse_adding_commas(text) == Complete(value, len(text), len(gone))


@given(values, st.sampled_from([" and that is all", " {}", "]", ' "x"', "5", "\n[1]"]))
def test_what_follows_the_value_is_left_to_the_caller(value: Any, tail: str) -> None:
    text = json.dumps(value)
    assert parse_adding_commas(text + tail) == Complete(value, len(text))


@given(values, st.data())
def test_a_text_that_stops_before_its_last_bracket_is_never_complete(
    value: Any, data: st.DataObject
) -> None:
    text = json.dumps(value, indent=1).replace(",\n", "\n")
    assert parse_adding_commas(text[: data.draw(st.integers(0, len(text) - 1))]) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": "b" "c": 1}', {"a": "b", "c": 1}),
        ('["a" null]', ["a", None]),
        ('[{"a": 1}{"b": 2}]', [{"a": 1}, {"b": 2}]),
        ("[[] [1] true]", [[], [1], True]),
        ("[1\n2]", [1, 2]),
    ],
)
def test_a_comma_is_put_between_two_values(text: str, value: Any) -> None:
    found = parse_adding_commas(text)
    assert found is not None
    assert found.value == value
    assert found.commas


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "he said "hi" to me"}',  # quotes inside a string
        '["say "5" times"]',
        "[10 000]",  # digits in groups
        '{"a": "x" "y"}',  # no key of its own
        '{"a" "b"}',  # a colon is missing, or who knows what
        '{"name": "f", "arguments": {"a": 1 {"name": "f", "arguments": {}}}',  # stopped, and begun again
        "hello",
        "",
    ],
)
def test_whatever_else_is_wrong_is_left_alone(text: str) -> None:
    assert parse_adding_commas(text) is None


def test_more_gaps_than_a_few_are_given_up_quickly() -> None:
    started = time.perf_counter()
    assert parse_adding_commas("[" + "1\n" * 100_000 + "]") is None
    assert parse_adding_commas("[" * 1_000 + "1]" * 1_000 + "]" * 100_000) is None
    assert time.perf_counter() - started < 2
