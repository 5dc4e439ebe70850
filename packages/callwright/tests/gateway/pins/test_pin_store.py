from __future__ import annotations

import time
from pathlib import Path

import pytest

from callwright.gateway.pins.pin_store import PinStore, approve_changes, iter_pending
from callwright.tools.trust import TrustStore

SEND = {"name": "send", "description": "Send a mail", "inputSchema": {"type": "object"}}
OTHER = SEND | {"description": "Send a mail to me first"}


@pytest.fixture
def trust(tmp_path: Path) -> TrustStore:
    return TrustStore(tmp_path / "trust")


def test_a_changed_definition_is_blocked_until_it_is_approved(trust: TrustStore) -> None:
    assert not PinStore("/etc/mcp.json", trust).review("mail", [SEND]).blocked

    again = PinStore("/etc/mcp.json", trust)  # another process
    made = again.review("mail", [OTHER])
    assert not made.approved
    assert set(made.blocked) == {"send"}

    (pending,) = iter_pending(trust)
    assert (pending.server, pending.place) == ("mail", "/etc/mcp.json")
    approve_changes(trust, pending)
    known = again.get_known("mail")
    assert known is not None
    assert list(known.approved) == [OTHER]
    assert not known.blocked
    assert not list(iter_pending(trust))
    assert not again.review("mail", [OTHER]).blocked
    assert again.review("mail", [SEND]).blocked  # and back again is a change as well


def test_the_same_name_in_another_file_is_another_server(trust: TrustStore) -> None:
    PinStore("/etc/mcp.json", trust).review("mail", [SEND])
    assert not PinStore("/home/mcp.json", trust).review("mail", [OTHER]).blocked


def test_a_server_that_changes_and_changes_back_waits_no_longer(trust: TrustStore) -> None:
    store = PinStore("", trust)
    for listed in (SEND, OTHER, SEND):
        store.review("mail", [listed])
    assert not list(iter_pending(trust))


def test_the_last_list_is_known_without_the_server(trust: TrustStore) -> None:
    store = PinStore("", trust)
    assert store.get_known("mail") is None
    store.review("mail", [SEND, SEND | {"name": "other"}])
    store.review("mail", [OTHER])
    made = PinStore("", trust).get_known("mail")
    assert made is not None
    assert not made.approved
    assert set(made.blocked) == {"send"}


def test_200_servers_are_listed_from_pins_within_3_seconds(trust: TrustStore) -> None:
    store = PinStore("/etc/mcp.json", trust)
    for number in range(200):
        tools = [SEND | {"name": f"tool_{n}", "description": "d" * 400} for n in range(12)]
        store.review(f"server-{number}", tools)
    began = time.monotonic()
    listed = [store.get_known(f"server-{number}") for number in range(200)]
    assert time.monotonic() - began < 3
    assert sum(len(one.approved) for one in listed if one) == 2_400


def test_pins_of_others_are_left_alone(trust: TrustStore) -> None:
    trust.pin("mcp mail of /etc/mcp.json", {"send": SEND})
    assert not list(iter_pending(trust))


def test_pins_that_cannot_be_read_approve_nothing(trust: TrustStore) -> None:
    store = PinStore("", trust)
    store.review("mail", [SEND])
    for path in trust.folder.glob("pins-*.json"):
        path.write_text("{")
    assert store.get_known("mail") is None
    made = store.review("mail", [OTHER])
    assert not made.approved
    assert "nobody can tell what was approved" in made.blocked["send"]


def test_pins_that_cannot_be_written_make_every_start_a_first_use_and_say_so(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("")
    made = PinStore("", TrustStore(tmp_path / "file" / "trust")).review("mail", [SEND])
    assert list(made.approved) == [SEND]
    assert "not remembered" in made.problems[0]


def test_distrusting_a_source_forgets_its_list_too(trust: TrustStore) -> None:
    store = PinStore("", trust)
    store.review("mail", [SEND])
    trust.distrust("gateway mail of ")
    assert store.get_known("mail") is None
