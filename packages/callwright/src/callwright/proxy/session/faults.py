"""Faults of the proxy itself, and what is kept so that none of them costs a client its answer."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from callwright.proxy.session.events import (
    CloseUpstream,
    Command,
    Event,
    Faulted,
    Finish,
    SendBody,
    SendHead,
    SendUpstream,
    UpstreamData,
    UpstreamEnd,
    UpstreamFailed,
    UpstreamHead,
)

UnderWay = Literal["", "own", "question"]
"""What the upstream is answering: nothing, the client's own request, or a question of ours."""

OVER_BUDGET = "over-budget"
"""The kind of what is no mistake but would cost more than one request may."""

_FRAMES = 30  # of a traceback, from where it was raised


class OverBudget(BaseException):
    """Reading this request, or its answer, costs more than the budget allows. The message says
    which limit.

    No Exception: it may be raised at any place of the code, where a library may catch those.
    ``everywhere``: the worker process allows no more than the event loop.
    """

    def __init__(self, message: str, *, everywhere: bool = False) -> None:
        super().__init__(message)
        self.everywhere = everywhere


def is_fault(error: BaseException) -> bool:
    """Return True if an exception is the proxy's own fault, including panics of Rust libraries,
    which bypass Exception.
    """
    return isinstance(error, Exception | OverBudget) or type(error).__name__ == "PanicException"


def name_fault(error: BaseException) -> str:
    """A short name of what went wrong, for a header and a counter."""
    return OVER_BUDGET if isinstance(error, OverBudget) else type(error).__name__


def build_fault(error: BaseException, request: str) -> Faulted:
    """The fault as the log tells it: its traceback, without the message, which may hold what a
    client sent.
    """
    if isinstance(error, OverBudget):
        return Faulted(request, OVER_BUDGET, str(error))
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    return Faulted(request, name_fault(error), "".join(traceback.format_list(frames)))


class UpstreamTape:
    """The upstream's answer to the client's own request, as far as it has not gone out to the
    client.

    What has not gone out is always the end of what has come. Bytes are kept as they came.
    """

    def __init__(self) -> None:
        self.head: UpstreamHead | None = None
        self._rest = bytearray()
        self._trimmed = False

    @property
    def size(self) -> int:
        return len(self._rest)

    @property
    def complete(self) -> bool:
        """Return True if no part of the answer has been sent."""
        return not self._trimmed

    def begin(self, head: UpstreamHead) -> None:
        """A new answer; what was kept of another is forgotten."""
        self.forget()
        self.head = head

    def forget(self) -> None:
        self.head = None
        self.keep(0)
        self._trimmed = False

    def add(self, data: bytes) -> None:
        self._rest += data

    def keep(self, size: int) -> None:
        """All but the last ``size`` bytes has gone out."""
        if (gone := len(self._rest) - size) > 0:
            self._trimmed = True
            del self._rest[:gone]

    def rest(self) -> bytes:
        """All that has not gone out."""
        return bytes(self._rest)


@dataclass(slots=True)
class Progress:
    """Progress of one request, as its events and commands show it: enough to continue without its
    session.

    ``head_was_sent`` and ``was_under_way`` are as they were before the present event.
    """

    tape: UpstreamTape = field(default_factory=UpstreamTape)
    under_way: UnderWay = ""
    was_under_way: UnderWay = ""
    head_sent: bool = False
    head_was_sent: bool = False
    over: bool = False

    def note(self, event: Event) -> None:
        """An event has come. What is the upstream's answer to the client's own request is kept."""
        self.head_was_sent, self.was_under_way = self.head_sent, self.under_way
        if isinstance(event, UpstreamData):  # most events are pieces of an answer
            if self.under_way == "own":
                self.tape.add(event.data)
        elif isinstance(event, UpstreamHead):
            if self.under_way == "own":
                self.tape.begin(event)
        elif isinstance(event, UpstreamEnd | UpstreamFailed):
            self.under_way = ""

    def commit(self, commands: Iterable[Command], *, own: bool) -> None:
        """These commands are carried out. ``own``: what they send upstream is the client's own
        request.
        """
        for command in commands:
            if isinstance(command, SendBody):  # most commands
                continue
            match command:
                case SendUpstream():
                    self.under_way = "own" if own else "question"
                case CloseUpstream():
                    self.under_way = ""
                case SendHead():
                    self.head_sent = True
                case Finish():
                    self.over = True
