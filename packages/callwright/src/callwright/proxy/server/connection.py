"""uvicorn's HTTP protocol, with limits on what a connection may cost before and beside a
request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Literal

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from callwright.proxy.server.budget import Budget
from callwright.proxy.session.answers import compose

State = Literal["idle", "head", "busy", "rest", "refused"]
_FRAMING = (b"content-length", b"transfer-encoding")
_LINGER = 2.0  # seconds in which a refused client may still send, so that it reads the refusal and sees no reset


class Connection(HttpToolsProtocol):
    """Bounds the size and time of a request's head, the number of connections, and the wait for a
    client.

    uvicorn reads a head of any length, for any time, from any number of clients, and waits without
    end for a client that takes nothing of its answer; so do its keep-alive timeout and its
    shutdown. (nginx has the same limits as ``large_client_header_buffers``,
    ``client_header_timeout`` and ``send_timeout``.) Limits are in ``budget``. For the application,
    a client that is cut off in the middle of its answer has left.
    """

    budget = Budget()
    log: Callable[[int, str], None] | None = None

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._state: State = "idle"
        self._since = 0.0
        self._alarm: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._head_open = True  # whether a head is read, or awaited
        self._refused = False
        # whether the request at hand offers an upgrade, and its body is still to be read
        self._offered = False
        self._skipping = False  # whether the parser is given what was read before
        self._moved = False  # whether a piece of input completed a head, or held some of a body
        self._unread = 0  # bytes since then

    # connections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._enter("idle")
        if len(self.connections) > self.budget.connections:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        for alarm in (self._alarm, self._stalled):
            if alarm is not None:
                alarm.cancel()
        super().connection_lost(exc)

    def _make_room(self) -> None:
        """Close the connection that has been without a request for longest; refuse this one if all
        have one.
        """
        others = [
            c
            for c in self.connections
            if isinstance(c, Connection) and c is not self and c.state != "busy"
        ]
        oldest = min(others, key=lambda c: c._since, default=None)
        if oldest is None:
            self.refuse(
                503,
                f"{self.budget.connections} connections are open (Budget.connections); try again"
                " later",
            )
        else:
            self.connections.discard(oldest)
            oldest.transport.abort()

    # heads

    @property
    def state(self) -> State:
        """``busy``: a request is under way; ``rest``: it is answered, and more of its body is to
        come.
        """
        if self.pipeline or (self.cycle is not None and not self.cycle.response_complete):
            return "busy"
        if not self._head_open:
            return "rest"
        return "head" if self._unread else "idle"

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        most = self.budget.head_bytes
        for start in range(0, len(data), most):
            self._feed(data[start : start + most] if len(data) > most else data)
            if self._refused or self.transport.is_closing():
                return
        self._enter(self.state)

    def _feed(self, piece: bytes) -> None:
        self._moved = False
        self._unset_keepalive_if_required()
        try:
            self._parse(piece)
        except HttpParserError:
            return self.refuse(400, "this is no HTTP request")
        self._unread = 0 if self._moved else self._unread + len(piece)
        if self._unread <= self.budget.head_bytes:
            return None
        if self._head_open:
            return self._refuse_head()
        return self.refuse(400, "the body is framed by more bytes than it has")

    def _parse(self, piece: bytes) -> None:
        """Nothing is upgraded (RFC 9110, 7.8). The parser takes what follows an offer of it for
        another protocol, so that a new one reads the body, and the requests behind it.
        """
        while True:
            try:
                return self.parser.feed_data(piece)
            except HttpParserUpgrade as offer:
                self.parser = HttpRequestParser(self)
                framing = [
                    b"%b: %b\r\n" % header for header in self.headers if header[0] in _FRAMING
                ]
                self._skipping = True
                self.parser.feed_data(b"POST / HTTP/1.1\r\n" + b"".join(framing))
                self._skipping = False
                piece = b"\r\n" + piece[offer.args[0] :]

    def on_message_begin(self) -> None:
        if not self._skipping:
            super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        if not self._skipping:
            super().on_url(url)

    def on_headers_complete(self) -> None:
        if self._offered:  # the head that the new parser was given
            self._offered = False
            return None
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if not self._refused and not self.url.startswith(b"/"):
            return self.refuse(
                400, "the target of a request is a path, without the name of a server"
            )
        if self._refused or size > self.budget.head_bytes:
            return self._refuse_head()  # it came behind another request, in one piece
        self._moved, self._head_open = True, False
        super().on_headers_complete()
        self._offered = bool(self.parser.should_upgrade())
        return None

    def on_header(self, name: bytes, value: bytes) -> None:
        if (
            self._head_open and not self._skipping
        ):  # what comes behind the body (RFC 9110, 6.5) is not kept
            super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        self._moved = True
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        if self._offered:
            return
        self._moved = self._head_open = True
        if not self._refused:
            super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._enter(self.state)

    # refusals

    def refuse(self, status: int, message: str) -> None:
        """Answer for the application and close; without an answer where another one is under
        way.
        """
        if self._refused:
            return None
        busy, self._refused = self.state == "busy", True
        self._enter("refused")
        if self.log is not None:
            self.log(status, message)
        if busy:
            return self.transport.abort()
        self.flow.resume_reading()
        body = compose.compose_error(status, message)
        head = (
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: application/json\r\n"
        )
        self.transport.write(
            f"{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body
        )
        if self.transport.can_write_eof():
            return self.transport.write_eof()
        return self.transport.close()

    def _refuse_head(self) -> None:
        most = self.budget.head_bytes
        self.refuse(
            431,
            f"the request's line and headers are longer than {most:,} bytes (Budget.head_bytes)",
        )

    def _enter(self, state: State) -> None:
        """Begin a state's time, unless it has begun."""
        if state == self._state and self._alarm is not None:
            return
        self._state, self._since = state, self.loop.time()
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        budget = self.budget
        most = {
            "idle": budget.idle_seconds,
            "head": budget.head_seconds,
            "rest": budget.head_seconds,
        }
        if state != "busy":
            self._alarm = self.loop.call_later(most.get(state, _LINGER), self._expire)

    def _expire(self) -> None:
        self._alarm = None
        if self._state == "head":
            self.refuse(
                408, "the rest of the request's head did not come in time (Budget.head_seconds)"
            )
        elif self._state == "refused":
            self.transport.abort()
        else:
            self.transport.close()

    # clients that take nothing

    def pause_writing(self) -> None:
        super().pause_writing()
        self._look_again()

    def resume_writing(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None
        super().resume_writing()

    def look(self, waited: int) -> None:
        """Abort if no fewer bytes wait than ``waited``, which did ``stalled_seconds`` ago; else
        look again later.
        """
        if self.transport.get_write_buffer_size() < waited:
            self._look_again()
        else:
            self.transport.abort()  # to close it would wait for the client

    def _look_again(self) -> None:
        waiting = self.transport.get_write_buffer_size()
        self._stalled = self.loop.call_later(self.budget.stalled_seconds, self.look, waiting)


def build_protocol(
    budget: Budget, log: Callable[[int, str], None] | None = None
) -> type[asyncio.Protocol]:
    """The protocol with these limits, for ``uvicorn.Config(http=…)``; ``log`` is told of
    every refusal.
    """
    return type(
        "Bounded", (Connection,), {"budget": budget, "log": staticmethod(log) if log else None}
    )
