from __future__ import annotations

import pytest

from callwright.nouns.types import Tool, ToolCall
from callwright.parsing import DIALECTS, CallPiece, Parser, TextPiece, parse_calls

WEATHER = Tool(
    "get_weather",
    input_schema={"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
)


def read(text: str) -> tuple[list[CallPiece], str]:
    parser = Parser([WEATHER])
    pieces = [*parser.feed(text), *parser.close()]
    return (
        [p for p in pieces if isinstance(p, CallPiece)],
        "".join(p.text for p in pieces if isinstance(p, TextPiece)),
    )


@pytest.mark.parametrize(
    "text",
    [
        '<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Rome"}}]',
        '<function_call> {"name": "get_weather", "arguments": {"city": "Rome"}}',
        'functools[{"name": "get_weather", "arguments": {"city": "Rome"}}]',
        "<function_calls>get_weather(city='Rome')</function_calls>",
        '<tool_calls>[{"name": "get_weather", "arguments": {"city": "Rome"}}]</tool_calls>',
    ],
)
def test_a_family_that_writes_no_closing_tag_has_no_problem_without_one(text: str) -> None:
    (found,), rest = read(text)
    assert (found.call.arguments, found.problems, rest) == ({"city": "Rome"}, (), "")


def test_granite_may_say_that_it_calls_nothing() -> None:
    text = '<function_call> {"name": "no_function", "arguments": {}}'
    assert read(text) == ([], text)
    assert parse_calls(text, [WEATHER]).reason == "no_function"


@pytest.mark.parametrize(
    "text",
    [
        "functools[0] is Python",
        "functools[{}]",
        'functools[{"name": "other", "arguments": {}}]',
        "functools[]",
    ],
)
def test_the_python_module_is_no_call(text: str) -> None:
    assert read(text) == ([], text)


@pytest.mark.parametrize("dialect", ["minimax", "glimmer", "invoke"])
def test_texts_in_tags_get_the_types_of_the_schema(dialect: str) -> None:
    text = DIALECTS[dialect].write([ToolCall("1", "get_weather", {"city": "7", "days": 7})])
    (found,), _ = read(text)
    assert found.call.arguments == {"city": "7", "days": 7}
    assert found.dialect == dialect


def test_glimmers_reasoning_is_reasoning() -> None:
    parser = Parser([WEATHER])
    pieces = [
        *parser.feed(" to=self<|message|>I look.<|eom|><|start|>assistant to=user<|message|>Hello"),
        *parser.close(),
    ]
    assert [(p.text, p.reasoning) for p in pieces if isinstance(p, TextPiece)] == [
        (" to=self<|message|>I look.<|eom|>", True),
        ("<|start|>assistant to=user<|message|>Hello", False),
    ]


def test_names_with_spaces_are_read_where_such_a_tool_is_offered() -> None:
    tools = [Tool("Market Trends API"), Tool("f")]
    found = parse_calls('[Market Trends API(country="us"), f()]', tools)
    assert [(c.tool, c.arguments) for c in found.calls] == [
        ("Market Trends API", {"country": "us"}),
        ("f", {}),
    ]


def test_parameters_named_like_pythons_words_are_read() -> None:
    found = parse_calls('[f(from="SFO", to="NYC", note="class=x")]', [Tool("f")])
    assert found.calls[0].arguments == {"from": "SFO", "to": "NYC", "note": "class=x"}


def test_a_family_that_must_be_asked_for_says_so() -> None:
    assert [name for name, family in DIALECTS.items() if family.asked] == ["llmcompiler"]
    assert all(family.reads_as in ("", *DIALECTS) for family in DIALECTS.values())
