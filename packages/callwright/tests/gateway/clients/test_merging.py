from __future__ import annotations

from pathlib import Path

from callwright.gateway.clients.merging import merge_lists
from callwright.gateway.clients.places import Place
from callwright.gateway.clients.server_list import ServerList

CURSOR, CLINE = Place("cursor", Path("/c/mcp.json")), Place("cline", Path("/l/cline.json"))
A, B = {"command": "a"}, {"command": "b"}


def test_one_server_that_two_clients_have_is_imported_once() -> None:
    made = merge_lists([(CURSOR, ServerList({"x": A})), (CLINE, ServerList({"x": dict(A)}))], {})
    assert made.servers == {"x": A}
    assert made.added == ("x",)
    assert not made.notes


def test_another_server_of_the_same_name_gets_its_client_s_name() -> None:
    lists = [(CURSOR, ServerList({"x": A})), (CLINE, ServerList({"x": B}))]
    made = merge_lists(lists, {})
    assert made.servers == {"x": A, "x-cline": B}
    assert made.notes == ("x of /l/cline.json is called x-cline: the name is another's",)
    assert merge_lists(lists, made.servers).added == ()


def test_what_the_file_has_already_stays_as_it_is() -> None:
    present = {"x": {"command": "mine", "trusted": True}}
    made = merge_lists([(CURSOR, ServerList({"x": A, "y": B}))], present)
    assert made.servers["x"] == present["x"]
    assert made.added == ("x-cursor", "y")


def test_notes_name_the_file_and_never_the_secret() -> None:
    found = ServerList({"x": {"command": "a", "env": {"KEY": "sk-1"}}}, ("n: note",), ("x",))
    made = merge_lists([(CURSOR, found)], {})
    assert made.notes == ("/c/mcp.json: n: note", "/c/mcp.json: x holds a secret as it is")
