"""Calls that should not go out are dropped, and one call always stays."""

from __future__ import annotations

from dataclasses import replace

import pytest

from callwright.nouns.types import READ, UNKNOWN, WRITE, Message, Tool, ToolCall
from callwright.repair.context import RepairContext
from callwright.repair.result import Settings
from callwright.repair.rules import duplicate_calls as surplus

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


def dropped(
    calls: list[ToolCall], unknown: list[list[str]], known: list[bool], query: str = ""
) -> dict[int, str]:
    found = surplus.find_duplicate_calls(
        calls, unknown, known, RepairContext([TOKEN, ALARM], query)
    )
    return {i: d.rule for i, d in found.items()}


def call(tool: str, **arguments: object) -> ToolCall:
    return ToolCall("", tool, dict(arguments))


def test_the_second_of_two_equal_calls_goes() -> None:
    twice = [call("GetUserToken", username="a")] * 2
    assert dropped(twice, [[], []], [True, True]) == {1: surplus.DUPLICATE}


def test_what_was_asked_for_twice_is_called_twice() -> None:
    twice = [call("GetUserToken", username="a")] * 2
    assert dropped(twice, [[], []], [True, True], "Roll the dice twice.") == {}


@pytest.mark.parametrize(
    ("query", "goes"),
    [
        ("Setze zweimal a auf die Liste, bitte.", False),
        ("Pon dos veces a en la lista, por favor.", False),
        ("把a加入购物车两次", False),
        ("ضع a في القائمة مرتين", False),
        ("Mets deux fois a sur la liste, s'il te plaît.", False),  # it cannot be read
        ("Setze a auf die Liste, bitte.", True),
        ("Pon a en la lista, por favor.", True),
    ],
)
def test_equal_calls_are_two_wishes_where_the_request_may_ask_for_two(
    query: str, goes: bool
) -> None:
    twice = [call("GetUserToken", username="a")] * 2
    assert bool(dropped(twice, [[], []], [True, True], query)) is goes


def test_a_ghost_beside_a_real_call_goes_and_alone_it_stays_to_be_reported() -> None:
    ghost = call("FlyToMoon")
    assert dropped([call("GetUserToken", username="a"), ghost], [[], []], [True, False]) == {
        1: surplus.GHOST
    }
    assert dropped([ghost], [[]], [False]) == {}


def test_saying_that_nothing_is_called_is_no_call() -> None:
    assert dropped([call("no_function")], [[]], [False]) == {0: surplus.NO_CALL}


def test_a_call_waits_for_the_call_that_returns_what_it_lacks() -> None:
    calls = [call("GetUserToken", username="a"), call("SetAlarm", token="<token>")]
    assert dropped(calls, [[], ["token"]], [True, True]) == {1: surplus.WAIT}
    assert dropped(calls, [[], ["time"]], [True, True]) == {}


def test_a_call_that_the_conversation_already_holds_goes_beside_a_new_one() -> None:
    text = (
        'I did this:\n{"name": "GetUserToken", "parameters": {"username": "ann"}}\nit said ok. Now'
        " the alarm."
    )
    calls = [call("GetUserToken", username="ann"), call("SetAlarm", token="t", time="7:00")]
    assert dropped(calls, [[], []], [True, True], text) == {0: surplus.DONE}
    assert dropped(calls[:1], [[]], [True], text) == {}


@pytest.mark.parametrize(
    ("behind", "goes"),
    [
        ((), True),
        ((Message("assistant", "It is a1."), Message("user", "Look again, and set it.")), False),
        ((Message("assistant", "", (ToolCall("c2", "SetAlarm", {"token": "a1"}),)),), False),
        ((Message("tool", '{"status": "pending"}', tool_call_id="c1"),), False),
        ((Message("tool", '{"token": "a1"}', tool_call_id="c1"),), True),
    ],
    ids=["nothing", "user", "write", "pending", "result"],
)
def test_what_was_called_may_be_called_again_where_it_may_say_something_new(
    behind: tuple[Message, ...], goes: bool
) -> None:
    look, alarm = replace(TOKEN, effects=READ), replace(ALARM, effects=WRITE)
    calls = [call("GetUserToken", username="ann"), call("SetAlarm", token="b2", time="7:00")]
    messages = [Message("user", "Go."), Message("assistant", "", (replace(calls[0], id="c1"),))]
    situation = RepairContext([look, alarm], "Go.", [*messages, *behind])
    found = surplus.find_duplicate_calls(calls, [[], []], [True, True], situation)
    assert (found.get(0) is not None) is goes


def test_only_where_asked_for_a_call_that_adds_nothing_goes() -> None:
    weather = Tool(
        "get_weather",
        "Weather of a city.",
        {"type": "object", "properties": {"city": {"type": "string"}}},
    )
    news = Tool(
        "list_events",
        "Events nearby.",
        {"type": "object", "properties": {"city": {"type": "string"}}},
    )
    calls = [call("get_weather", city="Oslo"), call("list_events", city="Oslo")]
    for leave_out, wanted in ((True, {1: surplus.SURPLUS}), (False, {})):
        situation = RepairContext(
            [weather, news], "The weather in the city Oslo", settings=Settings(leave_out=leave_out)
        )
        found = surplus.find_duplicate_calls(calls, [[], []], [True, True], situation)
        assert {i: d.rule for i, d in found.items()} == wanted


LIGHT = Tool(
    "switch_light",
    "Switches a light on or off.",
    {"type": "object", "properties": {"room": {"type": "string"}}, "required": ["room"]},
)


@pytest.mark.parametrize(
    ("query", "room", "asked"),
    [
        ("Say hello in one word.", "kitchen", False),
        ("What is 17 plus 25?", "kitchen", False),
        ("What does switch_light do?", "kitchen", False),
        ("Which tools do you have?", "kitchen", False),
        (
            "Is the light on?",
            "kitchen",
            True,
        ),  # a guess, but the request speaks of what the tool does
        ("Darkness in the kitchen, please.", "kitchen", True),
        ("キッチンを暗くして", "kitchen", True),  # none of its words could match
    ],
)
def test_a_call_is_unasked_if_no_value_was_said_and_nothing_speaks_of_its_tool(
    query: str, room: str, asked: bool
) -> None:
    made = call("switch_light", room=room)
    assert surplus.is_unasked(made, RepairContext([LIGHT], query)) is not asked


def test_without_a_conversation_no_call_is_unasked() -> None:
    assert not surplus.is_unasked(call("switch_light", room="kitchen"), RepairContext([LIGHT]))


def test_calls_that_nobody_asked_for_go_only_where_that_is_set_were_they_all() -> None:
    calls = [call("switch_light", room="kitchen")]
    for settings, rules in ((Settings(), {}), (Settings(drop_unasked=True), {0: surplus.UNASKED})):
        found = surplus.find_duplicate_calls(
            calls, [[]], [True], RepairContext([LIGHT], "Hello!", (), settings)
        )
        assert {i: d.rule for i, d in found.items()} == rules


def test_a_request_that_only_mentions_tool_calls_is_not_about_tools() -> None:
    today = Tool("GetToday", "Get the current date.", {"type": "object", "properties": {}})
    request = "Can you tell me today's date? Please only make one tool call."
    assert not surplus.is_unasked(call("GetToday"), RepairContext([today], request))
    assert surplus.is_about_tools("What does GetToday do?", [today])
    assert not surplus.is_about_tools("What day is it? I like this function.", [today])


def test_a_request_in_another_language_is_not_judged_by_its_words() -> None:
    rooms = Tool("list_rooms", "List the rooms, with their ids.", {"properties": {}})
    for request in ("Reserva la sala Birch para el 2026-12-04.", "Bitte reserviere mir den Raum"):
        assert not surplus.is_unasked(call("list_rooms"), RepairContext([rooms], request))
    assert surplus.is_unasked(call("list_rooms"), RepairContext([rooms], "What is the weather?"))


def test_a_plain_lookup_is_not_unasked_because_it_is_asked_for_in_other_words() -> None:
    asked = RepairContext([], "What do I have to do?")
    for effects, expected in ((READ, False), (WRITE, True), (UNKNOWN, True)):
        tool = Tool("list_reminders", "Lists all reminders.", effects=effects)
        found = RepairContext([tool], asked.query)
        assert surplus.is_unasked(call("list_reminders"), found) is expected
