from __future__ import annotations

import json
import time
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.nouns.types import Tool, ToolCall
from callwright.parsing import DIALECTS, CallPiece, Parser, TextPiece, write_calls
from callwright.parsing.pieces import Piece
from tests.parsing.reading import merged
from tests.places import SUITE

DIALECTS_SUITE = SUITE / "dialects"
SAMPLES = [
    case["text"]
    for file in sorted(DIALECTS_SUITE.glob("*.json"))
    for case in json.loads(file.read_text("utf-8"))
]
WEATHER = Tool(
    "get_weather",
    input_schema={
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    },
)
TOOLS = (WEATHER, Tool("f"), Tool("g"), Tool("search_web"))
CALLS = [
    ToolCall("1", "get_weather", {"city": 'São </tool_call> "Paulo"', "days": 3}),
    ToolCall("2", "f", {}),
]
WRITTEN = [write_calls(CALLS, name, text="I look it up.") + "\nDone." for name in DIALECTS]
AMID = [
    '<think>I should call it: <tool_call>{"name": "f", "arguments": {}}</tool_call></think>Well.',
    "[THINK]hm[/THINK]Hello",
    "<|channel|>analysis<|message|>Think.<|end|><|start|>assistant<|channel|>final<|message|>Hi<|return|>",
    'so {"name": "f", "arguments": {"a": "x"}} and {"b": [1, {"c": "}"}]} and [link](x) and `code` {',
    "```python\nprint('x')\n```\nand ```json\n{\"a\": 1}\n``` end",
    "<tool_call>\nno json",
    "A\nAction: none\nAction",
    "a < b and <b>bold</b> <tool_ <tool_call",
    "x [TOOL_CALLS",
    "[f(x='1', y=[1, 2])] [1] [a b]",
    'commentary to=functions.get_weather json{"city": "Rome"}',
]
TEXTS = SAMPLES + WRITTEN + AMID


def parsed(text: str, cuts: list[int] | None = None, **options: Any) -> list[Piece]:
    """The pieces of a text that arrives cut at these places, neighbouring texts put together."""
    parser = Parser(TOOLS, **options)
    places = [0, *(sorted(c % (len(text) + 1) for c in cuts or [])), len(text)]
    found: list[Piece] = []
    for start, end in pairwise(places):
        found += parser.feed(text[start:end])
    found += parser.close()
    return merged(found)


def joined(pieces: list[Piece]) -> str:
    return "".join(p.text if isinstance(p, TextPiece) else p.raw for p in pieces)


@pytest.mark.parametrize("text", TEXTS)
def test_fed_by_characters_or_whole_it_is_the_same(text: str) -> None:
    whole = parsed(text)
    assert parsed(text, list(range(len(text)))) == whole
    assert joined(whole) == text


@pytest.mark.parametrize("text", TEXTS)
def test_cut_in_two_anywhere_it_is_the_same(text: str) -> None:
    whole = parsed(text)
    for at in range(0, len(text), max(1, len(text) // 60)):
        assert parsed(text, [at]) == whole


# ruff: noqa: E501
SCRAPS = [
    "<tool_call>", "</tool_call>", '{"name": "f", ', '"arguments": {', '"a": "x', '"', "}", "}}", "]", "[", "{", "\n", " ",
    "```json\n", "```", "<function=f>", "<parameter=city>", "</parameter>", "</function>", "f", "f(", "a='x'", ")", ",",
    "[TOOL_CALLS]", "[ARGS]", "Action: f\n", "Action Input: ", "<arg_key>a</arg_key>", "<arg_value>", "</arg_value>",
    "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<|tool_call>call:f{", 'k:<|"|>v', "<|channel|>",
    "commentary to=functions.f ", "<|message|>", "<|call|>", "<think>", "</think>", "\\", "'", ";", "text ", ":", "`", "call_",
    "<｜DSML｜invoke name=\"f\">", "<｜DSML｜parameter name=\"a\" string=\"true\">", "</｜DSML｜parameter>", "&lt;", "<", "=functions.",
]  # fmt: skip


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from(SCRAPS) | st.text(max_size=2), max_size=25).map("".join),
    st.lists(st.integers(0, 400)),
)
def test_any_text_cut_anywhere_gives_the_same_and_loses_nothing(text: str, cuts: list[int]) -> None:
    whole = parsed(text)
    assert joined(whole) == text
    assert parsed(text, cuts) == whole
    assert parsed(text, list(range(len(text)))) == whole


@settings(max_examples=150)
@given(
    st.sampled_from(TEXTS),
    st.sampled_from(TEXTS),
    st.integers(0, 300),
    st.integers(0, 300),
    st.lists(st.integers(0, 600)),
)
def test_replies_cut_off_and_run_together_are_read_the_same_in_pieces(
    one: str, two: str, end: int, start: int, cuts: list[int]
) -> None:
    text = one[: end % (len(one) + 1)] + two[start % (len(two) + 1) :]
    whole = parsed(text)
    assert joined(whole) == text
    assert parsed(text, cuts) == whole
    assert parsed(text, list(range(len(text)))) == whole


@pytest.mark.parametrize("text", WRITTEN)
def test_arguments_that_stop_in_the_middle_are_never_an_object(text: str) -> None:
    complete = [p.call.arguments for p in parsed(text) if isinstance(p, CallPiece)]
    for end in range(len(text)):
        for piece in parsed(text[:end]):
            if isinstance(piece, CallPiece) and isinstance(piece.call.arguments, dict):
                assert piece.call.arguments in complete
                assert not piece.truncated


def test_text_flows_on_at_once() -> None:
    parser = Parser(TOOLS)
    assert parser.feed("Hello, wor") == [TextPiece("Hello, wor")]
    assert parser.feed("ld <") == [TextPiece("ld ")]
    assert parser.feed("b>") == [TextPiece("<b>")]
    assert parser.feed('{"result": ') == [TextPiece('{"result": ')]
    assert parser.feed('{"name": "Ada"') == [TextPiece('{"name": "Ada"')]
    assert parser.pending_length == 0
    parser = Parser(TOOLS)
    assert parser.feed('{"name": "f"') == []
    assert parser.pending_length == parser.held == len('{"name": "f"')


def test_a_call_comes_out_with_the_last_character_of_its_closing_tag() -> None:
    parser = Parser(TOOLS)
    assert parser.feed('<tool_call>{"name": "f", "arguments": {}}</tool_call') == []
    (piece,) = parser.feed(">")
    assert isinstance(piece, CallPiece)


def test_reasoning_is_told_apart() -> None:
    assert parsed("<think>so</think>Hi") == [
        TextPiece("<think>so</think>", reasoning=True),
        TextPiece("Hi"),
    ]


def test_a_call_inside_reasoning_is_found() -> None:
    first, call, last = parsed(
        '<think>so <tool_call>{"name": "f", "arguments": {}}</tool_call></think>'
    )
    assert first == TextPiece("<think>so ", reasoning=True)
    assert isinstance(call, CallPiece)
    assert call.reasoning
    assert last == TextPiece("</think>", reasoning=True)


def test_reasoning_that_began_before_the_reply_is_known_by_its_end() -> None:
    assert parsed("so</think>Hi</think>") == [
        TextPiece("so"),
        TextPiece("</think>", reasoning=True, closes=True),
        TextPiece("Hi</think>"),
    ]
    assert parsed("so<|end|>Hi") == [TextPiece("so<|end|>Hi")]


@pytest.mark.parametrize(
    "text",
    [
        'Use `<tool_call>{"name": "f", "arguments": {}}</tool_call>` to call.',
        'Write `{"name": "f", "arguments": {}}` for that.',
        'The record {"name": "Ada", "arguments": {"a": 1}} is data.',
        "A list [1, 2], a link [f](x), and [other(a=1)].",
        "As in [f(a='1')] one may",
        "The <tool_call> tag opens a call.",
        "```python\nother(a=1)\n```",
        "Action: Restart the server.\nThen wait.",
        '{"results": [{"name": "f", "arguments": {}}]}',
        "if (a < b && c[0] > {d: 1}) { return `x` }",
    ],
)
def test_what_only_looks_like_a_call_stays_text(text: str) -> None:
    assert parsed(text) == [TextPiece(text)]


def test_names_nearly_offered_are_calls_and_others_only_where_asked_for() -> None:
    for name in (
        "getWeather",
        "get-weather",
        "functions.get_weather",
        "tools/get_weather",
        "get_wether",
    ):
        (piece,) = parsed(json.dumps({"name": name, "arguments": {}}))
        assert isinstance(piece, CallPiece)
    text = '{"name": "book_flight", "arguments": {}}'
    assert parsed(text) == [TextPiece(text)]
    (piece,) = parsed(text, unknown=True)
    assert isinstance(piece, CallPiece)


def test_what_is_held_can_be_released_as_text() -> None:
    parser = Parser(TOOLS)
    assert parser.feed('<tool_call>{"name": "f", ') == []
    assert parser.release() == [TextPiece('<tool_call>{"name": "f", ')]
    assert parser.feed("on") == [TextPiece("on")]
    assert parser.release() == []


def test_only_the_families_asked_for_are_read() -> None:
    text = write_calls(CALLS, "mistral")
    assert parsed(text, dialects=["hermes"]) == [TextPiece(text)]


def test_a_reply_that_has_ended_takes_no_more() -> None:
    parser = Parser()
    parser.close()
    with pytest.raises(ValueError, match="close"):
        parser.feed("x")


HOSTILE = [
    "{", "[", "<", '{"name":', '{"arguments": {', '{"id":"', "<tool_call>", "<tool_call>{", "```json\n{", "`", "Action: f\n",
    "<function=f>", "<function=f><parameter=a>", "<tool_call>f<arg_key>", "[TOOL_CALLS]f[ARGS]{", "<think>", "[f(",
    "<｜tool▁calls▁begin｜>", "<|tool_call>call:f{a:[", '<tool_call>{"a": "x" ', "</parameter> ", "[{]}", "\\\"'", "a(b[c{d",
    '{"id": "1", "type": "x", ', "Action: f({", "<|channel|>", "=functions.f{", "  \n", "f(", '{"name": "f", "arguments": ',
]  # fmt: skip


@pytest.mark.parametrize("scrap", HOSTILE)
def test_hostile_text_takes_linear_time(scrap: str) -> None:
    def seconds(size: int) -> float:
        text = scrap * (size // len(scrap))
        started = time.process_time()
        parser = Parser(TOOLS)
        for i in range(0, len(text), 4096):
            parser.feed(text[i : i + 4096])
        parser.close()
        return time.process_time() - started

    small = min(seconds(5_000) for _ in range(2))
    assert min(seconds(20_000) for _ in range(3)) < 0.1 + 10 * small


def test_a_large_call_in_small_pieces_costs_the_same_a_piece() -> None:
    def seconds(size: int) -> float:
        text = (
            '<tool_call>{"name": "f", "arguments": {"a": "'
            + "x y " * (size // 4)
            + '"}}</tool_call>'
        )
        started = time.process_time()
        parser = Parser(TOOLS)
        for i in range(0, len(text), 8):
            parser.feed(text[i : i + 8])
        (piece,) = parser.close() or [None]
        assert piece is None
        return time.process_time() - started

    small = min(seconds(50_000) for _ in range(2))
    assert seconds(200_000) < 0.1 + 10 * small
