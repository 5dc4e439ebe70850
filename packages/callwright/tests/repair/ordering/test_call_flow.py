from callwright.nouns.types import Tool, ToolCall
from callwright.repair.ordering.call_flow import (
    collect_output_keys,
    find_best_feeder,
    find_respelled_key,
    has_output_field,
)
from callwright.repair.ordering.references import find_call_references

CITY = Tool(
    "search_city",
    input_schema={"type": "object", "properties": {"query": {"type": "string"}}},
    output_schema={
        "type": "object",
        "properties": {
            "data": {
                "type": "array",
                "items": {"type": "object", "properties": {"cityCode": {}, "lat": {}}},
            }
        },
    },
)
WEATHER = Tool(
    "weather", input_schema={"type": "object", "properties": {"city_code": {"type": "string"}}}
)


def ref(text: str):
    return find_call_references([ToolCall("v2", "weather", {"city_code": text})], [])[0]


def test_fields_are_found_at_any_depth() -> None:
    assert collect_output_keys(CITY) == {"data", "cityCode", "lat"}
    assert has_output_field(CITY, ref("$v1.data[0].cityCode$"))
    assert not has_output_field(CITY, ref("$v1.altitude$"))


def test_a_tool_that_declares_no_output_is_believed_anything() -> None:
    assert collect_output_keys(WEATHER) == frozenset()


def test_only_another_spelling_of_one_key_is_that_key() -> None:
    assert find_respelled_key(CITY, ref("$v1.city_code$")) == "cityCode"
    assert find_respelled_key(CITY, ref("$v1.latitude$")) == "lat"
    assert find_respelled_key(CITY, ref("$v1.zip$")) == ""


def test_the_best_feeder_is_one_that_no_other_comes_close_to() -> None:
    twin = Tool("find_city", input_schema=CITY.input_schema, output_schema=CITY.output_schema)
    assert find_best_feeder([(0, CITY), (1, WEATHER)], WEATHER, "city_code", 0.7, 0.2) == (
        0,
        "data",
        0.9,
    )
    assert find_best_feeder([(0, CITY), (1, twin)], WEATHER, "city_code", 0.7, 0.2) is None
