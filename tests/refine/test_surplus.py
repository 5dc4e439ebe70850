"""Calls that should not go out are dropped, and one call always stays."""

from __future__ import annotations

from callwright.refine import Settings, surplus
from callwright.refine.situation import Situation
from callwright.types import Tool, ToolCall

TOKEN = Tool(
    "GetUserToken",
    "Get the user token.",
    {"type": "object", "properties": {"username": {"type": "string"}}, "required": ["username"]},
)
ALARM = Tool(
    "SetAlarm",
    "Set an alarm.",
    {
        "type": "object",
        "properties": {"token": {"type": "string"}, "time": {"type": "string"}},
        "required": ["token"],
    },
)


def dropped(calls: list[ToolCall], unknown: list[list[str]], known: list[bool], query: str = "") -> dict[int, str]:
    found = surplus.surplus(calls, unknown, known, Situation([TOKEN, ALARM], query))
    return {i: d.rule for i, d in found.items()}


def call(tool: str, **arguments: object) -> ToolCall:
    return ToolCall("", tool, dict(arguments))


def test_the_second_of_two_equal_calls_goes() -> None:
    twice = [call("GetUserToken", username="a")] * 2
    assert dropped(twice, [[], []], [True, True]) == {1: surplus.DUPLICATE}


def test_what_was_asked_for_twice_is_called_twice() -> None:
    twice = [call("GetUserToken", username="a")] * 2
    assert dropped(twice, [[], []], [True, True], "Roll the dice twice.") == {}


def test_a_ghost_beside_a_real_call_goes_and_alone_it_stays_to_be_reported() -> None:
    ghost = call("FlyToMoon")
    assert dropped([call("GetUserToken", username="a"), ghost], [[], []], [True, False]) == {1: surplus.GHOST}
    assert dropped([ghost], [[]], [False]) == {}


def test_saying_that_nothing_is_called_is_no_call() -> None:
    assert dropped([call("no_function")], [[]], [False]) == {0: surplus.NO_CALL}


def test_a_call_waits_for_the_call_that_returns_what_it_lacks() -> None:
    calls = [call("GetUserToken", username="a"), call("SetAlarm", token="<token>")]
    assert dropped(calls, [[], ["token"]], [True, True]) == {1: surplus.WAIT}
    assert dropped(calls, [[], ["time"]], [True, True]) == {}


def test_a_call_that_the_conversation_already_holds_goes_beside_a_new_one() -> None:
    text = 'I did this:\n{"name": "GetUserToken", "parameters": {"username": "ann"}}\nit said ok. Now the alarm.'
    calls = [call("GetUserToken", username="ann"), call("SetAlarm", token="t", time="7:00")]
    assert dropped(calls, [[], []], [True, True], text) == {0: surplus.DONE}
    assert dropped(calls[:1], [[]], [True], text) == {}


def test_only_where_asked_for_a_call_that_adds_nothing_goes() -> None:
    weather = Tool(
        "get_weather", "Weather of a city.", {"type": "object", "properties": {"city": {"type": "string"}}}
    )
    news = Tool("list_events", "Events nearby.", {"type": "object", "properties": {"city": {"type": "string"}}})
    calls = [call("get_weather", city="Oslo"), call("list_events", city="Oslo")]
    for leave_out, wanted in ((True, {1: surplus.SURPLUS}), (False, {})):
        situation = Situation([weather, news], "The weather in the city Oslo", settings=Settings(leave_out=leave_out))
        found = surplus.surplus(calls, [[], []], [True, True], situation)
        assert {i: d.rule for i, d in found.items()} == wanted
