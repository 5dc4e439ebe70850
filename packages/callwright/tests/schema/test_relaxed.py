from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.nouns.types import CheckedCall, Json, Tool, ToolCall
from callwright.repair.gate import Gate, Refusal
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.schema.compiled import BadSchema, compile_relaxed, is_valid_instance

POISON = "*"  # a pattern that no regular expression is


def unasserted(schema: Json) -> list[str]:
    """The places of a schema that assert nothing."""
    return [line.partition(": ")[0] for line in compile_relaxed(schema).unasserted]


def chain(levels: int, keyword: str = "not") -> Json:
    schema: Json = {}
    for _ in range(levels):
        schema = {keyword: schema}
    return schema


@pytest.mark.parametrize(
    "pattern",
    [
        r"^[\w-\.]+$",
        r"\Aabc\Z",
        "*",
        "**",
        "^[a-z",
        r"(?<name>a)\k<name>",
        "a{1000000}",
        "(?(1)a|b)",
    ],
)
def test_a_pattern_that_the_validator_refuses_asserts_nothing_and_is_named(pattern: str) -> None:
    schema = {"properties": {"p": {"type": "string", "pattern": pattern, "maxLength": 5}}}
    compiled = compile_relaxed(schema)
    assert unasserted(schema) == ["#/properties/p/pattern"]
    assert compiled.accepts({"p": "x"})
    assert not compiled.accepts({"p": 5})
    assert not compiled.accepts({"p": "123456"})


@pytest.mark.parametrize(
    "reference",
    [
        "#/definitions/X",
        "#/components/schemas/X",
        "https://example.com/s.json",
        "file:///etc/passwd",
        "#x",
        "z.json",
    ],
)
def test_a_reference_to_nothing_asserts_nothing_and_is_named(reference: str) -> None:
    schema = {"properties": {"p": {"$ref": reference}, "q": {"type": "integer"}}}
    compiled = compile_relaxed(schema)
    assert unasserted(schema) == ["#/properties/p/$ref"]
    assert compiled.accepts({"p": {"a": 1}, "q": 1})
    assert not compiled.accepts({"p": 1, "q": "x"})


def test_references_that_lead_somewhere_are_followed_and_what_they_name_is_relaxed() -> None:
    schema = {
        "properties": {"p": {"$ref": "#/components/schemas/X"}},
        "components": {"schemas": {"X": {"type": "string", "pattern": POISON}}},
    }
    compiled = compile_relaxed(schema)
    assert unasserted(schema) == ["#/components/schemas/X/pattern"]
    assert compiled.accepts({"p": "x"})
    assert not compiled.accepts({"p": 1})


@pytest.mark.parametrize(
    ("schema", "kept"),
    [
        ({"enum": [f"v{i}" for i in range(25_000)], "type": "string"}, 5),
        ({"anyOf": [{"const": i} for i in range(30_000)], "type": "string"}, 5),
        (
            {
                "properties": {f"p{i}": {"type": "string"} for i in range(30_000)},
                "minProperties": 2,
            },
            {},
        ),
        ({"description": "x" * 3_000_000, "type": "string"}, 5),
        ({"type": "string", "examples": ["x" * 30] * 100_000}, 5),
        ({"type": "string", "not": chain(5_000)}, 5),
        ({"type": "string", "x-more": chain(5_000)}, 5),
    ],
    ids=[
        "options",
        "alternatives",
        "properties",
        "description",
        "examples",
        "depth",
        "depth of an unknown keyword",
    ],
)
def test_what_is_too_large_asserts_nothing_and_the_rest_does(schema: Json, kept: Json) -> None:
    started = time.process_time()
    compiled = compile_relaxed(schema)
    assert time.process_time() - started < 5
    assert compiled.accepts(
        {f"p{i}": "x" for i in range(3)} if isinstance(kept, dict) else "v24999"
    )
    assert not compiled.accepts(kept)


def test_a_schema_that_can_be_used_is_used_as_it_is() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/n"}},
        "$defs": {"n": {"type": "integer"}},
    }
    compiled = compile_relaxed(schema)
    assert compiled.schema is schema
    assert compiled.unasserted == ()


def test_a_long_list_of_what_asserts_nothing_is_cut_and_counted() -> None:
    found = compile_relaxed(
        {"properties": {f"p{i}": {"pattern": POISON} for i in range(300)}}
    ).unasserted
    assert len(found) == 21
    assert found[-1] == "and 280 more"


@pytest.mark.parametrize(
    "schema",
    [
        {"not": {"pattern": POISON}},
        {"not": {"$ref": "#/$defs/p"}, "$defs": {"p": {"pattern": POISON}}},
        {"not": {"$ref": "#p"}, "$defs": {"p": {"$anchor": "p", "pattern": POISON}}},
        {"oneOf": [{"pattern": POISON}, {"type": "string"}]},
        {"if": {"pattern": POISON}, "then": {"type": "integer"}, "else": {"type": "null"}},
        {"contains": {"pattern": POISON}, "maxContains": 0},
        {"patternProperties": {POISON: True}, "additionalProperties": False},
        {"properties": 5, "additionalProperties": False},
        {
            "allOf": [{"properties": {"a": True}, "$ref": "#nowhere"}],
            "unevaluatedProperties": False,
        },
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "$ref": "#/definitions/X",
            "type": "integer",
        },
        {"prefixItems": 5, "items": False},
    ],
)
@pytest.mark.parametrize("value", ["x", ["x"], {"a": 1, "b": 2}, 1])
def test_what_is_dropped_does_not_make_the_rest_stricter(schema: Json, value: Json) -> None:
    assert compile_relaxed(schema).accepts(value)


names = st.sampled_from(["a", "b", "c"])
leaves = st.sampled_from(
    [
        True,
        {},
        {"type": "string"},
        {"type": "integer"},
        {"type": "object"},
        {"type": "array"},
        {"enum": ["x", 1, None]},
        {"required": ["a"]},
        {"minProperties": 1},
        {"$ref": "#/$defs/a"},
        {"$ref": "#/$defs/b"},
        {"pattern": POISON},
        {"pattern": POISON, "type": "string"},
    ]
)


def bigger(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    some = st.lists(inner, min_size=1, max_size=2)
    keywords = {
        "properties": st.dictionaries(names, inner, max_size=2),
        "additionalProperties": inner | st.just(False),
        "items": inner | st.just(False),
        "prefixItems": some,
        "allOf": some,
        "anyOf": some,
        "oneOf": some,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "contains": inner,
        "maxContains": st.just(1),
        "unevaluatedProperties": st.just(False),
        "propertyNames": inner,
    }
    chosen = st.lists(st.sampled_from(sorted(keywords)), min_size=1, max_size=3, unique=True)
    return chosen.flatmap(
        lambda kept: st.fixed_dictionaries({keyword: keywords[keyword] for keyword in kept})
    )


schemas = st.recursive(leaves, bigger, max_leaves=10)
values = st.recursive(
    st.sampled_from([None, 1, "x", "y"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=2),
    max_leaves=5,
)


def healed(schema: Json, holds: bool) -> Json:
    """The schema with its poison taken for a pattern that holds always, or never."""
    if isinstance(schema, list):
        return [healed(part, holds) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {k: healed(v, holds) for k, v in schema.items() if k != "pattern"}
    return {**made, "not": {"type": "string"}} if "pattern" in schema and not holds else made


@settings(deadline=None)
@given(schemas, schemas, schemas, st.lists(values, min_size=1, max_size=4), st.booleans())
def test_a_relaxed_schema_takes_whatever_the_schema_takes(
    schema: Json, one: Json, other: Json, given: list[Json], holds: bool
) -> None:
    whole = {"allOf": [schema], "$defs": {"a": one, "b": other}}
    relaxed = compile_relaxed(whole)
    for value in given:
        try:
            taken = is_valid_instance(healed(whole, holds), value)
        except BadSchema:  # references that multiply
            return
        assert relaxed.accepts(value) or not taken, relaxed.unasserted


KEYWORDS = (
    "type properties items anyOf oneOf not $ref $defs a enum required pattern patternProperties"
    " additionalProperties dependencies $id $schema $anchor if const"
).split()
garbage = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["object", "#/$defs/a", "#"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=3) | st.sampled_from(KEYWORDS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


def deep(levels: int, value: Json = 1) -> Json:
    for _ in range(levels):
        value = {"a": value}
    return value


def deep_list(levels: int) -> Json:
    value: Json = []
    for _ in range(levels):
        value = [value]
    return value


HOSTILE: list[Any] = [
    '"' * 2_000,
    "'" * 2_000,
    "\\" * 2_000,
    " " * 2_000,
    "[" * 2_000,
    '{"a":' * 2_000,
    '"\\"' * 1_000,
    "\ud800",
    10**5_000,
    -(10**400),
    float("nan"),
    float("inf"),
    deep(150),
    deep(190, "x"),
    deep(230),
    deep(5_000),
    deep_list(5_000),
    {1: 2},
    {"a": b"x"},
    {"\udfff": "\ud800"},
    {"a": (1, {2})},
    ["x"] * 300,
    "1" * 5_000,
    "9" * 400,
    "1e999999999",
]


@settings(deadline=None)
@given(garbage, garbage | st.sampled_from(HOSTILE), st.sampled_from(["", "a", "b"]))
def test_no_schema_and_no_arguments_make_the_gate_raise(
    schema: Json, value: Json, key: str
) -> None:
    gate = Gate([Tool("t", input_schema=schema)])
    verdict = gate.check(ToolCall("c", "t", {key: value} if key else value))
    assert isinstance(verdict, CheckedCall | Refusal)


parts: list[Json] = [
    True,
    {"type": "integer"},
    {"type": ["number", "null", "boolean"]},
    {"enum": ["metric", '"x"']},
    {"type": "array", "items": {"type": "integer"}},
    {"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}, "required": ["z"]},
    {"type": "string", "format": "date"},
    {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d$"},
    {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#/properties/a"}}]},
]


@pytest.mark.parametrize("part", parts, ids=str)
def test_no_value_makes_the_gate_raise_or_take_long(part: Json) -> None:
    """Not under hypothesis, which gives recursion more room than a program has."""
    gate = Gate([Tool("t", input_schema={"type": "object", "properties": {"a": part}})])
    started = time.process_time()
    for value in HOSTILE:
        for arguments in (
            {"a": value},
            value,
            '{"a": ' + value if isinstance(value, str) else [value],
        ):
            for sources in (None, ProvenanceIndex("said 5")):
                verdict = gate.check(ToolCall("c", "t", arguments), sources)
                assert isinstance(verdict, CheckedCall | Refusal)
    assert time.process_time() - started < 5


@pytest.mark.parametrize("length", [1, 100, 5000])
def test_arguments_stay_an_object_where_the_schema_speaks_of_a_list(length: int) -> None:
    """Wrapping the arguments into a list would satisfy this schema."""
    tool = Tool("t", "t", {"items": None, "additionalProperties": False})
    verdict = Gate([tool]).check(ToolCall("c", "t", {"a": '"' * length}))
    assert isinstance(verdict, Refusal) or isinstance(verdict.arguments, dict)
