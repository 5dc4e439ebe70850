"""Calls out of texts, as the suite reads them."""

from __future__ import annotations

import pytest

from callwright_lab.benchmarks.acebench.reading import (
    UnreadableCalls,
    parse_calls,
    read_calls,
    remove_inner_space,
    write_calls,
)


def test_a_list_of_calls_is_read() -> None:
    text = """[order(item='red bolts', n=-7, to={'city': "Oslo", 'x': [1, 2.5, None]}),
               shop.list(),]"""
    assert read_calls(text) == [
        {"order": {"item": "redbolts", "n": -7, "to": {"city": "Oslo", "x": [1, 2.5, None]}}},
        {"shop.list": {}},
    ]
    assert parse_calls("[order(item='red bolts')]") == [{"order": {"item": "red bolts"}}]


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("true", "true"),
        ("True", True),
        ("(1, 2)", (1, 2)),
        ("...", "..."),
        ("6*7", 42),
        ("-2+3*4", 10),
        ("'a'+'b'", "ab"),
        ("rows[0]", "rows[0]"),
        ("f(a=1)", {"f": {"a": 1}}),
        ("f(1)", {"f": {}}),
    ],
)
def test_values_are_what_the_suite_makes_of_them(value: str, read: object) -> None:
    assert read_calls(f"[call(x={value})]") == [{"call": {"x": read}}]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Sure: [a()]",
        "a()",
        "[a(), 'b']",
        '["Missing necessary parameters (x) for the api (y)"]',
        "[a(",
        "[a(x={1})]",
        "[a(x=b.c)]",
        "[a(x=y+1)]",
        "[a(x=-'a')]",
        "[a(x='a'*9)]",
        "[a(x=9**9**9)]",
        "[a(x=1/0)]",
        "[a(x={**b})]",
        "[a(x=~b)]",
        "[a(x=2023-01-05)]",
        "(" * 500,
    ],
)
def test_what_is_no_list_of_calls_is_refused(text: str) -> None:
    with pytest.raises(UnreadableCalls):
        read_calls(text)


def test_no_call_at_all_is_a_list_too() -> None:
    assert read_calls("[]") == []


def test_a_native_value_loses_its_space_as_a_written_one_does() -> None:
    value = {"a b": ["c d", {"e": " f\n"}], "n": 1, "t": True}
    assert remove_inner_space(value) == {"ab": ["cd", {"e": "f"}], "n": 1, "t": True}


def test_calls_are_written_as_the_prompt_wants_them() -> None:
    calls = [{"a": {"x": "it's", "y": [True]}}, {"b": {}}]
    assert write_calls(calls) == """[a(x="it's", y=[True]), b()]"""
    assert parse_calls(write_calls(calls)) == calls
