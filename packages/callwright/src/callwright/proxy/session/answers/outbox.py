"""The part of a streamed answer that waits for the client."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Waiting:
    """An event that waits since ``since``. Its text is that from ``start`` to ``end`` of all the
    answer's text; ``own``: it also carries calls of the upstream's own, or the finish, which are
    written again if anything is; ``only``: it carries that text and nothing else.
    """

    raw: bytes
    start: int
    end: int
    since: float
    own: bool = False
    only: bool = False


class Outbox:
    """The text that waits to go to the client, and the amount that has gone. Places are places in
    the answer's text.
    """

    def __init__(self) -> None:
        self.queue: deque[Waiting] = deque()
        self.after: list[Waiting] = []  # what follows the finish
        self.size = 0  # bytes in both
        # text beside calls that waits, and where it begins
        self.shown: deque[tuple[int, str]] = deque()
        self.sent = 0  # how much has gone out
        # characters of calls that had gone out as text before they proved to be calls
        self.leaked = 0
        # where what was handed out last ends, the same once it is with the client, and the bytes
        # left out since
        self.handed = self.delivered = self.dropped = 0

    def wait(self, event: Waiting, *, is_over: bool) -> None:
        (self.after if is_over else self.queue).append(event)
        self.size += len(event.raw)

    @property
    def next_start(self) -> int:
        """Where the text of the next event begins."""
        before = self.after or self.queue
        return before[-1].end if before else self.sent

    def hand_out(self) -> None:
        self.handed, self.dropped = self.sent, 0

    def pass_through(self, fed: int) -> None:
        """Everything has gone out at once."""
        self.sent = fed
        self.hand_out()
        self.shown.clear()

    def empty(self) -> list[bytes]:
        """All that waits, as it came."""
        raws = [w.raw for w in (*self.queue, *self.after)]
        self.queue.clear()
        self.after.clear()
        return raws

    def visible(self, start: int, end: int) -> str:
        """The text beside calls between two places; asked for in the order of the text."""
        shown = self.shown
        while shown and shown[0][0] + len(shown[0][1]) <= start:
            shown.popleft()
        parts = []
        for at, text in shown:
            if at >= end:
                break
            parts.append(text[max(0, start - at) : end - at])
        return "".join(parts)
