"""Whose reply can feed whose input, and what it then holds."""

from __future__ import annotations

from typing import Any

from callwright.agent.probing.chains import PERHAPS, Feeding, extract_link_values
from callwright.nouns.types import Json, Tool, ToolResult


def tool(name: str, inputs: dict[str, Any], outputs: dict[str, Any] | None = None) -> Tool:
    schema = {"type": "object", "properties": inputs, "required": list(inputs)}
    return Tool(name, "", schema, {"type": "object", "properties": outputs} if outputs else None)


TEXT = {"type": "string"}
FIND = tool("find_employee", {"name": TEXT}, {"employees": {"type": "array", "items": {
    "type": "object", "properties": {"employee_id": TEXT, "name": TEXT, "office_id": TEXT}}}})  # fmt: skip
TRIPS = tool("list_trips", {"employee_id": TEXT})
AIRPORT = tool("find_airports", {"city": TEXT}, {"iata": TEXT, "country": TEXT})
DISTANCE = tool(
    "flight_distance", {"origin": {**TEXT, "description": "IATA code of an airport, three letters"}}
)
RANGE = tool("count_days", {"start": {**TEXT, "format": "date"}})
BOOKED = tool("get_booking", {"booking_id": TEXT}, {"arrival": {**TEXT, "format": "date"}})


def fed(
    consumer: Tool, key: str, content: Json, said: str = "", producer: Tool = FIND
) -> list[Any]:
    (link, _), *_ = Feeding([producer, consumer]).providers(consumer, key)
    result = ToolResult("1", producer.name, {"name": "Ann"}, content)
    return [(v.value, v.sure, v.origin) for v in extract_link_values(link, result, said)]


def test_an_identifier_comes_from_the_tool_whose_reply_names_it() -> None:
    feeding = Feeding([AIRPORT, FIND, TRIPS])
    assert [other.name for _, other in feeding.providers(TRIPS, "employee_id")] == ["find_employee"]
    assert feeding.providers(FIND, "name") == []


def test_an_input_whose_description_names_an_output_is_fed_by_it() -> None:
    assert [
        t.name for _, t in Feeding([FIND, AIRPORT, DISTANCE]).providers(DISTANCE, "origin")
    ] == ["find_airports"]


def test_one_value_is_sure_and_several_are_not() -> None:
    assert fed(TRIPS, "employee_id", {"employees": [{"employee_id": "E7", "name": "Ann Lee"}]}) == [
        ("E7", True, "find_employee")
    ]
    several = {
        "employees": [
            {"employee_id": "E7", "name": "Ann Lee"},
            {"employee_id": "E8", "name": "Ann Roe"},
        ]
    }
    assert [v[:2] for v in fed(TRIPS, "employee_id", several)] == [("E7", False), ("E8", False)]


def test_of_several_records_the_one_that_was_spoken_of_counts() -> None:
    several = {
        "employees": [
            {"employee_id": "E7", "name": "Ann Lee"},
            {"employee_id": "E8", "name": "Ann Roe"},
        ]
    }
    assert fed(TRIPS, "employee_id", several, "Where is Ann Roe?") == [
        ("E8", True, "find_employee")
    ]


def test_a_reply_that_is_json_in_a_text_or_has_another_shape_is_read_all_the_same() -> None:
    assert fed(TRIPS, "employee_id", '{"employees": [{"employee_id": "E7"}]}')[0][0] == "E7"
    assert fed(TRIPS, "employee_id", {"data": {"employee_id": "E7"}})[0][0] == "E7"
    assert fed(TRIPS, "employee_id", {"employees": []}) == []


def test_a_tool_that_replies_in_the_same_format_is_not_ruled_out() -> None:
    feeding = Feeding([BOOKED, RANGE, FIND])
    assert feeding.providers(RANGE, "start", PERHAPS) == []
    assert [t.name for t in feeding.same_form(RANGE, "start")] == ["get_booking"]
