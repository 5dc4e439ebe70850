"""The schema that is inferred accepts every value that it was inferred from."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callwright.schema.compiled import compile_schema
from callwright_lab.verify.inferred import infer_schema

scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | st.text(max_size=3)
keys = st.sampled_from(["id", "name", "city", "items"])
values = st.recursive(
    scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(keys, v, max_size=3), max_leaves=12
)


@given(st.lists(values, min_size=1, max_size=4))
def test_every_value_fits_the_schema_of_all(some: list[object]) -> None:
    schema = compile_schema(infer_schema(some))
    assert all(schema.accepts(value) for value in some)


def test_members_are_those_of_all_objects_and_none_is_required() -> None:
    assert infer_schema([{"id": 1, "tags": ["a"]}, {"id": 2.5, "name": None}]) == {
        "type": "object",
        "properties": {
            "id": {"type": "number"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "name": {"type": "null"},
        },
    }


def test_keys_that_are_data_are_not_listed() -> None:
    days = [
        {"2026-11-01": {"rate": 1.1}, "2026-11-02": {"rate": 1.2}},
        {"2026-12-01": {"rate": 1.3}},
    ]
    assert infer_schema(days) == {
        "type": "object",
        "additionalProperties": {"type": "object", "properties": {"rate": {"type": "number"}}},
    }


def test_what_has_no_value_says_nothing() -> None:
    assert infer_schema([]) == {}
    assert infer_schema([[]]) == {"type": "array"}
