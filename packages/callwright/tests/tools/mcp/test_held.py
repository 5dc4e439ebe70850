from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from callwright.nouns.errors import CatalogError
from callwright.tools.mcp.held import HeldClient
from callwright.tools.servers import Server

PEER = str(Path(__file__).parent.parent / "peer_server.py")
SERVER = Server("peer", command=sys.executable, args=(PEER,))


async def test_it_lives_in_the_group_of_its_owner_and_ends_with_a_word() -> None:
    ends: list[str] = []
    async with asyncio.TaskGroup() as group:
        held = HeldClient(SERVER, group=group, ended=lambda: ends.append("ended"))
        assert not held.is_open
        assert len(await held.start()) == 11
        assert held.is_open
        assert held.client is not None
        await held.stop()
        assert held.client is None
        assert not held.is_open
    assert ends == ["ended"]


async def test_a_connection_that_was_given_up_is_made_again() -> None:
    held = HeldClient(SERVER)
    await held.start()
    first = held.client
    assert first is not None
    held.lose(first)
    assert held.client is None
    assert held.is_open
    await held.start()
    assert held.client not in (None, first)
    await held.stop()


async def test_a_server_that_cannot_be_started_is_an_error_and_no_task_is_left() -> None:
    async with asyncio.TaskGroup() as group:
        held = HeldClient(Server("gone", command="/no/such/program"), group=group)
        with pytest.raises(CatalogError, match="there is no command"):
            await held.start()
        await held.stop()
