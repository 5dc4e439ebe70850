"""Time limits of calls that run together, with one timer for all of them.

``asyncio.timeout`` sets a timer for each. The loop keeps them sorted, for a while also those that
were taken back: a seventh of all that the engine did for a call.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress


class Deadlines:
    """The limits of one event loop's calls. After :meth:`clear` no timer is left."""

    def __init__(self) -> None:
        self._open: list[tuple[float, asyncio.Timeout]] = []
        self._timer: asyncio.TimerHandle | None = None

    def within(self, seconds: float) -> asyncio.Timeout:
        """As ``asyncio.timeout(seconds)``: ``async with`` it, and what takes longer ends in a
        TimeoutError.
        """
        loop = asyncio.get_running_loop()
        deadline, scope = loop.time() + seconds, asyncio.timeout(None)
        self._open.append((deadline, scope))
        if self._timer is None or deadline < self._timer.when():
            self._wake_at(deadline, loop)
        return scope

    def clear(self) -> None:
        """Forget all limits: what they were for has ended."""
        self._open.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wake_at(self, deadline: float, loop: asyncio.AbstractEventLoop) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_at(deadline, self._expire, deadline, loop)

    def _expire(self, due: float, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        for _, scope in (one for one in self._open if one[0] <= due):
            with suppress(RuntimeError):  # its call has ended
                scope.reschedule(due)
        self._open = [one for one in self._open if one[0] > due]
        if self._open:
            self._wake_at(min(deadline for deadline, _ in self._open), loop)
