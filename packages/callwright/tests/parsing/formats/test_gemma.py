from __future__ import annotations

from typing import Any

import pytest

from tests.parsing.reading import calls, one, rest

S = '<|"|>'


def gemma(body: str) -> str:
    return f"<|tool_call>call:f{body}<tool_call|>"


@pytest.mark.parametrize(
    ("body", "arguments"),
    [
        ("{}", {}),
        (f"{{a:{S}x, y}}{S},n:1}}", {"a": "x, y}", "n": 1}),
        (f"{{o:{{k:[1,-2.5,true,null,{S}q{S}]}}}}", {"o": {"k": [1, -2.5, True, None, "q"]}}),
        (f'{{a:{S}say "hi" <b>\n{S}}}', {"a": 'say "hi" <b>\n'}),
        (f"{{{S}a b{S}:1}}", {"a b": 1}),
    ],
)
def test_bare_keys_and_marked_text_are_read(body: str, arguments: dict[str, Any]) -> None:
    piece = one(gemma(body))
    assert (piece.call.arguments, piece.problems, piece.dialect) == (arguments, (), "gemma")


def test_functiongemma_is_the_same_with_other_marks() -> None:
    text = (
        "<start_function_call>call:get_weather{city:<escape>Rome<escape>,days:3}<end_function_call>"
    )
    assert calls(text) == [("get_weather", {"city": "Rome", "days": 3})]
    assert one(text).dialect == "functiongemma"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (gemma('{a:"x"}'), "ordinary quotes instead of the format's own marks"),
        (gemma("{a:'x'}"), "ordinary quotes instead of the format's own marks"),
        (gemma("{a:x}"), "text without its marks"),
        (gemma(f"{{a:{S}x{S}"), "the closing bracket of the call is missing"),
        (gemma(f"{{a:{S}x{S}}}") + "<tool_call|>", "the closing tag twice"),
        (gemma(f"{{a:{S}x{S}}}").removesuffix("<tool_call|>"), "the closing tag is missing"),
    ],
)
def test_slips_are_forgiven_and_listed(text: str, problem: str) -> None:
    piece = one(text)
    assert (piece.call.arguments, piece.problems) == ({"a": "x"}, (problem,))
    assert rest(text) == ""


@pytest.mark.parametrize(
    "end",
    range(
        len(f"<|tool_call>call:f{{a:{S}x{S},o:{{") + 1,
        len(gemma(f"{{a:{S}x{S},o:{{k:[1,2]}}}}")) - 12,
    ),
)
def test_a_call_that_stops_is_never_completed(end: int) -> None:
    for piece in [one(gemma(f"{{a:{S}x{S},o:{{k:[1,2]}}}}")[:end])]:
        assert piece.truncated
        assert isinstance(piece.call.arguments, str)


def test_a_mark_that_is_never_closed_is_reported() -> None:
    piece = one(gemma(f"{{a:{S}x}}"))
    assert (piece.truncated, piece.call.arguments) == (True, f"{{a:{S}x}}<tool_call|>")


def test_depth_has_a_bound() -> None:
    piece = one(gemma("{a:" + "[" * 2000 + "]" * 2000 + "}"))
    assert isinstance(piece.call.arguments, str)
    assert piece.problems
