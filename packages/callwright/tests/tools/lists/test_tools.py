from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.jsontext import parse
from callwright.nouns.errors import CatalogError
from callwright.nouns.types import DESTRUCTIVE, READ, READ_LOCAL, UNKNOWN, WRITE, Tool
from callwright.tools.lists.tools import (
    list_entries,
    tool_from_wire,
    tool_to_mcp,
    tool_to_openai,
    tools_from_wire,
)
from tests.places import DATA

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
OUTPUT = {"type": "object", "properties": {"temp": {"type": "number"}}}
WEATHER = Tool("weather", "Weather of a city.", SCHEMA, OUTPUT)
TEXT = "Weather of a city."


@pytest.mark.parametrize(
    "raw",
    [
        {
            "type": "function",
            "function": {
                "name": "weather",
                "description": TEXT,
                "parameters": SCHEMA,
                "output_schema": OUTPUT,
            },
        },
        {
            "type": "function",
            "function": {"name": "weather", "description": TEXT, "parameters": SCHEMA},
            "output_schema": OUTPUT,
        },
        {
            "type": "function",
            "name": "weather",
            "description": TEXT,
            "parameters": SCHEMA,
            "output_schema": OUTPUT,
            "strict": True,
        },
        {
            "name": "weather",
            "description": TEXT,
            "parameters": SCHEMA,
            "output_parameters": {"temp": {"type": "float"}},
        },
        {"name": "weather", "description": TEXT, "input_schema": SCHEMA, "output_schema": OUTPUT},
        {"name": "weather", "description": TEXT, "inputSchema": SCHEMA, "outputSchema": OUTPUT},
        {
            "toolSpec": {
                "name": "weather",
                "description": TEXT,
                "inputSchema": {"json": SCHEMA},
                "outputSchema": OUTPUT,
            }
        },
        # NESTFUL
        {
            "name": "weather",
            "description": TEXT,
            "query_parameters": {"city": {"type": "string", "required": True}},
            "output_parameters": {"temp": {"type": "number"}},
        },
        # Seal-Tools, NesTools
        {
            "api_name": "weather",
            "api_description": TEXT,
            "field": "Weather",
            "parameters": {"city": {"type": "str"}},
            "required": ["city"],
            "responses": {"temp": {"type": "float"}},
        },
        # ComplexFuncBench in its specification's form
        {
            "id": None,
            "name": "weather",
            "description": TEXT,
            "query_parameters": {
                "city": {"type": "string", "required": True, "enum": [], "default": None}
            },
            "output_parameters": {
                "temp": {
                    "title": "",
                    "type": "number",
                    "enum": [],
                    "required": [],
                    "properties": {},
                    "items": None,
                }
            },
        },
        # BFCL
        {
            "name": "weather",
            "description": TEXT,
            "parameters": {
                "type": "dict",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            },
            "response": {"type": "dict", "properties": {"temp": {"type": "float"}}},
        },
        # TaskBench
        {
            "id": "weather",
            "desc": TEXT,
            "parameters": [{"name": "city", "type": "string", "required": True}],
            "output_schema": OUTPUT,
        },
        # OpenAPI's response objects
        {
            "name": "weather",
            "description": TEXT,
            "parameters": SCHEMA,
            "responses": {
                "200": {"description": "ok", "content": {"application/json": {"schema": OUTPUT}}}
            },
        },
    ],
)
def test_every_style_gives_the_same_tool(raw: dict[str, Any]) -> None:
    assert tool_from_wire(raw) == WEATHER


def test_xlams_types_say_what_is_optional() -> None:
    tool = tool_from_wire(
        {
            "name": "f",
            "parameters": {"a": {"type": "int"}, "b": {"type": "str, optional", "default": "x"}},
        }
    )
    assert tool.required == ("a",)


def test_annotations_are_effects_of_trusted_sources_only() -> None:
    raw = {
        "name": "f",
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    }
    assert tool_from_wire(raw).effects == READ_LOCAL
    assert tool_from_wire(raw, trusted=False).effects == DESTRUCTIVE
    assert tool_from_wire({"name": "f", "method": "GET"}).effects == READ
    assert tool_from_wire({"name": "f", "method": "GET"}, trusted=False).effects == DESTRUCTIVE
    assert tool_from_wire({"name": "f"}).effects == DESTRUCTIVE


def test_without_annotations_nothing_is_declared_unless_whoever_reads_says_so() -> None:
    plain = {"name": "f", "description": "F."}
    assert not tool_from_wire(plain).effects.declared
    assert tool_from_wire(plain, unsaid=DESTRUCTIVE).effects.declared
    for effects in (WRITE, READ, UNKNOWN):
        again = tool_from_wire(tool_to_openai(Tool("f", effects=effects)))
        assert (again.effects, again.effects.declared) == (effects, effects.declared)


def test_a_sample_answer_in_place_of_an_output_schema_harms_nothing() -> None:
    assert tool_from_wire({"name": "f", "results": [1, 2]}).output_schema is None
    assert tool_from_wire({"name": "f", "returns": "the sum"}).output_schema == {
        "description": "the sum"
    }


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("weather", "a tool is an object"),
        ({}, "has no name"),
        ({"description": "x"}, "has no name"),
        ({"type": "web_search_20250305"}, "vendor's own server"),
        ({"name": "f", "parameters": '{"type": "object"}'}, "tool 'f': a schema is an object"),
        (
            {
                "name": "f",
                "parameters": {"type": "object", "properties": {"a": 3}, "required": 1},
                "output_schema": 3,
            },
            "tool 'f'",
        ),
    ],
)
def test_what_is_wrong_is_named(raw: Any, said: str) -> None:
    with pytest.raises(CatalogError) as error:
        tool_from_wire(raw)
    assert said in error.value.message


def test_lists_are_found_inside_the_objects_that_hold_them() -> None:
    raw = {"name": "weather", "description": TEXT, "parameters": SCHEMA, "output_schema": OUTPUT}
    for holder in (
        [raw],
        raw,
        {"tools": [raw]},
        {"functions": [raw]},
        [{"functionDeclarations": [raw]}],
        {"weather": raw},
    ):
        assert tools_from_wire(holder) == (WEATHER,)
    assert tools_from_wire([]) == ()
    nameless = {k: v for k, v in raw.items() if k != "name"}
    assert tools_from_wire({"weather": nameless}) == (WEATHER,)
    with pytest.raises(CatalogError, match="no list of tools"):
        list_entries("weather")
    with pytest.raises(CatalogError, match="tool 1: "):
        tools_from_wire([raw, {"name": ""}])


TOOLS = st.builds(
    Tool,
    name=st.from_regex(r"[a-z][a-z0-9_.-]{0,20}", fullmatch=True),
    description=st.text(max_size=30).map(str.strip),
    input_schema=st.sampled_from(
        [SCHEMA, {"type": "object", "properties": {}}, {**SCHEMA, "additionalProperties": False}]
    ),
    output_schema=st.sampled_from([None, OUTPUT]),
    effects=st.sampled_from([READ, READ_LOCAL, WRITE, DESTRUCTIVE]),
)


@given(TOOLS)
def test_what_is_written_reads_back_as_the_same_tool(tool: Tool) -> None:
    assert tool_from_wire(tool_to_openai(tool)) == tool
    assert tool_from_wire(tool_to_mcp(tool)) == tool
    assert (
        tool_from_wire({"name": "t", "input_schema": tool.input_schema}).input_schema
        == tool.input_schema
    )


WORDS = [
    "name",
    "function",
    "parameters",
    "input_schema",
    "tools",
    "api_list",
    "required_parameters",
    "annotations",
]
WORDS += [
    "type",
    "responses",
    "200",
    "content",
    "output",
    "toolSpec",
    "json",
    "method",
    "required",
    "description",
]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["", "f", "function", "str", "object"])
)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5)
    ),
    max_leaves=15,
)


@settings(max_examples=300)
@given(ANYTHING)
def test_anything_is_a_list_of_tools_or_a_catalog_error(raw: Any) -> None:
    try:
        tools = tools_from_wire(raw)
    except CatalogError:
        return
    for tool in tools:
        assert tool.name
        jsonschema_rs.meta.validate(tool.input_schema)


@pytest.mark.skipif(not (DATA / "seal_tools").is_dir(), reason="needs shared data: seal_tools")
def test_every_tool_of_seal_tools_can_be_checked_against() -> None:
    lines = (DATA / "seal_tools" / "tool.jsonl").read_bytes().splitlines()
    for line in lines:
        tool = tool_from_wire(parse(line))
        assert tool.output_schema is not None
        jsonschema_rs.meta.validate(tool.input_schema)
        jsonschema_rs.meta.validate(tool.output_schema)
    assert len(lines) == 4076


def test_what_a_tool_undoes_is_believed_of_trusted_sources_only() -> None:
    raw = {"name": "cancel", "inputSchema": {}, "_meta": {"callwright/compensates": "book"}}
    made = tool_from_wire(raw)
    assert made.compensates == "book"
    assert tool_from_wire(tool_to_mcp(made)).compensates == "book"
    assert tool_from_wire(raw, trusted=False).compensates == ""
    for meta in ("book", {"callwright/compensates": 7}, None):
        assert tool_from_wire({**raw, "_meta": meta}).compensates == ""
