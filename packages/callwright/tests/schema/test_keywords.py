from __future__ import annotations

from typing import Any

import pytest

from callwright.schema.keywords import KEYWORD_STEPS, names_of, parse_flag


def repaired(schema: dict[str, Any]) -> dict[str, Any]:
    for step in KEYWORD_STEPS:
        step(schema)
    return schema


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"type": "integer", "enum": ["1", "2"]}, {"type": "integer", "enum": [1, 2]}),
        (
            {"type": "boolean", "enum": ["true", "False"]},
            {"type": "boolean", "enum": [True, False]},
        ),
        ({"type": "string", "enum": [1, 2.5]}, {"type": "string", "enum": ["1", "2.5"]}),
        ({"type": "integer", "enum": ["1", "many"]}, {"enum": ["1", "many"]}),
        ({"type": "string", "enum": []}, {"type": "string"}),
        ({"type": "string", "allowed_values": ["a"]}, {"type": "string", "enum": ["a"]}),
        ({"type": "string", "enum": "a, b"}, {"type": "string", "enum": ["a", "b"]}),
    ],
)
def test_enums_can_be_met_in_the_declared_type(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    assert repaired(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"minimum": 3, "exclusiveMinimum": True}, {"exclusiveMinimum": 3}),
        ({"minimum": 3, "exclusiveMinimum": False}, {"minimum": 3}),
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        (
            {"type": "string", "nullable": True, "enum": ["a"]},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        ({"enum": ["a"], "nullable": True}, {"enum": ["a", None]}),
        (
            {"allOf": [{"$ref": "#/$defs/A"}], "nullable": True, "description": "d"},
            {"description": "d", "anyOf": [{"allOf": [{"$ref": "#/$defs/A"}]}, {"type": "null"}]},
        ),
        (
            {"$ref": "#/$defs/A", "nullable": True},
            {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]},
        ),
        ({"dependencies": {"a": ["b"]}}, {"dependentRequired": {"a": ["b"]}}),
        ({"items": [{}, {}], "additionalItems": False}, {"prefixItems": [{}, {}], "items": False}),
        ({"$schema": "http://json-schema.org/draft-04/schema#"}, {}),
        ({"example": 3}, {"examples": [3]}),
    ],
)
def test_older_drafts_and_openapi_become_2020_12(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    assert repaired(before) == after


def test_the_fillers_of_class_dumps_say_nothing() -> None:
    dumped: dict[str, Any] = {
        "title": "",
        "type": "string",
        "description": "",
        "enum": [],
        "required": [],
        "properties": {},
        "items": None,
    }
    assert repaired(dumped) == {"type": "string", "description": ""}
    assert repaired({"type": "string", "default": None}) == {"type": "string"}
    assert repaired({"type": ["string", "null"], "default": None}) == {
        "type": ["string", "null"],
        "default": None,
    }


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"type": "integer", "default": "5"}, {"type": "integer", "default": 5}),
        ({"type": "number", "default": ""}, {"type": "number"}),
        ({"type": "string", "default": ""}, {"type": "string", "default": ""}),
        ({"type": "integer", "default": "soon"}, {"type": "integer", "default": "soon"}),
    ],
)
def test_defaults_are_read_in_their_type_and_never_lost(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    assert repaired(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"minLength": "2"}, {"minLength": 2}),
        ({"minLength": -1}, {}),
        ({"maximum": "1.5"}, {"maximum": 1.5}),
        ({"maximum": "much"}, {}),
        ({"maximum": float("inf")}, {}),
        ({"multipleOf": 0}, {}),
        ({"minItems": 2.0}, {"minItems": 2}),
    ],
)
def test_bounds_are_numbers_or_absent(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert repaired(before) == after


def test_required_is_a_flag_or_a_list_of_names() -> None:
    assert names_of(["a", "", "a", None, "b"]) == ["a", "b"]
    assert names_of("a") == ["a"]
    assert names_of("true") == names_of(True) == names_of([""]) == []
    assert (
        parse_flag("Yes"),
        parse_flag("FALSE"),
        parse_flag(True),
        parse_flag("maybe"),
        parse_flag(1),
    ) == (
        True,
        False,
        True,
        None,
        None,
    )
