from __future__ import annotations

from callwright.nouns.types import Tool
from callwright.parsing import CallPiece, Parser

B, A, E = "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"
SECTION, END = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"


def calls(text: str) -> list[CallPiece]:
    parser = Parser([Tool("f"), Tool("g")])
    return [p for p in [*parser.feed(text), *parser.close()] if isinstance(p, CallPiece)]


def test_the_name_is_the_id_without_prefix_and_counter() -> None:
    found = calls(f'{SECTION}{B}functions.f:0{A}{{"a": 1}}{E}{B}g:1{A}{{}}{E}{END}')
    assert [(p.call.tool, p.call.arguments, p.problems) for p in found] == [
        ("f", {"a": 1}, ()),
        ("g", {}, ()),
    ]


def test_lost_outer_markers_are_no_matter_and_lost_inner_ones_are_listed() -> None:
    first, second = calls(f'{B}functions.f:0{A}{{"a": 1}}{B}functions.g:1{A}{{}}')
    assert (first.call.tool, second.call.tool) == ("f", "g")
    assert first.problems == ("the closing marker is missing",)


def test_a_call_that_stops_is_never_completed() -> None:
    (found,) = calls(f'{SECTION}{B}functions.f:0{A}{{"a": "x')
    assert found.truncated
    assert found.call.arguments == '{"a": "x'


def test_markers_without_a_call_stay_text() -> None:
    assert calls(f"{SECTION} and so on") == []
    assert calls(f"{B}functions.f:0 words\n\nmore") == []
