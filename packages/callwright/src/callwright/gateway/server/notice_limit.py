"""Limits the notifications of progress and logs that a server may send: each costs a task here, and
nothing stops a server from sending a million.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from callwright.tools.mcp.streams import is_unread

RATE = 200.0  # a second
BURST = 1_000.0


class NoticeLimit:
    """A token bucket. Other messages always pass."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left, self._at = BURST, clock()

    def is_dropped(self, method: str) -> bool:
        """Return True where a message is one too many."""
        if not is_unread(method):
            return False
        now = self._clock()
        self._left = min(BURST, self._left + (now - self._at) * RATE)
        self._at = now
        if self._left < 1.0:
            return True
        self._left -= 1.0
        return False
