from __future__ import annotations

from callwright.nouns.types import Tool, ToolCall
from callwright.parsing import CallPiece, Parser, parse_calls
from callwright.parsing.formats.functionary import write, write_v31


def calls(text: str) -> list[CallPiece]:
    parser = Parser([Tool("f"), Tool("g")])
    return [p for p in [*parser.feed(text), *parser.close()] if isinstance(p, CallPiece)]


def test_a_bracket_in_the_call_before_hides_no_call() -> None:
    text = '>>>f\n{"0": "", "<": ""}>>>f\n{}'
    found = parse_calls(text, [Tool("f")])
    assert [call.arguments for call in found.calls] == [{"0": "", "<": ""}, {}]


def test_calls_follow_each_other_without_a_break() -> None:
    found = calls('>>>f\n{"a": 1}>>>g\n{"b": ">>>f"}')
    assert [(p.call.tool, p.call.arguments) for p in found] == [
        ("f", {"a": 1}),
        ("g", {"b": ">>>f"}),
    ]


def test_python_examples_and_text_for_all_are_text() -> None:
    for text in (">>> f(1)\n{}", ">>>all\nHello", ">>>f(2)\n{}", ">>>h\n{}", ">>>f\nplain"):
        assert calls(text) == []


def test_a_call_that_stops_is_truncated_at_any_place_after_its_name() -> None:
    for text in (">>>f\n", '>>>f\n{"a"', '>>>f\n{"a": "x'):
        (found,) = calls(text)
        assert found.truncated
        assert isinstance(found.call.arguments, str)


def test_both_versions_are_written_as_they_are_read() -> None:
    given = [ToolCall("1", "f", {"a": "</function>"}), ToolCall("2", "g", {})]
    for text in (write(given), write_v31(given)):
        assert [(p.call.tool, p.call.arguments) for p in calls(text)] == [
            ("f", {"a": "</function>"}),
            ("g", {}),
        ]
