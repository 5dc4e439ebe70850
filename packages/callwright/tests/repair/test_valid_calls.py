"""A call whose arguments satisfy its tool's schema comes back as it is, whatever its values look
like. The one exception is a mark around its own parameter's name, where the value is stated.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callwright.nouns.types import (
    CheckedCall,
    Json,
    JsonObject,
    Tool,
    ToolCall,
    to_canonical_json,
)
from callwright.repair.gate import Gate
from callwright.repair.refinement import refine
from callwright.schema.compiled import compile_schema

COLUMN = Tool(
    "add_column",
    "Add a column to a table.",
    {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "type": {"type": "string", "description": "SQL or JSON type"},
            "default": {"type": "string"},
        },
        "required": ["name"],
    },
)


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        ({"name": "age", "type": "integer"}, "Add a column age"),
        ({"name": "age", "type": "string"}, "Add a column age of type string"),
        ({"name": "age", "type": "string"}, "Add a column age"),
        ({"name": "age", "default": "unknown"}, "Add a column age, default unknown"),
        ({"name": "age", "default": "null"}, "Add a column age with default null"),
        ({"name": "age", "default": "N/A"}, "Add column age"),
        ({"name": "age", "default": "none"}, "Add column age"),
        ({"name": "age", "default": "<br>"}, "Add column age"),
        ({"name": "age", "default": "{{value}}"}, "Add column age"),
        ({"name": "age", "default": "..."}, "Add column age"),
        ({"name": "age", "type": "SQL or JSON type"}, "Add column age"),
        ({"name": "age", "default": '{"type": "string"}'}, "Add column age"),
        ({"name": "string"}, "Add a column"),
        ({"name": "<name>"}, "Add a column, name: age"),
    ],
)
def test_a_value_that_looks_like_a_placeholder_stays_where_the_schema_takes_it(
    arguments: JsonObject, query: str
) -> None:
    (made,) = refine([ToolCall("c", "add_column", arguments)], [COLUMN], query=query).calls
    assert made.arguments == arguments


@pytest.mark.parametrize(
    ("value", "query", "wanted"),
    [
        ("<user_city>", "Add it, user city: Rome", "Rome"),
        ("YOUR_USER_CITY", "Add it, user city: Rome", "Rome"),
        ("<user_city>", "Add it", "<user_city>"),
        ("<user_city>", "Add it with <user_city>, user city: Rome", "<user_city>"),
        ("<city_name>", "Add it, user city: Rome", "<city_name>"),
        ("user_city_here", "Add it, user city: Rome", "user_city_here"),
    ],
)
def test_only_a_mark_around_its_own_name_gives_way_and_only_to_what_was_said(
    value: str, query: str, wanted: str
) -> None:
    tool = Tool(
        "f", "", {"properties": {"user_city": {"type": "string"}}, "required": ["user_city"]}
    )
    (made,) = refine([ToolCall("c", "f", {"user_city": value})], [tool], query=query).calls
    assert made.arguments == {"user_city": wanted}


def test_what_the_schema_refuses_still_gives_way() -> None:
    tool = Tool(
        "f",
        "",
        {
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    )
    call = ToolCall("c", "f", {"city": {"type": "string", "value": "Oslo"}, "days": "<number>"})
    assert refine([call], [tool], query="Weather in Oslo").calls[0].arguments == {"city": "Oslo"}


def test_an_object_that_looks_like_a_schema_stays_where_an_object_belongs() -> None:
    tool = Tool(
        "f", "", {"properties": {"field": {"type": "object", "description": "The field's schema."}}}
    )
    arguments = {"field": {"type": "string", "description": "Its name."}}
    assert (
        refine([ToolCall("c", "f", arguments)], [tool], query="Add it").calls[0].arguments
        == arguments
    )


def test_a_parameters_own_schema_word_for_word_is_no_value() -> None:
    part = {"type": "object", "description": "The filter to apply."}
    tool = Tool(
        "f", "", {"properties": {"filter": part, "n": {"type": "integer"}}, "required": ["n"]}
    )
    assert refine([ToolCall("c", "f", {"n": 1, "filter": part})], [tool], query="1").calls[
        0
    ].arguments == {"n": 1}


def test_a_mere_word_does_not_make_a_call_wait_for_another() -> None:
    maker = Tool(
        "create_user",
        "Create a user.",
        {"properties": {"email": {"type": "string"}}, "required": ["email"]},
    )
    taker = Tool(
        "list_orders", "Orders.", {"properties": {"user": {"type": "string"}}, "required": ["user"]}
    )
    calls = [
        ToolCall("a", "create_user", {"email": "a@b.cd"}),
        ToolCall("b", "list_orders", {"user": "the_value"}),
    ]
    assert refine(calls, [maker, taker], query="Create a@b.cd").calls == tuple(calls)


def test_calls_that_differ_in_a_null_are_two() -> None:
    tool = Tool("f", "", {"properties": {"file": {"type": ["string", "null"]}}})
    calls = [ToolCall("a", "f", {"file": None}), ToolCall("b", "f", {})]
    assert refine(calls, [tool], query="Do it").calls == tuple(calls)


KEYS = (
    "name type id user_id date day city unit title text default format status query email value"
    " start_date end_date order_id count amount price tag template key code description enum items"
    " from_city first_name url path limit"
).split()
VALUES: list[Json] = [
    *"string integer number null none N/A unknown default text name value id example todo tbd"
    " placeholder x".split(),
    *"<id> <br> {{name}} {x} ${HOME} $1 $var1 YOUR_API_KEY your_api_key [NAME] ... API_call_0"
    " output_name".split(),
    *"25/12/2024 2024-05-03 10:30 Paris 5 5km 007 true ORD-5512 user_id_here some_id_here my_key".split(),
    *(
        "",
        "some text",
        "New York",
        "not specified",
        '{"type": "string"}',
        '["a"]',
        "in celsius",
        "May 3, 2024",
    ),
    *(
        0,
        1,
        7,
        -1,
        2024,
        1.5,
        True,
        False,
        None,
        [],
        ["string"],
        ["<id>", "x"],
        {},
        {"type": "string"},
    ),
    *(
        {"type": "string", "description": "x"},
        {"type": "integer", "value": 5},
        {"title": "x", "type": "object"},
    ),
]
QUERIES = (
    *("", "Add a column age", "Weather in Paris for 3 days", "user id is 7, set the name to Bob"),
    *(
        "Delete order ORD-5512",
        "Book from Oslo to Rome on 2024-05-03",
        "city: Rome, date: 2024-07-01, unit: celsius",
    ),
)
ABOUT = (
    *(
        "SQL or JSON type",
        "Date in YYYY-MM-DD format",
        "a date, such as 2024-01-01",
        "The id of the user",
        "string",
    ),
    *(
        "Optional label",
        "the value, e.g. Paris",
        "Time as HH:MM",
        "in km",
        "City, State",
        "a template with {name}",
    ),
)
kinds = st.sampled_from(["string", "integer", "number", "boolean", ["string", "null"], "object"])
parts = st.one_of(
    st.fixed_dictionaries({"type": kinds}, optional={"description": st.sampled_from(ABOUT)}),
    st.fixed_dictionaries(
        {"enum": st.lists(st.sampled_from(VALUES[:40]), min_size=2, max_size=3, unique_by=str)}
    ),
    st.fixed_dictionaries({"description": st.sampled_from(ABOUT)}),
)


ANY = (
    st.text()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.booleans()
    | st.dictionaries(st.text(), st.text())
)


@st.composite
def schemas(draw: st.DrawFn) -> JsonObject:
    properties = draw(st.dictionaries(st.sampled_from(KEYS), parts, min_size=1, max_size=4))
    required = [key for key in properties if draw(st.booleans())]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


@st.composite
def calls(draw: st.DrawFn) -> tuple[Tool, JsonObject]:
    """A tool, and arguments that its schema takes: any, with those that look odd where they fit."""
    tool = Tool("update_row", draw(st.sampled_from(["", "Updates a row"])), draw(schemas()))
    arguments: JsonObject = {}
    for key, part in tool.properties.items():
        if key in tool.required or draw(st.booleans()):
            arguments[key] = draw(fitting_values(to_canonical_json(part)))
    return tool, arguments


@cache
def fitting_values(part: str) -> st.SearchStrategy[Json]:
    """The values that a parameter's schema takes. There are few schemas and many examples: each is
    compiled and its filter made once.
    """
    schema = json.loads(part)
    accepts = compile_schema(schema).accepts
    odd = st.sampled_from([value for value in VALUES if accepts(value)])
    return odd if "enum" in schema else odd | ANY.filter(accepts)


def is_right(tool: Tool, arguments: Any) -> bool:
    verdict = Gate([tool]).check(ToolCall("c", tool.name, arguments))
    return isinstance(verdict, CheckedCall) and not verdict.edits


def check_unchanged(case: tuple[Tool, JsonObject], query: str) -> None:
    tool, arguments = case
    if is_right(tool, arguments):
        made = refine([ToolCall("c", tool.name, arguments)], [tool], query=query)
        assert [call.arguments for call in made.calls] == [arguments], made.edits


slow = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


@settings(deadline=None, max_examples=60, suppress_health_check=slow)
@given(calls(), st.sampled_from(QUERIES))
def test_a_valid_call_is_not_changed(case: tuple[Tool, JsonObject], query: str) -> None:
    check_unchanged(case, query)


@pytest.mark.heavy
@settings(deadline=None, max_examples=10_000, suppress_health_check=slow)
@given(calls(), st.sampled_from(QUERIES))
def test_of_many_valid_calls_none_is_changed(case: tuple[Tool, JsonObject], query: str) -> None:
    check_unchanged(case, query)
