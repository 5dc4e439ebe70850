"""Faults of the proxy itself, and what is kept so that none of them costs a client its answer."""

from __future__ import annotations

import traceback
from collections import deque

from callwright.proxy.events import Faulted, UpstreamHead

OVER_BUDGET = "over-budget"
"""The kind of what is no mistake but would cost more than one request may."""

_FRAMES = 30  # of a traceback, from where it was raised


class OverBudget(Exception):
    """Reading this request, or its answer, costs more than the budget allows. The message says which limit."""


def is_fault(error: BaseException) -> bool:
    """Whether an exception is a fault of ours, also where a library in Rust raises its panic beside Exception."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def kind_of(error: BaseException) -> str:
    """A short name of what went wrong, for a header and a counter."""
    return OVER_BUDGET if isinstance(error, OverBudget) else type(error).__name__


def fault_of(error: BaseException, request: str) -> Faulted:
    """The fault as the log tells it: its traceback, without the message, which may hold what a client sent."""
    if isinstance(error, OverBudget):
        return Faulted(request, OVER_BUDGET, str(error))
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    return Faulted(request, kind_of(error), "".join(traceback.format_list(frames)))


class Tape:
    """The upstream's answer to the client's own request, as far as it has not gone out to the client.

    What has not gone out is always the end of what has come. Bytes are kept as they came.
    """

    def __init__(self) -> None:
        self.head: UpstreamHead | None = None
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._gone = 0  # of the first piece
        self._trimmed = False

    @property
    def complete(self) -> bool:
        """Whether nothing of the answer has gone out."""
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
        if data:
            self._pieces.append(data)
            self._size += len(data)

    def keep(self, size: int) -> None:
        """All but the last ``size`` bytes has gone out."""
        self._trimmed = self._trimmed or self._size > size
        while self._size > size:
            left = len(self._pieces[0]) - self._gone
            if self._size - left < size:
                self._gone += self._size - size
                self._size = size
                return
            self._pieces.popleft()
            self._size -= left
            self._gone = 0

    def rest(self) -> bytes:
        """All that has not gone out."""
        if not self._pieces:
            return b""
        first, *others = self._pieces
        return b"".join([first[self._gone :], *others])
