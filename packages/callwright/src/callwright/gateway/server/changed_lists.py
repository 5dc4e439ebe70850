"""Lists that a server says have changed are looked at again, but not as often as it says so."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

_LOG = logging.getLogger("callwright.gateway")
_SECONDS = 1.0


class ChangedLists:
    """Of one connection. The first word of a change is acted on at once, then once in ``seconds``
    at most: a server may say so a thousand times a second. A change that is told meanwhile is
    looked at afterwards, so none is missed.
    """

    def __init__(self, group: asyncio.TaskGroup, seconds: float = _SECONDS) -> None:
        self._group, self._seconds = group, seconds
        self._told: set[str] = set()
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def note(self, name: str, look: Callable[[], Awaitable[None]]) -> None:
        """A server says that the list of this name has changed."""
        self._told.add(name)
        if name not in self._tasks:
            self._tasks[name] = self._group.create_task(self._look(name, look))

    def cancel(self) -> None:
        """The connection is closed: nothing is looked at any more."""
        for task in self._tasks.values():
            task.cancel()

    async def _look(self, name: str, look: Callable[[], Awaitable[None]]) -> None:
        try:
            while name in self._told:
                self._told.discard(name)
                try:
                    await look()
                except Exception:  # nothing that a server does may end the gateway
                    _LOG.exception("%s was not listed again", name)
                await asyncio.sleep(self._seconds)
        finally:
            del self._tasks[name]
