from __future__ import annotations

import time
from typing import Any

import pytest

from callwright.nouns.errors import CatalogError
from callwright.nouns.types import Tool
from callwright.schema.untrusted import SchemaLimits, admit_tool

LIMITS = SchemaLimits()


def tool(properties: dict[str, Any], **more: Any) -> Tool:
    return Tool("f", "F.", {"type": "object", "properties": properties, **more})


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def test_an_ordinary_tool_passes_unchanged() -> None:
    ordinary = tool(
        {"a": {"$ref": "#/$defs/A"}},
        **{"$defs": {"A": {"type": "string", "pattern": "^[a-z]{1,40}$"}}},
    )
    admitted, notes = admit_tool(ordinary, LIMITS)
    assert admitted is ordinary
    assert notes == ()


@pytest.mark.parametrize("anything", [True, None])
def test_a_schema_of_anything_is_one_of_objects(anything: Any) -> None:
    assert admit_tool(Tool("t", input_schema=anything), LIMITS) == (Tool("t"), ())


@pytest.mark.parametrize("wrong", [False, [], "object"])
def test_a_schema_that_is_no_object_is_refused(wrong: Any) -> None:
    with pytest.raises(CatalogError, match="tool 't': its input schema is"):
        admit_tool(Tool("t", input_schema=wrong), LIMITS)


def test_a_reference_is_percent_decoded() -> None:
    """It is the fragment of a URI (RFC 6901, section 6)."""
    kept = {"Partial<Foo>": {"type": "object"}}
    schema = {"properties": {"a": {"$ref": "#/definitions/Partial%3CFoo%3E"}}, "definitions": kept}
    tool = Tool("t", "", {"type": "object", **schema})
    assert admit_tool(tool, LIMITS) == (tool, ())


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("https://example.org/a.json", "nothing is fetched"),
        ("other.json#/a", "nothing is fetched"),
        ("file:///etc/passwd", "nothing is fetched"),
        ("#/$defs/Missing", "not there"),
    ],
)
@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
def test_references_out_of_the_document_are_refused(target: str, said: str, keyword: str) -> None:
    with pytest.raises(CatalogError, match=said):
        admit_tool(tool({"a": {"items": {keyword: target}}}), LIMITS)


def test_what_only_looks_like_a_reference_is_left_alone() -> None:
    parameters = {
        "$ref": {"type": "string"},
        "a": {"const": {"$ref": "https://example.org"}},
        "pattern": {"type": "string"},
    }
    assert admit_tool(tool(parameters), LIMITS)[1] == ()


def test_depth_and_size_are_limited() -> None:
    admit_tool(tool({"a": nested(20)}), LIMITS)
    with pytest.raises(CatalogError, match="larger than 32 levels"):
        admit_tool(tool({"a": nested(60)}), LIMITS)
    with pytest.raises(CatalogError, match="20000 objects"):
        admit_tool(tool({f"p{i}": {"type": "string"} for i in range(30_000)}), LIMITS)


def test_data_inside_a_schema_is_limited_too() -> None:
    with pytest.raises(CatalogError, match="characters long"):
        admit_tool(tool({"a": {"enum": ["x" * 1_000] * 3_000}}), LIMITS)
    deep: list[Any] = []
    for _ in range(50_000):
        deep = [deep]
    with pytest.raises(CatalogError, match="JSON cannot carry"):
        admit_tool(tool({"a": {"const": deep}}), LIMITS)


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 201, "a\u202eb"])
def test_names_that_would_spoil_a_prompt_are_refused(name: str) -> None:
    with pytest.raises(CatalogError, match="its name"):
        admit_tool(Tool(name), LIMITS)


def test_even_absurd_depth_is_measured_without_recursion() -> None:
    with pytest.raises(CatalogError):
        admit_tool(tool({"a": nested(50_000)}), LIMITS)


@pytest.mark.parametrize(
    "pattern", ["a" * 501, "(a{1000}){1000}", "a{99999999999}", "(x{50}y{50}){2,}z{100}"]
)
def test_patterns_beyond_the_limits_are_removed_and_said(pattern: str) -> None:
    hostile = tool(
        {"a": {"type": "string", "pattern": pattern}}, patternProperties={pattern: {}, "^x": {}}
    )
    admitted, notes = admit_tool(hostile, LIMITS)
    assert admitted.properties["a"] == {"type": "string"}
    assert list(admitted.input_schema["patternProperties"]) == ["^x"]
    assert len(notes) == 2
    assert all(note.startswith("f: unbounded") for note in notes)
    assert hostile.properties["a"]["pattern"] == pattern  # what came in is not changed


@pytest.mark.parametrize("pattern", ["^[0-9]{4}-[0-9]{2}$", "^(a|b)+$", "x{3,}", "a{0,255}"])
def test_ordinary_patterns_stay(pattern: str) -> None:
    assert admit_tool(tool({"a": {"pattern": pattern}}), LIMITS)[1] == ()


def test_an_output_schema_that_cannot_be_used_is_dropped_and_the_tool_stays() -> None:
    admitted, notes = admit_tool(Tool("f", output_schema={"$ref": "https://example.org"}), LIMITS)
    assert admitted.output_schema is None
    assert "output schema dropped" in notes[0]


def test_an_endless_description_is_cut() -> None:
    admitted, notes = admit_tool(Tool("f", "x" * 50_000), LIMITS)
    assert len(admitted.description) == 20_000
    assert notes == ("f: description cut from 50000 to 20000 characters",)


def test_measuring_a_large_schema_takes_no_time() -> None:
    large = tool({f"p{i}": {"type": "string", "enum": ["a", "b"]} for i in range(9_000)})
    begun = time.perf_counter()
    admit_tool(large, LIMITS)
    assert time.perf_counter() - begun < 1.0
