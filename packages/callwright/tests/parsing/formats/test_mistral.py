from __future__ import annotations

import pytest

from callwright.parsing import CallPiece, Parser
from tests.parsing.reading import TOOLS, calls, one, pieces, rest


def test_the_old_list_ends_before_what_follows() -> None:
    text = '[TOOL_CALLS] [{"name": "f", "arguments": {"a": "]"}, "id": "abcdefghi"}] and so on'
    assert calls(text) == [("f", {"a": "]"})]
    assert rest(text) == " and so on"
    assert one(text).dialect == "mistral"


@pytest.mark.parametrize(
    "text",
    [
        '[TOOL_CALLS]f[ARGS]{"a": 1}',
        '[TOOL_CALLS]f{"a": 1}',
        '[TOOL_CALLS]f[CALL_ID]abc123DEF[ARGS]{"a": 1}',
        '[TOOL_CALLS] f [ARGS] {"a": 1}</s>',
    ],
)
def test_the_new_shapes(text: str) -> None:
    assert calls(text) == [("f", {"a": 1})]
    assert (one(text).dialect, one(text).problems, rest(text)) == ("mistral_args", (), "")


def test_several_in_a_row() -> None:
    assert calls('[TOOL_CALLS]f[ARGS]{"a": "[TOOL_CALLS]"}[TOOL_CALLS]g{}') == [
        ("f", {"a": "[TOOL_CALLS]"}),
        ("g", {}),
    ]


def test_a_name_without_arguments_is_reported() -> None:
    assert one("[TOOL_CALLS]f").truncated
    assert one("[TOOL_CALLS]f and then").problems == ("no arguments after the name",)
    assert one('[TOOL_CALLS]f[ARGS]{"a": "x').call.arguments == '{"a": "x'


@pytest.mark.parametrize(
    "text", ["[TOOL_CALLS]", "[TOOL_CALLS] nobody", "[TOOL_CALLS][]", "[TOOL_CALL"]
)
def test_a_marker_without_a_call_is_text(text: str) -> None:
    assert rest(text) == text


def test_more_white_space_than_a_call_may_hold_ends_it_whole_and_streamed_alike() -> None:
    text = "[TOOL_CALLS]f" + " " * 70 + "and on"
    assert [p.truncated for p in Parser(TOOLS).read(text) if isinstance(p, CallPiece)] == [False]
    assert [p.truncated for p in pieces(text) if isinstance(p, CallPiece)] == [False]
