"""uvicorn's HTTP protocol, with an end to waiting for clients that take nothing of what is sent to them."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


class StalledProtocol(HttpToolsProtocol):
    """Cuts a client off whose connection has been full for ``stalled_seconds`` in which it took not one byte.

    The application then sees a client that left. uvicorn itself waits without end, and so do its keep-alive timeout
    and its shutdown: both close only a connection whose last byte is gone (compare ``send_timeout`` of nginx, 60 s).
    """

    stalled_seconds = 60.0
    _alarm: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._look_again()

    def resume_writing(self) -> None:
        self._rest()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._rest()
        super().connection_lost(exc)

    def look(self, waited: int) -> None:
        """Abort if no fewer bytes wait than ``waited``, which did ``stalled_seconds`` ago; else look again later."""
        if self.transport.get_write_buffer_size() < waited:
            self._look_again()
        else:
            self.transport.abort()  # to close it would wait for the client

    def _look_again(self) -> None:
        waiting = self.transport.get_write_buffer_size()
        self._alarm = self.loop.call_later(self.stalled_seconds, self.look, waiting)

    def _rest(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None


def stalled_after(seconds: float) -> type[asyncio.Protocol]:
    """The protocol with this limit, for ``uvicorn.Config(http=…)``."""
    limit: dict[str, Any] = {"stalled_seconds": seconds}
    return type("Stalled", (StalledProtocol,), limit)
