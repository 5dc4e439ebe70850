from __future__ import annotations

import pytest

from callwright.nouns.types import Json
from callwright.schema.cost import MAX_NODES, measure_extent, measure_schema


def test_plain_schemas_cost_nothing_worth_counting() -> None:
    for schema in (True, {}, {"type": "object", "properties": {"a": {"type": "integer"}}}):
        assert measure_schema(schema).problem == ""
        assert measure_schema(schema).visits.deepest == 200


def test_references_that_double_at_each_step_are_refused() -> None:
    defs: dict[str, Json] = {
        str(i): {"anyOf": [{"$ref": f"#/$defs/{i + 1}"}] * 2} for i in range(20)
    }
    schema = {"$ref": "#/$defs/0", "$defs": {**defs, "20": {}}}
    assert "multiply" in measure_schema(schema).problem


def test_shared_definitions_are_not_mistaken_for_a_bomb() -> None:
    shared = {
        "type": "object",
        "properties": {f"k{i}": {"$ref": "#/$defs/text"} for i in range(500)},
    }
    assert measure_schema({**shared, "$defs": {"text": {"type": "string"}}}).problem == ""


def test_recursion_that_multiplies_limits_the_depth_of_values() -> None:
    schema = {"properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}}
    assert 5 < measure_schema(schema).visits.deepest < 30
    assert measure_schema({"properties": {"a": {"$ref": "#"}}}).visits.deepest == 200


def test_size_and_depth_are_limited_without_recursion() -> None:
    deep: Json = {}
    for _ in range(50_000):
        deep = {"not": deep}
    assert "levels deep" in measure_schema(deep).problem
    assert "parts" in measure_schema({"enum": list(range(MAX_NODES + 1))}).problem
    assert "characters" in measure_schema({"description": "x" * 3_000_000}).problem


def test_patterns_are_noticed_wherever_they_stand() -> None:
    plain: Json = {"properties": {"a": {"type": "string", "description": "a pattern"}}}
    assert not measure_schema(plain).has_patterns
    assert measure_schema({"$defs": {"a": {"pattern": "x"}}}).has_patterns
    assert measure_schema({"items": {"anyOf": [{"patternProperties": {}}]}}).has_patterns


@pytest.mark.parametrize(
    ("value", "depth"), [(1, 0), ({}, 1), ({"a": 1}, 1), ({"a": {}}, 2), ([[[]]], 3)]
)
def test_depth_counts_containers_inside_containers(value: Json, depth: int) -> None:
    assert measure_extent(value, 100).depth == depth


def test_depth_is_counted_no_further_than_asked() -> None:
    value: Json = []
    for _ in range(5_000):
        value = [value]
    assert measure_extent(value, 10).depth == 11
