from __future__ import annotations

from typing import Any

import pytest

from callwright.parsing.formats.pythonic import read_call
from callwright.parsing.tool_vocabulary import ToolVocabulary
from tests.parsing.reading import TOOLS, calls, one, rest

OFFER = ToolVocabulary(TOOLS)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("()", {}),
        ("(city='Rome', days=3)", {"city": "Rome", "days": 3}),
        ("(a=-1, b=+2.5, c=None, d=True)", {"a": -1, "b": 2.5, "c": None, "d": True}),
        ("(e=(1, 2), f={'x': [1]})", {"e": [1, 2], "f": {"x": [1]}}),
        ("(a='it\\'s', b=\"]\", c='x' 'y')", {"a": "it's", "b": "]", "c": "xy"}),
        ("(**{'a b': 1})", {"a b": 1}),
        ("({'city': 'Rome'})", {"city": "Rome"}),
        ("(from='x', class=1)", {"from": "x", "class": 1}),
    ],
)
def test_literals_are_read(text: str, arguments: dict[str, Any]) -> None:
    call = read_call("get_weather", text, OFFER)
    assert (call.arguments, call.problems) == (arguments, [])


@pytest.mark.parametrize(
    ("text", "arguments", "problem"),
    [
        ("(a=true, b=null)", {"a": True, "b": None}, "JSON words in a Python call"),
        (
            "('Rome', 3)",
            {"city": "Rome", "days": 3},
            "arguments without a name, named in the schema's order",
        ),
        ("(a=g(x=1))", {"a": "g(x=1)"}, "an expression that is no literal, kept as text"),
        ("(a=x + 1)", {"a": "x + 1"}, "an expression that is no literal, kept as text"),
    ],
)
def test_what_is_no_plain_literal_is_listed(
    text: str, arguments: dict[str, Any], problem: str
) -> None:
    call = read_call("get_weather", text, OFFER)
    assert (call.arguments, set(call.problems)) == (arguments, {problem})


@pytest.mark.parametrize(
    "text", ["(a=)", "(1, 2, 3, 4, 5)", "(a=1e999)", "(**x)", "(a='\x00')", "(" + "[" * 300 + ")"]
)
def test_what_cannot_be_read_stays_text(text: str) -> None:
    call = read_call("get_weather", text, OFFER)
    assert call.arguments == text[1:-1]
    assert call.problems


def test_a_list_of_calls() -> None:
    assert calls('[f(a=1), get_weather(city="a), [b]")]') == [
        ("f", {"a": 1}),
        ("get_weather", {"city": "a), [b]"}),
    ]
    assert one("[f(a=1)").problems == ("the closing bracket of the list is missing",)
    assert one("[f(a='x").truncated


def test_calls_without_brackets_count_where_the_reply_begins_and_nothing_else_is_said() -> None:
    assert calls("f(a=1)") == [("f", {"a": 1})]
    assert calls("f(a=1)\ng(b=2)\n") == [("f", {"a": 1}), ("g", {"b": 2})]
    for prose in ("f(a=1) does it.", "f(x) is a function", "Then f(a=1)"):
        assert rest(prose) == prose


def test_a_list_amid_a_sentence_is_a_mention() -> None:
    for prose in ("One may write [f(a=1)] there.", "[h(a=1)]", "[f]", "[f (a)]"):
        assert rest(prose) == prose
