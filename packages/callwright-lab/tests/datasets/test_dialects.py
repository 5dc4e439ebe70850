"""The families of data sets. The core's tests of DIALECTS hold for them, too."""

from __future__ import annotations

import pytest

from callwright.nouns.types import Tool, ToolCall
from callwright.parsing import DIALECTS, CallPiece, Parser, write_calls
from callwright_lab.datasets import dialects

TOOLS = [Tool("f"), Tool("g")]


def test_all_of_them_are_registered() -> None:
    assert [DIALECTS[row.name] for row in dialects.DIALECTS] == list(dialects.DIALECTS)


def test_nestful_labels_are_kept() -> None:
    text = (
        '[{"name": "f", "arguments": {"a": 1}, "label": "$var1"}, {"name": "g", "arguments": {},'
        ' "label": "$var2"}]'
    )
    parser = Parser(TOOLS)
    found = [p for p in [*parser.feed(text), *parser.close()] if isinstance(p, CallPiece)]
    assert [(p.call.slot, p.dialect) for p in found] == [("$var1", "nestful"), ("$var2", "nestful")]


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        (
            "nestful",
            '[{"name": "f", "arguments": {"a": 1}, "label": "$var1"},'
            ' {"name": "g", "arguments": {}, "label": "$r"}]',
        ),
        (
            "nestools",
            '[{"api_name": "f", "parameters": {"a": 1}, "responses": "API_call_0"},'
            ' {"api_name": "g", "parameters": {}, "responses": "$r"}]',
        ),
        (
            "refinetoolbench",
            '[{"api_name": "f", "parameters": {"a": 1}}, {"api_name": "g", "parameters": {}}]',
        ),
        ("api_bank", "[f(a=1), g()]"),
    ],
)
def test_calls_are_written_as_the_data_set_writes_them(dialect: str, text: str) -> None:
    calls = [ToolCall("1", "f", {"a": 1}), ToolCall("2", "g", {}, slot="$r")]
    assert write_calls(calls, dialect) == text
    parser = Parser(TOOLS, dialects=[dialect])
    found = [p for p in [*parser.feed(text), *parser.close()] if isinstance(p, CallPiece)]
    assert [(p.call.tool, p.call.arguments) for p in found] == [("f", {"a": 1}), ("g", {})]
