from __future__ import annotations

import pytest

from callwright.language.tokens import key_tokens
from callwright.nouns.types import Json, JsonObject
from callwright.schema.compiled import compile_schema
from callwright.schema.keys import declared_keys, drop_keys, rename_keys, split_identifier


def renamed(
    arguments: JsonObject, properties: JsonObject, required: list[str] | None = None
) -> JsonObject:
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
    }
    found: JsonObject = rename_keys(arguments, compile_schema(schema).root)[0]
    return found


TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("City", "city"),
        ("userId", "user_id"),
        ("user-id", "user_id"),
        ("USER_ID", "userId"),
        ("tags", "tag"),
        ("keyword", "keywords"),
        ("city_name", "city"),
        ("the_query", "query"),
        ("query", "query_text"),
        ("id", "user_id"),
        ("movie_id", "id"),
        ("destinaton", "destination"),
        ("adress", "address"),
        ("departure_dates", "departure_date"),
        ("begining_date", "beginning_date"),
    ],
)
def test_a_key_that_can_only_mean_one_missing_key_is_renamed(given: str, wanted: str) -> None:
    assert renamed({given: "x"}, {wanted: TEXT}) == {wanted: "x"}


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("max_price", "min_price"),
        ("start_date", "end_date"),
        ("price", "min_price"),
        ("from", "form"),
        ("user_1", "user_2"),
        ("include", "exclude"),
        ("location", "city"),
        ("lat", "lon"),
        ("is_active", "is_inactive"),
        ("to", "from"),
        ("width", "height"),
    ],
)
def test_a_difference_that_carries_meaning_is_never_bridged(given: str, wanted: str) -> None:
    assert renamed({given: "x"}, {wanted: TEXT}) == {given: "x"}


def test_two_candidates_are_none() -> None:
    assert renamed({"id": "x"}, {"user_id": TEXT, "team_id": TEXT}) == {"id": "x"}
    assert renamed({"City": "x", "CITY": "y"}, {"city": TEXT}) == {"City": "x", "CITY": "y"}


def test_the_value_must_fit_the_key_it_is_given_to() -> None:
    assert renamed({"Days": "many"}, {"days": {"type": "integer"}}) == {"Days": "many"}
    assert renamed({"Days": "3"}, {"days": {"type": "integer"}}) == {"days": "3"}


def test_a_key_that_is_there_is_not_replaced() -> None:
    assert renamed({"city": "x", "City": "y"}, {"city": TEXT}) == {"city": "x", "City": "y"}


def test_words_of_neutral_meaning_count_only_for_required_keys() -> None:
    assert renamed({"city_name": "x"}, {"city": TEXT}, []) == {"city_name": "x"}
    assert renamed({"City": "x"}, {"city": TEXT}, []) == {"city": "x"}


def test_lists_and_objects_are_entered() -> None:
    schema = compile_schema(
        {
            "properties": {
                "rows": {
                    "items": {"properties": {"name": TEXT}, "required": ["name"]},
                    "type": "array",
                }
            }
        }
    )
    value, edits = rename_keys({"rows": [{"Name": "a"}, {"name": "b"}]}, schema.root)
    assert value == {"rows": [{"name": "a"}, {"name": "b"}]}
    assert [(e.path, e.before, e.after) for e in edits] == [("/rows/0/Name", "Name", "name")]


@pytest.mark.parametrize(
    ("schema", "declared"),
    [
        ({"properties": {"a": {}}}, {"a"}),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"a"}),
        ({"properties": {}, "additionalProperties": False}, set()),
        ({"properties": {"a": {}}, "additionalProperties": True}, None),
        ({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}, None),
        ({"properties": {"a": {}}, "patternProperties": {"x": {}}}, None),
        ({"properties": {"a": {}}, "allOf": [{}]}, None),
        ({"properties": {"a": {}}, "unevaluatedProperties": {}}, None),
        ({"properties": {}}, None),
        ({}, None),
        (True, None),
    ],
)
def test_the_declared_keys_are_all_there_are_unless_the_schema_provides_for_more(
    schema: Json, declared: set[str] | None
) -> None:
    assert declared_keys(schema) == declared


def test_nested_keys_are_dropped_only_where_forbidden() -> None:
    schema = compile_schema(
        {
            "properties": {
                "open": {"properties": {"a": {}}},
                "shut": {"properties": {"a": {}}, "additionalProperties": False},
            }
        }
    )
    value, edits = drop_keys({"open": {"b": 1}, "shut": {"a": 1, "b": 2}, "z": 3}, schema.root)
    assert value == {"open": {"b": 1}, "shut": {"a": 1}}
    assert [(e.path, e.before, e.rule) for e in edits] == [
        ("/shut/b", 2, "drop_unknown"),
        ("/z", 3, "drop_unknown"),
    ]


def test_names_fall_into_words() -> None:
    assert split_identifier("startDate2") == ("start", "date", "2")
    assert split_identifier("HTTPServer-id") == ("http", "server", "id")


def test_a_figure_is_a_word_of_its_own_which_it_is_not_for_texts() -> None:
    assert split_identifier("step1") == ("step", "1")
    assert key_tokens("step1") == ["step1"]
