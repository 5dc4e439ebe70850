from __future__ import annotations

from typing import Any

import pytest

from callwright.nouns.types import DESTRUCTIVE, READ, WRITE, CheckedCall, Tool, ToolCall
from callwright.repair.gate import Gate
from callwright.tools.openapi.export import openapi_of
from callwright.tools.openapi.source import OpenAPISource

NESTED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "legs": {"type": "array", "items": {"$ref": "#/$defs/leg"}},
        "class": {"enum": ["eco", "biz"]},
    },
    "required": ["legs"],
    "additionalProperties": False,
    "$defs": {
        "leg": {
            "type": "object",
            "properties": {"to": {"$ref": "#/$defs/code"}},
            "required": ["to"],
        },
        "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
    },
}


async def read_back(*tools: Tool) -> list[Tool]:
    source = OpenAPISource(openapi_of(tools, title="t", server="http://127.0.0.1:9"), trusted=True)
    try:
        found = list(await source.open())
        assert not source.not_imported
        return found
    finally:
        await source.aclose()


@pytest.mark.parametrize("effects", [READ, WRITE, DESTRUCTIVE])
async def test_a_tool_is_read_back_as_it_was(effects: Any) -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    (tool,) = await read_back(
        Tool("weather", "Weather of a city.", schema, {"type": "object"}, effects)
    )
    assert (tool.name, tool.description, tool.required) == (
        "weather",
        "Weather of a city.",
        ("city",),
    )
    assert tool.properties == {"city": {"type": "string"}}
    assert tool.effects == effects
    assert tool.output_schema == {"type": "object"}


async def test_definitions_are_found_from_their_new_place() -> None:
    first, second = await read_back(Tool("book", "", NESTED), Tool("plan", "", NESTED))
    assert set(first.properties) == {"legs", "class"}
    gate = Gate([first, second])
    for name in ("book", "plan"):
        assert isinstance(gate.check(ToolCall("", name, {"legs": [{"to": "OSL"}]})), CheckedCall)
        assert not isinstance(
            gate.check(ToolCall("", name, {"legs": [{"to": "oslo"}]})), CheckedCall
        )


async def test_a_schema_that_refers_to_itself_keeps_doing_so() -> None:
    tree = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "parts": {"type": "array", "items": {"$ref": "#"}},
        },
    }
    (tool,) = await read_back(Tool("grow", "", tree))
    assert tool.properties


async def test_a_tool_without_arguments_needs_no_body() -> None:
    (tool,) = await read_back(Tool("today"))
    assert tool.required == ()
