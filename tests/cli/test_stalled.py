"""A real connection whose client reads as much as it is told to."""

from __future__ import annotations

import asyncio
import socket

import uvicorn
from uvicorn.server import ServerState

from callwright.cli.stalled import StalledProtocol, stalled_after


async def _nothing(scope: object, receive: object, send: object) -> None:
    """Answers nothing: the test writes for itself."""


async def test_a_client_that_takes_some_is_waited_for_and_one_that_takes_none_is_cut_off() -> None:
    loop = asyncio.get_running_loop()
    config = uvicorn.Config(_nothing, http=stalled_after(1_000.0), ws="none", log_config=None)
    config.load()
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)

    def made() -> asyncio.Protocol:
        return config.http_protocol_class(config=config, server_state=ServerState(), app_state={})  # type: ignore[call-arg]

    with theirs:
        transport, protocol = await loop.connect_accepted_socket(made, ours)
        assert isinstance(protocol, StalledProtocol)
        assert protocol.stalled_seconds == 1_000.0
        transport.write(bytes(8_000_000))
        waiting = transport.get_write_buffer_size()
        assert protocol.flow.write_paused
        taken = 0
        while taken <= 8_000_000 - waiting:  # one byte more than the socket held: so more was written since
            taken += len(await loop.sock_recv(theirs, 65_536))
        protocol.look(waiting)
        assert not transport.is_closing()
        protocol.look(transport.get_write_buffer_size())
        assert transport.is_closing()
        while await _more(loop, theirs):
            taken += 1
        assert taken < 8_000_000


async def _more(loop: asyncio.AbstractEventLoop, client: socket.socket) -> bytes:
    try:
        return await loop.sock_recv(client, 1_000_000)
    except ConnectionError:
        return b""
