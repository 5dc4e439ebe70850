from __future__ import annotations

from callwright.nouns.types import Tool
from callwright.parsing import CallPiece, Parser

MATH = Tool(
    "math",
    input_schema={"properties": {"problem": {"type": "string"}, "context": {"type": "array"}}},
)
PLAN = '1. search("Everest")\n2. math("abs($1 - 3)", ["$1"])\nThought: enough.\n3. join()'


def calls(text: str, *dialects: str) -> list[CallPiece]:
    parser = Parser(
        [Tool("search", input_schema={"properties": {"query": {}}}), MATH],
        dialects=dialects or None,
    )
    return [p for p in [*parser.feed(text), *parser.close()] if isinstance(p, CallPiece)]


def test_a_plan_is_read_where_it_is_asked_for() -> None:
    found = calls(PLAN, "llmcompiler")
    assert [(p.call.tool, p.call.arguments, p.call.slot) for p in found] == [
        ("search", {"query": "Everest"}, "1"),
        ("math", {"problem": "abs($1 - 3)", "context": ["$1"]}, "2"),
    ]


def test_numbered_lines_are_prose_where_it_is_not() -> None:
    assert calls(PLAN) == []


def test_a_number_within_a_line_or_before_no_tool_is_text() -> None:
    assert calls('See 1. search("x") and\n2. other("y")\n3. search is good', "llmcompiler") == []
