from __future__ import annotations

import time

from callwright.nouns.errors import Violation
from callwright.nouns.types import Json
from callwright.schema.compiled import compile_schema
from callwright.schema.violations import (
    find_nearest,
    from_errors,
    located_errors,
    suggest_name,
    unknown_tool,
)


def violations(schema: Json, value: Json) -> tuple[Violation, ...]:
    return from_errors(compile_schema(schema), value)


def first(schema: Json, value: Json) -> Violation:
    return violations({"properties": {"k": schema}}, {"k": value})[0]


def test_a_missing_key_says_its_type_and_meaning() -> None:
    (found,) = violations(
        {
            "properties": {"city": {"type": "string", "description": "Where to look."}},
            "required": ["city"],
        },
        {},
    )
    assert (found.path, found.keyword) == ("/city", "required")
    assert found.message == "Missing required key 'city' (string). Where to look."


def test_a_missing_key_names_the_unknown_key_that_was_given_instead() -> None:
    (found,) = violations({"properties": {"city": {}}, "required": ["city"]}, {"citi": "x"})
    assert "You gave 'citi'" in found.message


def test_a_wrong_type_says_what_is_expected_and_what_came() -> None:
    found = first({"type": ["integer", "null"]}, "three")
    assert found.message == "'k' must be integer or null, not 'three'."
    assert (found.expected, found.got) == (["integer", "null"], "three")


def test_a_wrong_option_lists_the_options_and_the_nearest() -> None:
    found = first({"enum": ["metric", "imperial"]}, "metrics")
    assert "'metric', 'imperial'" in found.message
    assert "Nearest: 'metric'." in found.message


def test_a_long_list_of_options_is_cut() -> None:
    assert "and 88 more" in first({"enum": list(range(100))}, "x").message


def test_a_format_comes_with_an_example() -> None:
    assert "such as 2024-05-03" in first({"format": "date"}, "soon").message


def test_the_most_relevant_comes_first() -> None:
    schema = {
        "properties": {"a": {"type": "integer"}, "b": {"enum": ["x"]}, "c": {"maxLength": 1}},
        "required": ["z"],
        "additionalProperties": False,
    }
    found = violations(schema, {"a": "q", "b": "q", "c": "long", "u": 1})
    assert [v.keyword for v in found] == [
        "required",
        "type",
        "enum",
        "maxLength",
        "additionalProperties",
    ]


def test_of_several_branches_the_one_that_was_meant_is_reported() -> None:
    part = {
        "anyOf": [
            {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
            {"type": "string"},
        ]
    }
    found = first(part, {"n": "x"})
    assert (found.path, found.keyword) == ("/k/n", "type")


def test_a_nested_path_is_a_json_pointer() -> None:
    schema = {"properties": {"a/b": {"items": {"type": "integer"}}}}
    assert violations(schema, {"a/b": [1, "x"]})[0].path == "/a~1b/1"


def test_one_place_is_not_blamed_twice_for_the_same_value() -> None:
    found = violations(
        {"properties": {"k": {"type": "string", "enum": ["a", "b"]}}}, {"k": ["a", "b"]}
    )
    assert [v.keyword for v in found] == ["enum"]


def test_a_refused_value_never_goes_without_a_violation() -> None:
    assert violations({"properties": {"a": {"type": "string"}}}, {"a": b"x"})
    assert violations(False, {})


def test_an_unknown_tool_names_the_tools_in_view() -> None:
    found = unknown_tool("get_wether", ["get_weather", "send_mail"])
    assert found.kind == "unknown_tool"
    assert "Did you mean 'get_weather'?" in found.message
    assert find_nearest("xyz", ["get_weather"]) == ""


def test_errors_of_branches_that_multiply_are_not_listed_but_their_place_is_named() -> None:
    """Each branch that fails holds all errors of its own branches: 122,000 errors at three
    levels.
    """
    branch = {"type": "object", "properties": {"q": {"$ref": "#/$defs/n"}}, "required": ["z"]}
    schema = {"$defs": {"n": {"anyOf": [branch] * 12}}, "properties": {"p": {"$ref": "#/$defs/n"}}}
    started = time.process_time()
    found = violations(schema, {"p": {"q": {"q": {"q": 5}}}})
    assert time.process_time() - started < 1
    assert [(v.path, v.keyword) for v in found] == [("/p", "anyOf")]


def test_of_a_large_value_the_wrong_members_are_named() -> None:
    schema = {
        "properties": {"k": {"items": {"type": "integer"}}, "n": {"type": "integer"}},
        "required": ["m"],
    }
    value = {"k": [*range(60_000), "x"], "n": "y"}
    assert {(v.path, v.keyword) for v in violations(schema, value)} == {
        ("/m", "required"),
        ("/k/60000", "type"),
        ("/n", "type"),
    }
    assert [v.path for v in violations(schema, {"k": list(range(60_000))})] == ["/m"]


def test_no_more_than_a_hundred_errors_are_named_at_a_bounded_cost() -> None:
    started = time.process_time()
    found = violations(
        {"properties": {"k": {"items": {"type": "integer"}}}}, {"k": ["x"] * 300_000}
    )
    assert time.process_time() - started < 2
    assert 1 <= len(found) <= 100


def test_a_key_that_an_open_schema_takes_is_an_error_where_the_caller_says_so() -> None:
    for more in ({}, {"additionalProperties": False}):
        schema = compile_schema({"type": "object", "properties": {"path": {}}, **more})
        found = located_errors(schema, {"path": "a", "dry": True}, [("dry",), ("path", "x")])
        assert [(at, v.message) for at, v in found] == [
            (("dry",), "Unknown key 'dry'. Known keys: 'path'.")
        ]


def test_the_most_similar_name_is_suggested() -> None:
    assert suggest_name("layred", ["layered", "dag"]) == "did you mean 'layered'? "
    assert suggest_name(5, ["layered", "dag"]) == ""
