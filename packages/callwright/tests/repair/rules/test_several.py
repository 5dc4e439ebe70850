"""A second reading adds the calls of wishes that the first left open, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.nouns.types import Tool, ToolCall
from callwright.repair.context import RepairContext
from callwright.repair.rules.several import is_wanted_call, joined, left_over, several


def tool(name: str, about: str, *keys: str) -> Tool:
    properties = {key: {"type": "string"} for key in keys}
    return Tool(
        name, about, {"type": "object", "properties": properties, "required": list(keys[:1])}
    )


WEATHER = tool("get_weather", "Weather of a city.", "city", "day")
TIME = tool("get_time", "Local time of a city.", "city")
MAIL = tool("send_mail", "Sends a mail.", "to", "text")
TOOLS = (WEATHER, TIME, MAIL)


def weather(city: str, **more: str) -> ToolCall:
    return ToolCall("", "get_weather", {"city": city, **more})


def mail(to: str) -> ToolCall:
    return ToolCall("", "send_mail", {"to": to, "text": "off"})


def read_twice(query: str, first: list[ToolCall], second: list[ToolCall]) -> list[ToolCall]:
    return [j.call for j in joined(first, second, RepairContext(TOOLS, query))]


@pytest.mark.parametrize(
    ("query", "more"),
    [
        ("Weather in Oslo and Rome?", True),
        ("Weather in Oslo, Rome?", True),
        ("Weather in Oslo. Also write to Ann.", True),
        ("What time is it, and what is the weather in Oslo?", True),
        ("奥斯陆和罗马", True),
        ("What is the weather in Oslo?", False),
        ("Please tell me the weather in Oslo.", False),
    ],
)
def test_signs_of_more_wishes_than_one_call_serves(query: str, more: bool) -> None:
    assert several(query, [weather("Oslo")], TOOLS) is more


def test_a_request_whose_wishes_are_served_shows_none() -> None:
    assert not several("Weather in Oslo and Rome?", [weather("Oslo"), weather("Rome")], TOOLS)


def test_numbers_and_quotations_without_a_call_are_left_over_and_names_are_not() -> None:
    query = "In Oslo, find '3x+9' within 15 km and 2 percent; Bergen as well"
    call = ToolCall("", "zero", {"function": "3x + 9", "km": 15, "share": 0.02})
    assert list(left_over(query, [call])) == []
    assert list(left_over(query, [weather("Oslo")])) == ["9", "15", "2 percent", "3x+9"]


def test_what_the_first_reading_left_open_is_added_in_the_order_of_the_second() -> None:
    query = "Weather in Oslo and Rome?"
    assert read_twice(query, [weather("Rome")], [weather("Oslo"), weather("Rome")]) == [
        weather("Oslo"),
        weather("Rome"),
    ]


def test_a_call_of_the_first_reading_stays_but_for_what_neither_the_second_nor_anybody_said() -> (
    None
):
    first, second = [weather("Oslo", day="today")], [weather("Oslo"), weather("Rome")]
    assert read_twice("Weather in Oslo and Rome today?", first, second) == [*first, weather("Rome")]
    assert read_twice("Weather in Oslo and Rome?", first, second) == second


def test_another_tool_that_is_only_related_is_not_added() -> None:
    related = ToolCall("", "get_time", {"city": "Oslo"})
    assert read_twice(
        "Is it wet and cold in Oslo?", [weather("Oslo")], [weather("Oslo"), related]
    ) == [weather("Oslo")]
    assert related in read_twice(
        "Weather and local time in Oslo?", [weather("Oslo")], [weather("Oslo"), related]
    )


def test_values_that_nobody_said_add_nothing() -> None:
    assert read_twice(
        "Weather in Oslo and so on?", [weather("Oslo")], [weather("Oslo"), weather("Paris")]
    ) == [weather("Oslo")]


def test_a_call_that_lumped_two_together_gives_way_to_both() -> None:
    lumped = ToolCall("", "send_mail", {"to": "ann@x.org, bob@x.org", "text": "off"})
    apart = [mail("ann@x.org"), mail("bob@x.org")]
    assert read_twice("Write to ann@x.org and bob@x.org: off", [lumped], apart) == apart


_calls = st.lists(
    st.sampled_from([weather(c) for c in ("Oslo", "Rome", "Paris")] + [mail("a"), mail("b")]),
    max_size=4,
)


@given(_calls, _calls)
def test_nothing_of_the_first_reading_is_lost_and_nothing_comes_from_elsewhere(
    first: list[ToolCall], second: list[ToolCall]
) -> None:
    made = read_twice("Weather in Oslo and Rome, write to a and b", first, second)
    assert all(call in made for call in first)  # they have no optional values
    assert all(call in first or call in second for call in made)


def test_a_call_is_not_wanted_twice() -> None:
    situation = RepairContext(TOOLS, "Weather in Oslo and Rome?")
    assert is_wanted_call(weather("Rome"), [weather("Oslo")], situation)
    assert not is_wanted_call(weather("Rome"), [weather("Oslo"), weather("Rome")], situation)


def test_one_text_that_holds_two_things_said_apart_is_a_sign() -> None:
    lumped = ToolCall("", "send_mail", {"to": "ann@x.org,bob@x.org", "text": "off"})
    assert several("Write to ann@x.org and to bob@x.org: off", [lumped], TOOLS)
    assert not several("The weather in Oslo, Norway?", [weather("Oslo, Norway")], TOOLS)
