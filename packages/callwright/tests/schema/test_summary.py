from __future__ import annotations

from callwright.nouns.types import Tool
from callwright.schema.compiled import compile_schema
from callwright.schema.summary import reply_schema, schema_summary

TOOL = Tool(
    "book",
    "Books a trip.",
    {
        "type": "object",
        "properties": {
            "to": {"type": "string", "description": "Where."},
            "seats": {"type": "integer", "minimum": 1},
            "kind": {"enum": ["train", "bus"]},
            "who": {"type": "array", "items": {"$ref": "#/$defs/person"}},
            "when": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
        },
        "required": ["to"],
        "$defs": {
            "person": {
                "type": "object",
                "properties": {"name": {"type": "string"}},
                "required": ["name"],
            }
        },
    },
)


def test_the_summary_says_everything_a_call_needs_in_one_line_each() -> None:
    assert schema_summary(TOOL).splitlines() == [
        "book: Books a trip.",
        "- to (string, required): Where.",
        "- seats (integer, minimum 1, optional)",
        '- kind (one of "train", "bus", optional)',
        "- who (array of object, optional)",
        "  - name (string, required)",
        "- when (string, format date or null, optional)",
    ]


def test_a_tool_without_parameters_says_so() -> None:
    assert schema_summary(Tool("ping")) == "ping\n(no parameters)"


def test_recursive_schemas_end() -> None:
    schema = {"properties": {"kid": {"$ref": "#"}}}
    assert schema_summary(Tool("t", input_schema=schema)).count("kid") <= 6


def test_the_reply_schema_accepts_one_right_call_and_nothing_else() -> None:
    schema = reply_schema(TOOL)
    assert schema is not None
    compiled = compile_schema(schema)
    right = {"name": "book", "arguments": {"to": "Oslo", "who": [{"name": "Ada"}]}}
    assert compiled.accepts({"tool_calls": [right]})
    assert not compiled.accepts({"tool_calls": [right, right]})
    assert not compiled.accepts({"tool_calls": []})
    assert not compiled.accepts({"tool_calls": [{**right, "name": "other"}]})
    assert not compiled.accepts(
        {"tool_calls": [{"name": "book", "arguments": {"to": "x", "who": [{}]}}]}
    )


def test_references_that_would_point_elsewhere_give_no_reply_schema() -> None:
    schema = {"properties": {"a": {"type": "string"}, "b": {"$ref": "#/properties/a"}}}
    assert reply_schema(Tool("t", input_schema=schema)) is None
