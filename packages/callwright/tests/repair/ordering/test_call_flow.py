from callwright.nouns.types import Tool, ToolCall
from callwright.repair.ordering.call_flow import best_feeder, known_keys, offers, respelled
from callwright.repair.ordering.references import references

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
    return references([ToolCall("v2", "weather", {"city_code": text})], [])[0]


def test_fields_are_found_at_any_depth() -> None:
    assert known_keys(CITY) == {"data", "cityCode", "lat"}
    assert offers(CITY, ref("$v1.data[0].cityCode$"))
    assert not offers(CITY, ref("$v1.altitude$"))


def test_a_tool_that_declares_no_output_is_believed_anything() -> None:
    assert known_keys(WEATHER) == frozenset()


def test_only_another_spelling_of_one_key_is_that_key() -> None:
    assert respelled(CITY, ref("$v1.city_code$")) == "cityCode"
    assert respelled(CITY, ref("$v1.latitude$")) == "lat"
    assert respelled(CITY, ref("$v1.zip$")) == ""


def test_the_best_feeder_is_one_that_no_other_comes_close_to() -> None:
    twin = Tool("find_city", input_schema=CITY.input_schema, output_schema=CITY.output_schema)
    assert best_feeder([(0, CITY), (1, WEATHER)], WEATHER, "city_code", 0.7, 0.2) == (
        0,
        "data",
        0.9,
    )
    assert best_feeder([(0, CITY), (1, twin)], WEATHER, "city_code", 0.7, 0.2) is None
