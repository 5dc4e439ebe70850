from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.nouns.types import Tool, ToolCall
from callwright.parsing import DIALECTS, CallPiece, Parser, parse_calls, write_calls
from callwright.parsing.pieces import drop_thoughts
from callwright.parsing.scanner import GLANCE
from callwright.parsing.strict import ATTEMPTS
from callwright.parsing.tool_vocabulary import ToolVocabulary
from tests.parsing.reading import TOOLS, merged

CALLS = [ToolCall("1", "get_weather", {"city": "São Paulo", "days": 3}), ToolCall("2", "f", {})]
STRICT = [
    "hermes", "jamba", "internlm", "fenced", "json", "xlam", "mistral", "mistral_args", "deepseek", "deepseek_v31",
    "kimi", "harmony", "lmstudio",
]  # fmt: skip


def _marker(text: str) -> str:
    return max((m for m in ATTEMPTS if text.startswith(m)), key=len, default="")


@pytest.mark.parametrize("dialect", STRICT)
def test_a_clean_call_needs_no_reader(dialect: str) -> None:
    text = write_calls(CALLS[:1], dialect)
    found = ATTEMPTS[_marker(text)](text, 0, ToolVocabulary(TOOLS), True)
    assert found is not None
    assert found[1:] == ([("get_weather", {"city": "São Paulo", "days": 3})], len(text))


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "f", "arguments": {}}',
        '<tool_call>{"name": "f", "arguments": {}}}</tool_call>',
        "<tool_call>{'name': 'f', 'arguments': {}}</tool_call>",
        '<tool_call>{"name": "f", "arguments": "{}"}</tool_call>',
        '<tool_call>{"name": "f", "arguments": {}, "id": 1}</tool_call>',
        '<tool_call>{"name": "functions.f", "arguments": {}}</tool_call>',
        '<tool_call>{"name": " f", "arguments": {}}</tool_call>',
        '<tool_call>[]</tool_call>',
        '[TOOL_REQUEST]{"name": "f", "arguments": {}}',
        '<function_call>{"name": "no_function", "arguments": {}}</function_call>',
        '{"name": "nobody", "arguments": {}}',
        '```json\n{"name": "nobody", "arguments": {}}\n```',
        '<|tool_calls_section_begin|><|tool_call_begin|>f:0<|tool_call_argument_begin|>{"a": }<|tool_call_end|>',
    ],
)  # fmt: skip
def test_whatever_is_not_quite_a_call_is_left_to_the_reader(text: str) -> None:
    assert ATTEMPTS[_marker(text)](text, 0, ToolVocabulary(TOOLS), True) is None


# ruff: noqa: E501
PARTS = [
    *(write_calls(CALLS, d) for d in DIALECTS), *(write_calls(CALLS[:1], d) for d in STRICT), "Well. ", "`", "```", "<think>", "</think>", "(", "to=", "\n", " ",
    "</tool_call>", "<tool_call>", "Final Answer: no", "Finish", "}", "[", '{"name": "Finish", "arguments": {}}', ";", ",",
    '{"arguments": {"a": 1}, "name": "f"}', '<tool_call>{"name": "f", "parameters": {}}</tool_call>', "get_weather(",
]  # fmt: skip


@settings(max_examples=300)
@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=3).map("".join))
def test_what_is_read_strictly_is_what_the_readers_read(text: str) -> None:
    """By characters no strict attempt sees a whole call, and so every piece is the readers'."""
    parser, slow = Parser(TOOLS), Parser(TOOLS)
    assert merged(parser.read(text)) == merged(
        [p for c in text for p in slow.feed(c)] + slow.close()
    )


@pytest.mark.parametrize("dialect", STRICT)
def test_more_white_space_than_a_reader_looks_across_is_read_strictly_as_by_the_readers(
    dialect: str,
) -> None:
    text = write_calls(CALLS[:1], dialect)
    for at in (i + 1 for i, char in enumerate(text) if char in "[{}]"):
        gaping = text[:at] + "\n" * (GLANCE + 1) + text[at:]
        parser, slow = Parser(TOOLS), Parser(TOOLS)
        assert merged(parser.read(gaping)) == merged(
            [p for c in gaping for p in slow.feed(c)] + slow.close()
        )


@settings(max_examples=300)
@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=3).map("".join))
def test_a_reply_with_one_clean_call_says_the_same_as_any_other(text: str) -> None:
    parser = Parser(TOOLS, unknown=True)
    read = [p for c in text for p in parser.feed(c)] + parser.close()
    calls = [p.call for p in drop_thoughts(read) if isinstance(p, CallPiece)]
    found = parse_calls(text, TOOLS)
    assert [(c.tool, c.arguments) for c in found.calls] == [
        (c.tool, c.arguments) for c in calls if c.tool != "Finish"
    ]


def test_a_name_that_a_pattern_might_cut_is_left_to_the_reader() -> None:
    offer = ToolVocabulary([Tool("a[ARGS]")])
    text = write_calls([ToolCall("1", "a", {})], "mistral_args")
    assert ATTEMPTS["[TOOL_CALLS]"](text, 0, offer, True) is None


def test_openings_without_an_end_are_not_searched_for_one_again_and_again() -> None:
    """Each would look to the end of the reply: the time is that of the text, not of its square."""
    spent = []
    for count in (20_000, 80_000):
        text = '<tool_call>{"name": ' * count + "</tool_call>"
        started = time.process_time()
        Parser(TOOLS).read(text)
        spent.append(time.process_time() - started)
    assert spent[1] < 12 * spent[0] + 1
