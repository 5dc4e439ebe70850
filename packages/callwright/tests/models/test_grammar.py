from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callwright.models import LocalModel
from callwright.models.grammar import MAX_ENUM, build_grammar, reduce_schema

from .conftest import ask

KEYS = [
    "type",
    "properties",
    "items",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "$ref",
    "$defs",
    "pattern",
    "format",
]
KEYS += [
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "required",
    "additionalProperties",
    "if",
]
KEYS += [
    "patternProperties",
    "prefixItems",
    "minItems",
    "maxItems",
    "not",
    "then",
    "nullable",
    "uniqueItems",
    "contains",
]
KEYS += ["description", "definitions", "multipleOf", "minProperties", "dependentRequired", "a"]
WORDS = [
    "object",
    "array",
    "string",
    "integer",
    "number",
    "null",
    "boolean",
    "any",
    "#",
    "#/$defs/a",
    "#/anyOf/0",
    "(a",
]
WORDS += [
    "#/properties/a",
    "http://x/y",
    "^[a-z]{2,3}$",
    "date",
    "uuid",
    "int32",
    "^a(?=b)$",
    "\ud800",
]
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(WORDS),
    st.integers(0, 9),
)
anything = st.recursive(
    leaves,
    lambda c: st.one_of(
        st.lists(c, max_size=4), st.dictionaries(st.sampled_from(KEYS), c, max_size=6)
    ),
    max_leaves=25,
)


def refused(schema: Any, **how: bool) -> list[str]:
    """What llguidance, the library that llama.cpp decodes with, says against the grammar of a
    schema.
    """
    llguidance = pytest.importorskip(
        "llguidance", reason="llguidance checks grammars in development only"
    )
    bad, said = llguidance.LLMatcher.validate_grammar_with_warnings(
        build_grammar(schema, **how), None
    )
    return said if bad or said else []


@settings(
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(anything)
def test_whatever_comes_in_a_grammar_that_decoders_accept_comes_out(schema: Any) -> None:
    assert refused(schema) == []


@settings(deadline=None, max_examples=150)
@given(anything)
def test_reducing_twice_changes_nothing_and_the_result_is_a_schema(schema: Any) -> None:
    once = reduce_schema(schema)
    assert reduce_schema(once) == once
    jsonschema_rs.validator_for(once)


@pytest.mark.model
async def test_both_grammar_engines_of_llama_cpp_take_what_comes_out(smollm: LocalModel) -> None:
    xllamacpp = pytest.importorskip("xllamacpp")
    address, key = await smollm.endpoint()
    assert address
    assert key
    for schema in HARD:
        made = reduce_schema(schema)
        assert xllamacpp.json_schema_to_grammar(made)
        reply = await smollm.complete(ask("Hi", schema=schema, max_tokens=1))
        assert reply.usage.completion_tokens == 1
    await _gbnf(smollm)


async def _gbnf(smollm: LocalModel) -> None:
    """The engine behind ``response_format``, reached as any client reaches it."""
    from callwright.models import OpenAIModel

    url, key = await smollm.endpoint()
    model = OpenAIModel(url, api_key=key, mode="schema")
    try:
        for schema in HARD:
            assert (
                await model.complete(ask("Hi", schema=schema, max_tokens=1))
            ).usage.completion_tokens == 1
    finally:
        await model.aclose()


TREE = {
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"next": {"$ref": "#/$defs/node"}, "v": {"type": "integer"}},
        }
    },
    "$ref": "#/$defs/node",
}
HARD: list[Any] = [
    True,
    {},
    TREE,
    {"anyOf": [{"type": "string"}, {"type": "null"}]},
    {"type": ["object", "null"], "properties": {"a": {"type": "string"}}},
    {"oneOf": [{"type": "integer"}, {"type": "number"}]},
    {
        "type": "object",
        "properties": {"when": {"type": "string", "format": "date-time"}},
        "required": ["when"],
    },
    {
        "type": "object",
        "properties": {"a": {"type": "string", "format": "int64"}, "b": False},
        "required": ["c"],
    },
    {"type": "string", "minLength": 1, "maxLength": 65535},
    {"type": "string", "pattern": "^a(?=b)$"},
    {"type": "string", "pattern": "^\\d{3}-[\\w.-]+$"},
    {"type": "array", "items": [{"type": "integer"}, {"type": "string"}], "additionalItems": False},
    {
        "type": "array",
        "minItems": 1,
        "maxItems": 100_000,
        "uniqueItems": True,
        "items": {"enum": ["a", "b"]},
    },
    {"enum": [f"value {n}" for n in range(MAX_ENUM * 2)]},
    {"enum": []},
    {"const": {"a": [1, None]}},
    {"type": "integer", "minimum": 5, "maximum": 3},
    {"type": "integer", "minimum": -7, "exclusiveMaximum": 1000},
    {
        "allOf": [
            {"properties": {"a": {"type": "integer"}}},
            {"properties": {"b": {}}, "required": ["a"]},
        ]
    },
    {
        "type": "object",
        "patternProperties": {"^x-": {"type": "string"}},
        "additionalProperties": False,
    },
    {"type": "object", "additionalProperties": {"type": "integer"}},
    {"$ref": "https://example.org/schema.json"},
    {
        "$ref": "#/$defs/a",
        "$defs": {
            "a": {"$ref": "#/$defs/b"},
            "b": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]},
        },
    },
    {
        "type": "object",
        "properties": {'quo"te\n': {"description": "any"}, "\ud800": {"type": "string"}},
    },
]


def test_the_shape_of_a_layer_of_calls_is_kept() -> None:
    def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        properties = {"tool": {"const": name}, "arguments": arguments}
        return {"type": "object", "properties": properties, "required": ["tool", "arguments"]}

    arguments = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
    calls = {
        "type": "array",
        "items": {"anyOf": [call("a", arguments), call("b", {"type": "object"})]},
        "maxItems": 8,
    }
    made = reduce_schema({"type": "object", "properties": {"calls": calls}, "required": ["calls"]})
    branches = made["properties"]["calls"]["items"]["anyOf"]
    assert [b["properties"]["tool"] for b in branches] == [{"enum": ["a"]}, {"enum": ["b"]}]
    assert branches[0]["properties"]["arguments"]["required"] == ["q"]
    assert branches[0]["properties"]["arguments"]["additionalProperties"] is False
    assert branches[1]["properties"]["arguments"] == {
        "type": "object",
        "additionalProperties": True,
    }


@pytest.mark.parametrize(
    ("schema", "made"),
    [
        (
            {"type": "integer", "minimum": 0.5, "exclusiveMaximum": 9},
            {"type": "integer", "minimum": 1, "maximum": 8},
        ),
        (
            {"type": "integer", "minimum": 3, "exclusiveMinimum": True},
            {"type": "integer", "minimum": 4},
        ),
        ({"type": "string", "nullable": True}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ({"type": "number", "enum": [1, 2.5, "x"]}, {"enum": [1, 2.5]}),
        ({"enum": ["a"] * 3}, {"enum": ["a"]}),
        ({"enum": list(range(2000))}, {"type": "integer"}),
        ({"items": {"type": "string"}}, {"type": "array", "items": {"type": "string"}}),
        (
            {"anyOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "boolean"},
            {"type": "boolean"},
        ),
        ({"type": "string", "maxLength": 9999, "minLength": 1}, {"type": "string", "minLength": 1}),
        ({"not": {"type": "string"}}, {}),
        (
            {"type": "array", "prefixItems": [{"type": "null"}], "items": {"type": "string"}},
            {"type": "array", "items": {}},
        ),
    ],
)
def test_what_cannot_be_followed_becomes_wider(schema: Any, made: Any) -> None:
    assert reduce_schema(schema) == made


def test_recursion_is_kept_where_it_passes_through_a_container_and_opened_where_it_does_not() -> (
    None
):
    tree = reduce_schema(TREE)
    assert tree["properties"]["next"] == {"$ref": "#/$defs/d0"}
    assert tree["$defs"]["d0"]["properties"]["next"] == {"$ref": "#/$defs/d0"}
    assert reduce_schema({"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}) == {}


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_a_value_of_the_reduced_closed_schema_is_one_line_of_json(data: st.DataObject) -> None:
    schema = data.draw(anything)
    grammar = build_grammar(schema)
    assert json.loads(grammar.split("%json ", 1)[1])["x-guidance"]["whitespace_flexible"] is False


@settings(
    deadline=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(anything)
def test_whatever_comes_in_short_numbers_make_a_grammar_that_decoders_accept(schema: Any) -> None:
    assert refused(schema, short_numbers=True) == []


ENDLESS = (
    '"s": 0.' + "0" * 40,
    '"s": ' + "1" * 41,
    '"i": ' + "7" * 41,
    '"any": {"a": [' + "3" * 41,
    '"any": 1e' + "9" * 41,
)


@pytest.mark.parametrize("start", ENDLESS)
def test_short_numbers_end_wherever_they_stand(start: str) -> None:
    properties = {"s": {"type": "number"}, "i": {"type": "integer"}, "any": {}}
    schema = {
        "anyOf": [
            {"type": "object", "properties": {k: v}, "required": [k]} for k, v in properties.items()
        ]
    }
    assert (
        taken(build_grammar(schema), "{" + start) == len(start) + 1
    )  # the schema itself lets them go on
    assert taken(build_grammar(schema, short_numbers=True), "{" + start) < len(start) - 10


def test_short_numbers_leave_all_else_as_it_was() -> None:
    properties = {
        "s": {"type": "number"},
        "i": {"type": "integer", "minimum": 0},
        "t": {"type": "string"},
        "any": {},
    }
    schema = {"type": "object", "properties": properties}
    reply = (
        '{"s": -59.911491, "i": 1234567890123456, "t": "1.5", "any": {"list": [1, 2.5, null, true,'
        ' "x", {}]}}'
    )
    assert taken(build_grammar(schema, short_numbers=True), reply) == len(reply)
    assert taken(build_grammar(schema, short_numbers=True), '{"i": -1}') < len(
        '{"i": -1}'
    )  # bounds of its own are kept


def taken(grammar: str, text: str) -> int:
    """How many characters of the text the grammar lets a decoder write."""
    llguidance = pytest.importorskip(
        "llguidance", reason="llguidance checks grammars in development only"
    )
    tokenizer = llguidance.LLTokenizer("byte")
    matcher = llguidance.LLMatcher(tokenizer, grammar)
    assert not matcher.get_error()
    return int(matcher.try_consume_tokens(tokenizer.tokenize_str(text)))
