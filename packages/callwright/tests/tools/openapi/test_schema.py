from __future__ import annotations

import time
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callwright.tools.openapi.document import Document, Unusable, document_of
from callwright.tools.openapi.schema import SchemaConverter


def document(version: str = "3.0.3", **schemas: Any) -> Document:
    return document_of(
        {"openapi": version, "paths": {}, "components": {"schemas": schemas}}, "test"
    )


def convert(raw: Any, version: str = "3.0.3", *, writing: bool = True, **schemas: Any) -> Any:
    return SchemaConverter(document(version, **schemas), writing=writing).convert(raw)


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


@pytest.mark.parametrize(
    ("raw", "made"),
    [
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        (
            {"type": "string", "nullable": True, "enum": ["a"]},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        (
            {"type": "integer", "minimum": 1, "exclusiveMinimum": True},
            {"type": "integer", "exclusiveMinimum": 1},
        ),
        (
            {"type": "integer", "maximum": 9, "exclusiveMaximum": False},
            {"type": "integer", "maximum": 9},
        ),
        ({"type": "string", "example": "x"}, {"type": "string", "examples": ["x"]}),
        (
            {"type": "string", "default": "d", "xml": {}, "x-y": 1},
            {"type": "string", "default": "d"},
        ),
    ],
)
def test_openapi_3_0_becomes_json_schema(raw: Any, made: Any) -> None:
    assert convert(raw) == made


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
def test_nullable_beside_alternatives_allows_null(version: str) -> None:
    raw = {"nullable": True, "allOf": [ref("A")], "description": "d"}
    made = convert(raw, version, A={"type": "string"})
    validator = jsonschema_rs.Draft202012Validator(made)
    assert validator.is_valid(None)
    assert validator.is_valid("x")
    assert not validator.is_valid(1)
    assert made["description"] == "d"


def test_openapi_3_1_keeps_its_json_schema() -> None:
    raw = {
        "type": ["string", "null"],
        "const": "a",
        "exclusiveMinimum": 3,
        "prefixItems": [{"type": "string"}],
    }
    assert convert(raw, "3.1.0") == raw


def test_references_are_written_out() -> None:
    made = convert(
        {"type": "array", "items": ref("A")},
        A={"$ref": "#/components/schemas/B"},
        B={"type": "integer"},
    )
    assert made == {"type": "array", "items": {"type": "integer"}}


def test_siblings_of_a_reference_count_in_3_1() -> None:
    a = {"type": "string"}
    assert convert({**ref("A"), "description": "d"}, "3.1.0", A=a) == {
        "type": "string",
        "description": "d",
    }
    assert convert({**ref("A"), "minLength": 2}, "3.1.0", A=a) == {"minLength": 2, "allOf": [a]}


def test_what_refers_to_itself_keeps_a_definition() -> None:
    tree = {"type": "object", "properties": {"next": ref("Tree"), "value": {"type": "integer"}}}
    made = convert({"type": "array", "items": ref("Tree")}, Tree=tree)
    validator = jsonschema_rs.Draft202012Validator(made)
    assert validator.is_valid([{"value": 1, "next": {"value": 2, "next": {"value": 3}}}])
    assert not validator.is_valid([{"next": {"next": {"value": "three"}}}])


def test_schemas_that_refer_to_each_other_mean_the_same_from_both_ends() -> None:
    a = {"type": "object", "properties": {"b": ref("B")}, "required": ["b"]}
    b = {"type": "object", "properties": {"a": ref("A"), "n": {"type": "integer"}}}
    converter = SchemaConverter(document(A=a, B=b), writing=True)
    for name, good, bad in (
        ("A", {"b": {"a": {"b": {}}}}, {"b": {"a": {}}}),
        ("B", {"a": {"b": {}}}, {"a": {}}),
    ):
        validator = jsonschema_rs.Draft202012Validator(converter.convert(ref(name)))
        assert validator.is_valid(good)
        assert not validator.is_valid(bad)


def test_a_reference_that_is_only_itself_is_allowed_to_mean_nothing() -> None:
    jsonschema_rs.meta.validate(convert(ref("A"), A=ref("A")))


@pytest.mark.parametrize(
    "target",
    ["http://evil.test/s.json", "other.yaml#/A", "#/nowhere", "#/components/schemas/%", "#anchor"],
)
def test_references_that_lead_out_or_nowhere_are_refused(target: str) -> None:
    with pytest.raises(Unusable):
        convert({"properties": {"a": {"$ref": target}}})


def test_schemas_that_would_unfold_without_end_stay_small() -> None:
    """A billion laughs: thirty levels of two references each."""
    levels: Any = {
        f"L{n}": {"type": "object", "properties": {"a": ref(f"L{n + 1}"), "b": ref(f"L{n + 1}")}}
        for n in range(30)
    }
    start = time.perf_counter()
    made = convert(ref("L0"), **levels, L30={"type": "integer"})
    assert time.perf_counter() - start < 1
    assert len(str(made)) < 10_000
    assert not jsonschema_rs.Draft202012Validator(made).is_valid({"a": 1})


def test_schemas_too_deep_or_too_large_are_refused() -> None:
    deep: Any = {"type": "integer"}
    for _ in range(120):
        deep = {"type": "array", "items": deep}
    with pytest.raises(Unusable, match="levels"):
        convert(deep)
    chain: Any = {f"L{n}": {"type": "array", "items": ref(f"L{n + 1}")} for n in range(120)}
    with pytest.raises(Unusable, match="levels"):
        convert(ref("L0"), **chain, L120={})
    with pytest.raises(Unusable, match="values"):
        convert(
            {"properties": {str(n): {"type": "string", "enum": ["a", "b"]} for n in range(40_000)}}
        )


def test_depth_counts_through_references_already_converted() -> None:
    chain: Any = {f"L{n}": {"type": "array", "items": ref(f"L{n + 1}")} for n in range(30)}
    converter = SchemaConverter(document(**chain, L30={}), writing=True)
    converter.convert(ref("L0"))
    outer: Any = ref("L0")
    for _ in range(50):
        outer = {"type": "array", "items": outer}
    with pytest.raises(Unusable, match="levels"):
        converter.convert(outer)


def test_read_only_properties_are_not_asked_for_and_write_only_ones_not_promised() -> None:
    raw = {
        "type": "object",
        "required": ["id", "secret", "name"],
        "properties": {"id": {"readOnly": True}, "secret": {"writeOnly": True}, "name": {}},
    }
    assert convert(raw)["required"] == ["secret", "name"]
    assert set(convert(raw, writing=False)["properties"]) == {"id", "name"}


def test_a_discriminator_with_a_mapping_binds_each_alternative() -> None:
    pet = {"type": "object", "properties": {"kind": {"type": "string"}}}
    raw = {
        "oneOf": [ref("Cat"), ref("Dog")],
        "discriminator": {
            "propertyName": "kind",
            "mapping": {"cat": "#/components/schemas/Cat", "dog": "Dog"},
        },
    }
    made = convert(raw, Cat={**pet, "required": ["lives"]}, Dog=pet)
    validator = jsonschema_rs.Draft202012Validator(made)
    assert validator.is_valid({"kind": "dog"})
    assert not validator.is_valid({"kind": "cat"})
    assert not validator.is_valid({"kind": "bird"})


MALFORMED = [
    {"type": "int"},
    {"type": ["string", "file"]},
    {"type": 5},
    {"type": "string", "required": True},
    {"enum": []},
    {"enum": "a,b"},
    {"minLength": -1, "maxLength": "5", "multipleOf": 0},
    {"properties": [], "items": [{"type": "string"}], "allOf": []},
    {"properties": {"a": None, "b": True, "c": False, "d": 5}},
    {"description": 5, "title": None, "pattern": 3, "deprecated": "yes"},
    {"additionalProperties": "no", "not": [], "required": ["a", "a", 3]},
    {"$ref": 5},
    {
        "$id": "http://x.test/",
        "$schema": "http://json-schema.org/draft-04/schema#",
        "$anchor": 1,
        "id": 3,
    },
    None,
    True,
    False,
    "string",
    [],
]


@pytest.mark.parametrize("version", ["3.0.0", "3.1.0"])
@pytest.mark.parametrize("raw", MALFORMED)
def test_malformed_keywords_are_dropped_and_the_rest_is_valid(raw: Any, version: str) -> None:
    made = convert(raw, version)
    jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **made})


KEYWORDS = [
    "type",
    "properties",
    "items",
    "allOf",
    "oneOf",
    "enum",
    "required",
    "nullable",
    "minimum",
    "$ref",
    "not",
]
KEYWORDS += [
    "exclusiveMinimum",
    "default",
    "additionalProperties",
    "discriminator",
    "example",
    "pattern",
    "examples",
]
WILD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.sampled_from(["string", "object", "#/components/schemas/A", "a"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=4)
    ),
    max_leaves=15,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(WILD, WILD, st.sampled_from(["3.0.1", "3.1.1"]), st.booleans())
def test_whatever_stands_in_a_document_becomes_a_valid_schema_or_a_reason(
    raw: Any, other: Any, version: str, writing: bool
) -> None:
    try:
        made = convert(raw, version, writing=writing, A=other)
    except Unusable:
        return
    jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **made})


def test_values_too_deep_to_be_written_down_are_dropped() -> None:
    deep: Any = 1
    for _ in range(150):
        deep = [deep]
    raw = {"type": "string", "default": deep, "enum": [deep], "example": deep, "examples": [deep]}
    assert convert(raw) == {"type": "string"}
