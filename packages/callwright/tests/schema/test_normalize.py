from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis_jsonschema import from_schema

from callwright.nouns.errors import CatalogError
from callwright.nouns.types import Tool
from callwright.schema.normalize import (
    MAX_DEPTH,
    any_schema,
    closed_object,
    object_schema,
    require_object_schema,
    required_first,
)

CITY = {"type": "str", "description": "the city"}
META = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
    "required": ["a"],
}


def test_a_map_of_parameters_becomes_an_object() -> None:
    assert object_schema({"city": CITY, "days": "int"}, ["city", ""]) == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "the city"},
            "days": {"type": "integer"},
        },
        "required": ["city"],
    }


def test_a_parameter_may_be_called_like_a_keyword() -> None:
    schema = object_schema({"type": CITY, "properties": CITY, "required": {"type": "bool"}})
    assert list(schema["properties"]) == ["type", "properties", "required"]
    assert schema["properties"]["required"] == {"type": "boolean"}
    inside = object_schema(
        {"type": "object", "properties": {"type": {"type": "string"}, "enum": {"type": "string"}}}
    )
    assert list(inside["properties"]) == ["type", "enum"]


def test_flags_on_the_parameters_become_the_required_list() -> None:
    schema = object_schema(
        {"a": {"type": "string", "required": True}, "b": {"type": "string", "required": "false"}}
    )
    assert schema["required"] == ["a"]
    assert "required" not in schema["properties"]["a"]
    assert object_schema({"a": {"type": "int", "optional": False}, "b": {"optional": True}})[
        "required"
    ] == ["a"]


def test_where_only_the_optional_are_marked_the_others_are_required() -> None:
    schema = object_schema(
        {"a": {"type": "str"}, "b": {"type": "str, optional"}, "c": {"type": "int", "default": 3}}
    )
    assert schema["required"] == ["a"]
    assert schema["properties"]["b"] == {"type": "string"}
    assert "required" not in object_schema({"a": {"type": "str"}, "b": {"type": "str"}})


def test_a_list_of_named_parameters_becomes_an_object() -> None:
    schema = object_schema(
        [{"name": "a", "type": "STRING", "required": True}, {"name": "b", "desc": "second"}]
    )
    assert schema["properties"] == {"a": {"type": "string"}, "b": {"description": "second"}}
    assert schema["required"] == ["a"]
    with pytest.raises(CatalogError, match="without a name"):
        object_schema([{"type": "string"}])


def test_sloppy_schemas_are_repaired_all_the_way_down() -> None:
    schema = object_schema(
        {
            "type": "dict",
            "properties": {
                "stops": {
                    "type": "list",
                    "items": {
                        "type": "dict",
                        "properties": {"at": {"type": "tuple", "items": "float"}},
                    },
                },
                "where": {"street": {"type": "str"}, "zip": {"type": "int"}},
            },
            "required": ["stops", ""],
            "optional": ["where"],
        }
    )
    at = {"type": "array", "items": {"type": "number"}}
    assert schema["properties"]["stops"]["items"] == {"type": "object", "properties": {"at": at}}
    assert schema["properties"]["where"]["properties"] == {
        "street": {"type": "string"},
        "zip": {"type": "integer"},
    }
    assert schema["required"] == ["stops"]
    assert "optional" not in schema


def test_titles_that_spell_the_name_again_are_dropped() -> None:
    schema = object_schema(
        {"type": "object", "properties": {"repo_path": {"title": "Repo Path", "type": "string"}}}
    )
    assert schema["properties"]["repo_path"] == {"type": "string"}
    schema = object_schema(
        {"type": "object", "properties": {"q": {"title": "Search words", "type": "string"}}}
    )
    assert schema["properties"]["q"]["title"] == "Search words"


@pytest.mark.parametrize("nothing", [None, {}, [], ""])
def test_no_parameters_is_an_object_without_properties(nothing: Any) -> None:
    assert object_schema(nothing) == {"type": "object", "properties": {}}
    assert any_schema(nothing) is None


@pytest.mark.parametrize("anything", [True, None])
def test_parameters_may_be_anything(anything: Any) -> None:
    assert object_schema(anything) == {"type": "object", "properties": {}}
    assert require_object_schema(Tool("t", input_schema=anything)) == Tool("t")
    assert require_object_schema(tool := Tool("t", input_schema={})) is tool


@pytest.mark.parametrize("schema", [False, [], '{"type": "object"}', 5])
def test_a_schema_that_is_no_object_is_refused_by_the_name_of_its_tool(schema: Any) -> None:
    with pytest.raises(CatalogError, match="tool 't': its input schema is") as caught:
        require_object_schema(Tool("t", input_schema=schema))
    assert '"type": "object"' in caught.value.hint


@pytest.mark.parametrize("wrong", ['{"type": "object"}', 3, False, {"type": ["array"]}])
def test_what_cannot_describe_an_object_is_refused(wrong: Any) -> None:
    with pytest.raises(CatalogError):
        object_schema(wrong)


def test_outputs_may_be_any_value_a_map_of_fields_or_prose() -> None:
    assert any_schema({"type": "string"}) == {"type": "string"}
    assert any_schema({"temp": {"type": "float"}}) == {
        "type": "object",
        "properties": {"temp": {"type": "number"}},
    }
    assert any_schema("List[str]") == {"type": "array", "items": {"type": "string"}}
    assert any_schema("the weather of that day") == {"description": "the weather of that day"}
    assert any_schema(True) == {}


def test_depth_is_limited() -> None:
    schema: dict[str, Any] = {}
    for _ in range(MAX_DEPTH + 5):
        schema = {"type": "object", "properties": {"a": schema}}
    with pytest.raises(CatalogError, match="levels deep"):
        object_schema(schema)


WORDS = [
    "type",
    "properties",
    "items",
    "enum",
    "required",
    "anyOf",
    "a",
    "name",
    "minimum",
    "$ref",
    "pattern",
]
WORDS += [
    "default",
    "dependencies",
    "not",
    "maxLength",
    "$defs",
    "format",
    "const",
    "additionalProperties",
]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["", "str", "object", "List[int]", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=300)
@given(JSON)
def test_whatever_comes_in_a_valid_schema_or_a_catalog_error_comes_out(raw: Any) -> None:
    try:
        schema = object_schema(raw)
    except CatalogError:
        return
    jsonschema_rs.meta.validate(_finite(schema))
    assert schema["type"] == "object"


def _finite(value: Any) -> Any:
    """JSON has no NaN; as data (``default``, ``enum``) they pass through and are not the subject
    here.
    """
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_finite(v) for v in value]
    return 0 if isinstance(value, float) else value


PROPER = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "properties": st.dictionaries(
            st.sampled_from(["a", "b", "type", "items"]),
            st.sampled_from(
                [
                    {"type": "integer", "minimum": 2},
                    {"type": "string", "minLength": 1, "pattern": "^x"},
                    {"type": ["string", "null"]},
                    {"enum": ["x", 1, None]},
                    {"type": "array", "items": {"type": "integer"}, "maxItems": 2},
                    {"type": "array", "prefixItems": [{"type": "integer"}], "items": False},
                    {"anyOf": [{"type": "integer"}, {"type": "string"}]},
                    {"const": None},
                    {"not": {"type": "string"}},
                    META,
                    True,
                    False,
                ]
            ),
            max_size=3,
        ),
        "required": st.lists(st.sampled_from(["a", "b"]), unique=True),
        "additionalProperties": st.sampled_from([True, False, {"type": "integer"}]),
        "minProperties": st.integers(0, 2),
    },
)


@settings(max_examples=150)
@given(
    PROPER,
    st.dictionaries(st.sampled_from(["a", "b", "type", "items"]), from_schema({}), max_size=4),
)
def test_a_proper_schema_means_the_same_afterwards(
    schema: dict[str, Any], value: dict[str, Any]
) -> None:
    assert jsonschema_rs.is_valid(object_schema(schema), value) == jsonschema_rs.is_valid(
        schema, value
    )


def test_a_schema_for_decoding_names_the_required_properties_first_and_admits_no_others() -> None:
    given = {
        "properties": {"b": {"type": "string"}, "a": {"type": "integer"}},
        "required": ["a", "ghost"],
    }
    made = required_first(Tool("t", input_schema=given))
    assert list(made["properties"]) == ["a", "b"]
    assert (made["type"], made["additionalProperties"]) == ("object", False)
    assert "type" not in given, "the tool's own schema stays as it is"
    assert closed_object(x={}, y={})["required"] == ["x", "y"]


def test_a_nullable_schema_of_arguments_keeps_its_parameters() -> None:
    one = {"properties": {"a": {"type": "string"}}, "allOf": [{"required": ["a"]}]}
    made = object_schema({**one, "nullable": True})
    assert made == object_schema(one)
    assert made["type"] == "object"
