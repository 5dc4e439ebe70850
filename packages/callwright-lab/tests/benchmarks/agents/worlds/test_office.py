"""The office: what is written can be read afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from callwright_lab.benchmarks.agents.task_set import OFFICE
from callwright_lab.benchmarks.agents.worlds.world import World

MAIL = {"to": "a@b.example", "subject": "Zebra", "body": "Hello."}
EVENT = {"title": "Zebra", "date": "2026-05-01", "time": "08:00"}


@pytest.mark.parametrize(
    ("write", "given", "read", "asked", "found"),
    [
        ("send_mail", MAIL, "search_mail", {"word": "zebra"}, "M-3"),
        ("create_event", EVENT, "list_events", {"date": "2026-05-01"}, "V-4"),
        ("write_file", {"path": "a/b.txt", "text": "x"}, "list_files", {"folder": "a"}, "a/b.txt"),
        ("write_file", {"path": "a/b.txt", "text": "Zeb"}, "read_file", {"path": "a/b.txt"}, "Zeb"),
        ("create_ticket", {"title": "Zebra"}, "list_tickets", {"status": "open"}, "T-704"),
        ("close_ticket", {"ticket_id": "T-701"}, "list_tickets", {"status": "closed"}, "T-701"),
    ],
)
def test_what_is_written_is_read_afterwards(
    write: str, given: dict[str, Any], read: str, asked: dict[str, Any], found: str
) -> None:
    world = World([*OFFICE.declarations])
    assert found not in world.call(read, asked).text
    assert world.call(write, given).is_write
    assert found in world.call(read, asked).text


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("delete_event", {"event_id": "V-3"}),
        ("delete_file", {"path": "notes/old.txt"}),
        ("close_ticket", {"ticket_id": "T-702"}),
    ],
)
def test_what_is_gone_is_not_there_a_second_time(tool: str, given: dict[str, Any]) -> None:
    world = World([tool])
    assert world.call(tool, given).is_ok
    assert not world.call(tool, given).is_ok


def test_contacts_and_tickets_are_read() -> None:
    world = World(["find_contact", "get_ticket"])
    assert world.call("find_contact", {"name": "samira"}).content[0]["contact_id"] == "P-4"
    assert world.call("get_ticket", {"ticket_id": "T-703"}).content["status"] == "closed"
