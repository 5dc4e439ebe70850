from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.nouns.types import Json, to_canonical_json
from callwright.schema.coerce import coerce_at, coerce_value, get_types, pointer_join
from callwright.schema.compiled import compile_schema

DATE = {"type": "string", "format": "date"}


def coerced(value: Json, part: Json) -> tuple[Json, list[str]]:
    """The value of one key after coercion, and the rules used."""
    schema = compile_schema({"type": "object", "properties": {"k": part}, "required": ["k"]})
    found, edits = coerce_value({"k": value}, schema)
    return found["k"], [e.rule for e in edits]


@pytest.mark.parametrize(
    ("value", "part", "after", "rule"),
    [
        ("5", {"type": "integer"}, 5, "text_to_number"),
        ("5.0", {"type": "integer"}, 5, "text_to_number"),
        ("5.5", {"type": "number"}, 5.5, "text_to_number"),
        ("1,234", {"type": "integer"}, 1234, "text_to_number"),
        ("true", {"type": "boolean"}, True, "text_to_boolean"),
        ("Yes", {"type": "boolean"}, True, "text_to_boolean"),
        ("off", {"type": "boolean"}, False, "text_to_boolean"),
        (5, {"type": "string"}, "5", "number_to_text"),
        (5.5, {"type": "string"}, "5.5", "number_to_text"),
        ("a", {"type": "array", "items": {"type": "string"}}, ["a"], "single_to_list"),
        (5, {"type": "array", "items": {"type": "integer"}}, [5], "single_to_list"),
        (["a"], {"type": "string"}, "a", "list_to_single"),
        (["5"], {"type": "integer"}, 5, "list_to_single+text_to_number"),
        ('["a", "b"]', {"type": "array"}, ["a", "b"], "unwrap_json"),
        ("['a', 'b']", {"type": "array"}, ["a", "b"], "unwrap_json"),
        ('{"x": 1}', {"type": "object"}, {"x": 1}, "unwrap_json"),
        ('"{\\"x\\": 1}"', {"type": "object"}, {"x": 1}, "unwrap_json"),
        ('"5"', {"type": "integer"}, 5, "unwrap_json"),
        ("Celsius", {"enum": ["celsius", "fahrenheit"]}, "celsius", "option_spelling"),
        (" celsius ", {"enum": ["celsius", "fahrenheit"]}, "celsius", "option_spelling"),
        ("one way", {"enum": ["one_way", "round_trip"]}, "one_way", "option_spelling"),
        ("5", {"enum": [5, 10]}, 5, "option_spelling"),
        (5, {"type": "string", "enum": ["5", "10"]}, "5", "number_to_text"),
        ("CONST", {"const": "const"}, "const", "option_spelling"),
        ("2024/5/3", DATE, "2024-05-03", "date_spelling"),
        (" 2024-05-03", DATE, "2024-05-03", "trim"),
        (
            "2024/5/3",
            {"type": "string", "pattern": r"^\d{2}\.\d{2}\.\d{4}$"},
            "03.05.2024",
            "date_spelling",
        ),
        ("null", {"type": ["integer", "null"]}, None, "text_to_null"),
        ("5", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, 5, "text_to_number"),
        ("5", {"oneOf": [{"type": "integer"}, {"type": "boolean"}]}, 5, "text_to_number"),
        ("5", {"allOf": [{"type": "integer"}, {"minimum": 1}]}, 5, "text_to_number"),
    ],
)
def test_a_lossless_conversion_is_made_and_named(
    value: Json, part: Json, after: Json, rule: str
) -> None:
    found, rules = coerced(value, part)
    assert (found, type(found)) == (after, type(after))
    assert rules == [rule]


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ("03/04/2024", DATE),
        ("five", {"type": "integer"}),
        ("5.5", {"type": "integer"}),
        (5.5, {"type": "integer"}),
        ("1,234", {"type": "number"}),
        (1, {"type": "boolean"}),
        (True, {"type": "integer"}),
        (True, {"type": "string"}),
        ("kelvin", {"enum": ["celsius", "fahrenheit"]}),
        ("a_b", {"enum": ["ab", "a-b"]}),
        (["a", "b"], {"type": "string"}),
        ("5", {"type": "integer", "maximum": 3}),
        ('["a"', {"type": "array", "maxItems": 0}),
        ('{"x": 1', {"type": "object"}),
        (None, {"type": "string"}),
        ("2024/05/03", {"type": "string", "pattern": r"^\d{2}/\d{2}/\d{4}$"}),
        ("2024-05-03T10:00:00", {"type": "string", "format": "date-time"}),
    ],
)
def test_what_is_ambiguous_or_would_lose_something_stays(value: Json, part: Json) -> None:
    assert coerced(value, part) == (value, [])


def test_a_branch_is_taken_only_if_it_is_the_only_one() -> None:
    assert (
        coerced(
            "5", {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "string"}}]}
        )[1]
        == []
    )
    same = {"anyOf": [{"type": "integer"}, {"type": "number", "minimum": 0}]}
    assert coerced("5", same)[0] == 5


def test_references_and_nesting_are_followed() -> None:
    schema = compile_schema(
        {
            "type": "object",
            "properties": {"rows": {"type": "array", "items": {"$ref": "#/$defs/row"}}},
            "$defs": {
                "row": {"type": "object", "properties": {"n": {"type": "integer"}, "d": DATE}}
            },
        }
    )
    found, edits = coerce_value({"rows": [{"n": "1"}, {"n": 2, "d": "2024/1/2"}]}, schema)
    assert found == {"rows": [{"n": 1}, {"n": 2, "d": "2024-01-02"}]}
    assert [(e.path, e.before, e.after) for e in edits] == [
        ("/rows/0/n", "1", 1),
        ("/rows/1/d", "2024/1/2", "2024-01-02"),
    ]


def test_an_unwrapped_object_is_repaired_inside() -> None:
    part = {"type": "object", "properties": {"n": {"type": "integer"}}}
    found, rules = coerced('{"n": "7"}', part)
    assert found == {"n": 7}
    assert rules == ["unwrap_json", "text_to_number"]


def test_null_for_an_optional_key_means_that_the_key_is_left_out() -> None:
    schema = compile_schema(
        {
            "properties": {
                "a": {"type": "string"},
                "b": {"type": "string"},
                "c": {"type": ["null", "string"]},
            }
        }
        | {"required": ["b"], "type": "object"}
    )
    found, edits = coerce_value({"a": None, "b": "x", "c": None}, schema)
    assert found == {"b": "x", "c": None}
    assert [e.rule for e in edits] == ["drop_null"]
    assert coerce_value({"b": None}, schema) == ({"b": None}, ())


def test_valid_members_of_an_invalid_object_are_not_touched() -> None:
    schema = compile_schema(
        {"properties": {"a": {"type": ["string", "integer"]}, "b": {"type": "integer"}}}
    )
    found, edits = coerce_value({"a": "5", "b": "5"}, schema)
    assert found == {"a": "5", "b": 5}
    assert [e.path for e in edits] == ["/b"]


PARTS: list[Json] = [
    {"type": "integer"},
    {"type": "number"},
    {"type": "boolean"},
    {"type": "string"},
    DATE,
    {"enum": ["red", "Dark Blue", 3]},
    {"type": "array", "items": {"type": "integer"}},
    {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False},
    {"oneOf": [{"type": "boolean"}, {"type": "array", "items": {"type": "string"}}]},
]
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-100, 10_000)
    | st.floats(allow_nan=False, allow_infinity=False, width=16)
    | st.sampled_from(
        [
            "5",
            "5.0",
            "yes",
            "RED",
            "dark_blue",
            "2024/5/3",
            "[1, 2]",
            '{"n": "3"}',
            "",
            " ",
            "1,234",
            "x",
        ]
    )
    | st.text(max_size=8)
)
json_values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["n", "k", "z"]), inner, max_size=3)
    ),
    max_leaves=6,
)
schemas = st.dictionaries(
    st.sampled_from(["n", "k", "z"]), st.sampled_from(PARTS), min_size=1, max_size=3
)


@settings(max_examples=100, deadline=None)
@given(json_values, schemas)
def test_valid_in_is_untouched_and_coercion_is_idempotent(
    value: Any, properties: dict[str, Json]
) -> None:
    schema = compile_schema({"type": "object", "properties": properties})
    before = to_canonical_json(value)
    once, edits = coerce_value(value, schema)
    assert to_canonical_json(value) == before, "the argument itself was changed"
    if schema.accepts(value):
        assert once is value
        assert edits == ()
    if not edits:
        assert to_canonical_json(once) == before
    again, more = coerce_value(once, schema)
    assert to_canonical_json(again) == to_canonical_json(once)
    assert more == ()


@settings(max_examples=100, deadline=None)
@given(json_values, st.sampled_from(PARTS))
def test_nothing_is_invented(value: Any, part: Json) -> None:
    """Whatever digits and letters come out were there before (options and dates re-spelled
    aside).
    """
    schema = compile_schema(part)
    found, edits = coerce_value(value, schema)
    if any(e.rule in ("option_spelling", "date_spelling") for e in edits):
        return
    left = "".join(c for c in to_canonical_json(found) if c.isalnum())
    given = "".join(c for c in to_canonical_json(value) if c.isalnum()).lower()
    if not any("boolean" in e.rule or "null" in e.rule for e in edits):
        rest = iter(given)
        assert all(c in rest for c in left.lower())


def test_types_come_from_enums_and_shapes_too() -> None:
    assert get_types({"enum": ["a", 1, None]}) == {"string", "integer", "null"}
    assert get_types({"const": 1.5}) == {"number"}
    assert get_types({"properties": {}}) == {"object"}
    assert get_types({"items": {}}) == {"array"}
    assert get_types(True) == frozenset()


def test_a_single_question_can_be_asked_of_a_subschema() -> None:
    node = compile_schema({"properties": {"a": {"type": "integer"}}}).root.property("a")
    assert node is not None
    assert coerce_at("5", node) == 5
    assert pointer_join("/a", "b/c~d") == "/a/b~1c~0d"


@pytest.mark.parametrize(
    ("value", "options"), [("-1", [0, 1]), ("-1", ["1", "0"]), ("1.5", [15]), ("1.5", ["15"])]
)
def test_a_number_is_no_option_without_its_sign_or_point(value: str, options: list[Any]) -> None:
    assert coerce_value(value, compile_schema({"enum": options})) == (value, ())


@pytest.mark.parametrize("part", [{"allOf": [{"type": "array"}]}, {"anyOf": [{"type": "array"}]}])
def test_an_object_that_its_schema_calls_one_stays_one(part: dict[str, Json]) -> None:
    assert coerce_value({"a": 1}, compile_schema({"type": "object", **part})) == ({"a": 1}, ())
