"""Schemas as BAML types: every real key comes back, whatever characters it has."""

from __future__ import annotations

import pytest

from callwright.nouns.types import JsonObject, Tool
from callwright_lab.benchmarks.refine.baml import parse_aligned

baml = pytest.importorskip("baml_py", reason="extra 'peers' is not installed")

TEXT: JsonObject = {"type": "string"}
NESTED = Tool("file.search", "", {
    "type": "object",
    "properties": {
        "where-to": {"type": "object", "properties": {"$path": TEXT, "deep": {}}, "required": ["$path"]},
        "words": {"type": "array", "items": TEXT},
        "most": {"type": ["integer", "null"]},
        "more": {"type": "object"},
    },
    "required": ["where-to"],
})  # fmt: skip


def test_nested_keys_lists_and_unions_come_back_under_their_own_names() -> None:
    said = (
        '{"name": "file.search", "arguments": {"where-to": {"$path": "/a"}, "words": ["x", "y"],'
        ' "most": 3}}'
    )
    (call,) = parse_aligned(baml, said, [NESTED, Tool("ping", "")])
    assert (call.tool, call.arguments) == (
        "file.search",
        {"where-to": {"$path": "/a"}, "words": ["x", "y"], "most": 3},
    )


def test_several_calls_and_a_tool_without_parameters_are_read() -> None:
    said = (
        '[{"name": "ping", "arguments": {}}, {"name": "file.search", "parameters": {"where-to":'
        ' {"$path": "b"}}}]'
    )
    found = parse_aligned(baml, said, [NESTED, Tool("ping", "")])
    assert [(c.tool, c.arguments) for c in found] == [
        ("ping", {}),
        ("file.search", {"where-to": {"$path": "b"}}),
    ]
