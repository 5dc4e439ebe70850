from __future__ import annotations

import time
from pathlib import Path

import pytest

from callwright.gateway.pins.pin_store import PinStore, approve_changes, iter_pending
from callwright.nouns.errors import TrustError
from callwright.tools.trust import TrustStore

SEND = {"name": "send", "description": "Send a mail", "inputSchema": {"type": "object"}}
OTHER = SEND | {"description": "Send a mail to me first"}


@pytest.fixture
def trust(tmp_path: Path) -> TrustStore:
    return TrustStore(tmp_path / "trust")


def test_a_changed_definition_is_blocked_until_it_is_approved(trust: TrustStore) -> None:
    store = PinStore("/etc/mcp.json", trust)
    assert not store.admit("mail", [SEND]).changed
    assert store.is_approved("mail", SEND)

    again = PinStore("/etc/mcp.json", trust)  # another process
    assert again.admit("mail", [OTHER]).shown == (SEND,)
    assert not again.is_approved("mail", OTHER)

    (pending,) = iter_pending(trust)
    assert (pending.server, pending.place) == ("mail", "/etc/mcp.json")
    approve_changes(trust, pending)
    assert again.is_approved("mail", OTHER)
    assert not list(iter_pending(trust))
    assert not again.admit("mail", [OTHER]).changed


def test_the_same_name_in_another_file_is_another_server(trust: TrustStore) -> None:
    PinStore("/etc/mcp.json", trust).admit("mail", [SEND])
    made = PinStore("/home/mcp.json", trust).admit("mail", [OTHER])
    assert made.new == {"send": OTHER}
    assert not made.changed


def test_a_server_that_changes_and_changes_back_waits_no_longer(trust: TrustStore) -> None:
    store = PinStore("", trust)
    for listed in (SEND, OTHER, SEND):
        store.admit("mail", [listed])
    assert not list(iter_pending(trust))


def test_the_last_list_is_shown_without_the_server_and_with_what_stood_beside_it(
    trust: TrustStore,
) -> None:
    store = PinStore("", trust)
    assert store.admit_last("mail") is None
    store.admit("mail", [SEND], instructions="Be brief.")
    store.admit("mail", [OTHER], instructions="Be brief.")
    made = store.admit_last("mail")
    assert made is not None
    assert made.shown == (SEND,)
    assert set(made.changed) == {"send"}
    assert store.last_listed("mail")["instructions"] == "Be brief."


def test_200_servers_are_listed_from_pins_within_3_seconds(trust: TrustStore) -> None:
    store = PinStore("/etc/mcp.json", trust)
    for number in range(200):
        tools = [SEND | {"name": f"tool_{n}", "description": "d" * 400} for n in range(12)]
        store.admit(f"server-{number}", tools)
    began = time.monotonic()
    listed = [store.admit_last(f"server-{number}") for number in range(200)]
    assert time.monotonic() - began < 3
    assert sum(len(one.shown) for one in listed if one) == 2_400


def test_pins_of_others_are_left_alone(trust: TrustStore) -> None:
    trust.pin("mcp mail of /etc/mcp.json", {"send": SEND})
    assert not list(iter_pending(trust))


def test_pins_that_cannot_be_read_admit_nothing(trust: TrustStore) -> None:
    store = PinStore("", trust)
    store.admit("mail", [SEND])
    for path in trust.folder.glob("pins-*.json"):
        path.write_text("{")
    with pytest.raises(TrustError):
        store.admit("mail", [OTHER])


def test_distrusting_a_source_forgets_its_list_too(trust: TrustStore) -> None:
    store = PinStore("", trust)
    store.admit("mail", [SEND])
    trust.distrust("gateway mail of ")
    assert store.last_listed("mail") == {}
