"""Tools that are declared in data: every action on every kind of table."""

from __future__ import annotations

from typing import Any

import pytest

from callwright_lab.benchmarks.agents.task_set import HOME
from callwright_lab.benchmarks.agents.worlds.world import World

TOOLS = [*HOME.declarations]


@pytest.mark.parametrize(
    ("tool", "given", "read", "asked", "found"),
    [
        ("switch_lamp", {"lamp_id": "L-2", "on": False}, "list_lamps", {}, '"on":false'),
        ("set_brightness", {"lamp_id": "L-1", "percent": 7}, "list_lamps", {}, '"brightness":7'),
        (
            "set_temperature",
            {"room": "bedroom", "celsius": 19.5},
            "get_temperature",
            {"room": "bedroom"},
            '"target":19.5',
        ),
        ("add_reminder", {"text": "Zebra", "date": "2026-05-01"}, "list_reminders", {}, "R-105"),
        ("add_item", {"item": "Zebra", "amount": "2"}, "get_shopping_list", {}, "Zebra"),
        (
            "add_song",
            {"playlist_id": "pl_2", "song": "Zebra"},
            "get_playlist",
            {"playlist_id": "pl_2"},
            "Zebra",
        ),
        ("create_playlist", {"name": "Zebra"}, "get_playlist", {"playlist_id": "pl_4"}, "[]"),
        (
            "pay_bill",
            {"bill_id": "INV-3101", "amount": 9},
            "list_bills",
            {"status": "paid"},
            "3101",
        ),
        (
            "move_appointment",
            {"appointment_id": "APT-21", "new_date": "2026-05-01", "new_time": "08:00"},
            "list_appointments",
            {"from_date": "2026-05-01"},
            "APT-21",
        ),
        (
            "add_appointment",
            {"title": "Zebra", "date": "2026-03-12", "time": "08:00"},
            "list_appointments",
            {"to_date": "2026-03-12"},
            "APT-26",
        ),
        (
            "send_message",
            {"person_id": "P-1", "text": "Zebra"},
            "list_messages",
            {"person_id": "P-1"},
            "M-3",
        ),
    ],
)
def test_what_is_written_is_read_afterwards(
    tool: str, given: dict[str, Any], read: str, asked: dict[str, Any], found: str
) -> None:
    world = World(TOOLS, HOME)
    before = world.call(read, asked).text
    assert world.call(tool, given).is_write
    assert world.call(read, asked).text.count(found) == before.count(found) + 1


@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        ("delete_reminder", {"reminder_id": "R-103"}, "there is no reminder R-103"),
        ("remove_item", {"item_id": "S-14"}, "there is no item S-14"),
        ("delete_playlist", {"playlist_id": "pl_1"}, "there is no playlist pl_1"),
        ("cancel_appointment", {"appointment_id": "APT-25"}, "there is no appointment APT-25"),
    ],
)
def test_what_is_gone_is_not_there_a_second_time(
    tool: str, given: dict[str, Any], said: str
) -> None:
    world = World(TOOLS, HOME)
    assert world.call(tool, given).is_write
    assert world.call(tool, given).content == {"error": said}


def test_a_message_goes_to_somebody_who_is_known() -> None:
    world = World(TOOLS, HOME)
    called = world.call("send_message", {"person_id": "P-9", "text": "Hello."})
    assert called.content == {"error": "there is no person P-9"}
    assert len(world.state["messages"]) == 2


def test_a_list_shows_what_fits_and_hides_what_is_asked_for_alone() -> None:
    world = World(TOOLS, HOME, "es")
    assert [row["person_id"] for row in world.call("find_person", {"name": "mama"}).content] == [
        "P-2"
    ]
    assert world.call("find_person", {"name": "nadie"}).content == []
    assert all("songs" not in row for row in world.call("list_playlists", {}).content)
    day = {"from_date": "2026-03-16", "to_date": "2026-03-18"}
    found = world.call("list_appointments", day).content
    assert [row["appointment_id"] for row in found] == ["APT-21", "APT-22"]
