from __future__ import annotations

import json
from typing import Any

import pytest

from callwright.agent.leading.served import (
    asks_for_nothing_new,
    list_open,
    list_unserved,
    read_wishes,
    reads_out_names,
)
from callwright.nouns.types import Failure, Tool, ToolCall, ToolResult
from callwright.repair.provenance.sources import ProvenanceIndex

WEATHER = {"city": "Oslo", "date": "2026-03-13"}
TOLD = ToolResult("r1", "get_weather", WEATHER, {**WEATHER, "sky": "clear"})
WISH = "weather in Oslo tomorrow"
SAID = "What is the weather in Oslo tomorrow?"


def served(
    *calls: tuple[str, Any],
    wishes: tuple[str, ...] = (f"the {WISH}",),
    first: tuple[str, ...] = (WISH,),
    result: ToolResult = TOLD,
    said: str = SAID,
) -> bool:
    made = [ToolCall("", name, arguments) for name, arguments in calls]
    return asks_for_nothing_new(wishes, made, first, [result], ProvenanceIndex(said))


MAIL = ("send_mail", {"to": "Oslo", "subject": "Weather Update", "body": "It is clear in Oslo."})


def test_a_wish_stated_again_with_nothing_new_is_served() -> None:
    assert served(("find_contact", {"name": "Oslo"}))
    assert served(("find_contact", {"name": "Oslo"}), MAIL)
    assert served(("list_events", {"date": "2026-03-13"}))


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("Wetter in Oslo", "das Wetter in Oslo"),
        ("el tiempo en Oslo", "tiempo en Oslo"),
        ("奥斯陆明天的天气", "奥斯陆明天的天气如何"),
        ("الطقس في أوسلو", "الطقس في أوسلو"),
    ],
)
def test_wishes_are_compared_in_every_language(first: str, again: str) -> None:
    assert served(MAIL, first=(first,), wishes=(again,))
    assert not served(MAIL, first=(first,), wishes=(again, "mail it"))


def test_a_value_that_came_back_or_was_not_used_yet_is_new() -> None:
    found = ToolResult("r1", "find_contact", {"name": "Lena"}, {"to": "lena@hoff.no"})
    mail = ("send_mail", {"name": "Lena", "to": "lena@hoff.no", "body": "Hello."})
    assert not served(mail, result=found, said="Mail Lena hello.")
    assert not served(
        ("get_weather", {"city": "Bergen", "date": "2026-03-13"}), said="Bergen, Oslo"
    )
    assert not served(("book", {"city": "Oslo", "seats": 4}))
    assert not served(("get_weather", {"city": "Oslo", "date": "2026-03-14"}))


def test_an_identifier_from_nowhere_is_not_new() -> None:
    assert served(("get_report", {"job_id": "J-123"}))
    assert not served(("get_report", {"job_id": "J-123"}), said=f"{SAID} Report J-123, too.")
    assert not served(("enter", {"city": "Oslo", "time": "14:30"}))


def test_nothing_is_told_without_evidence() -> None:
    mail = MAIL
    assert not served(mail, first=())
    assert not served(mail, wishes=())
    assert not served(mail, wishes=("mail it to Oslo",))
    assert not served()
    assert not served(("list_orders", {}))
    assert not served(("note", {"text": "The weather in Oslo is clear tomorrow."}))
    assert not served(mail, result=ToolResult("r1", "get_weather", WEATHER, []))
    lost = ToolResult("r1", "get_weather", WEATHER, failure=Failure("timeout", "late"))
    assert not served(mail, result=lost)


def test_wishes_are_read_from_whatever_comes() -> None:
    assert read_wishes('{"wishes": ["a", 3, " "], "calls": []}') == ("a",)
    for text in ("", "no", "[]", '{"wishes": 3}', '{"no_call": "done"}'):
        assert read_wishes(text) == ()


@pytest.mark.parametrize(
    ("wishes", "expected"),
    [
        (["find_contact", "send_mail", "list_events"], True),
        (["find_contact", "send_mail"], False),  # they may be meant
        (["send_mail", "send_mail", "send_mail"], False),
        (["find_contact", "mail Anna"], False),
        (["find_contact", "unknown_tool"], False),
        ([], False),
    ],
)
def test_wishes_that_are_names_of_tools_say_nothing_of_the_request(
    wishes: list[str], expected: bool
) -> None:
    tools = [Tool("find_contact"), Tool("send_mail"), Tool("list_events")]
    assert reads_out_names(json.dumps({"wishes": wishes, "calls": []}), tools) is expected


STATED = ("list_events(date: '2026-03-13')", "delete_event(id: 'V-3')", "list_events (today)")


def test_a_wish_that_names_its_tool_is_open_until_that_tool_was_called() -> None:
    def left(*called: str, stated: tuple[str, ...] = STATED) -> list[str]:
        names, reads = {"list_events", "delete_event"}, {"list_events"}
        return [wish.text for wish in list_unserved(stated, called, names, reads)]

    assert left() == [*STATED]
    assert left("list_events") == [*STATED[1:]]
    assert left("list_events", "delete_event") == [STATED[2]], "a read counts as often as stated"
    assert left("list_events", "delete_event", "list_events") == []
    twice = ("delete_event(id: 1)", "delete_event(id: 2)")
    assert left("delete_event", stated=twice) == [], "whether a second write is meant is not known"
    assert left(stated=("delete the event", "delete_events(1)", "")) == []


ADDED = ToolResult("r1", "add_reminder", {"text": "Call the dentist"}, {"id": "R-5"})


def test_of_more_wishes_than_calls_those_are_open_that_hold_no_value_of_a_call() -> None:
    wishes = ("delete the one about the plumber", "add: 'Call the dentist'")
    assert list_open(wishes, [ADDED], ()) == wishes[:1]
    assert list_open(wishes, [ADDED, ADDED], ()) == (), "each had its call"
    named = ("delete_reminder(R-1)", "add: 'Call the dentist'")
    assert list_open(named, [ADDED], ["delete_reminder"]) == (), "its tool is asked about"
    assert list_open(wishes, [], ()) == wishes
