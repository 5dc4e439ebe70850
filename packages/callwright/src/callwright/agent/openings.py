"""The tools and the model of an orchestrator while somebody uses them.

Who uses them at the same time in one event loop shares them, and the last one closes them. Each
event loop has its own, since a connection belongs to the loop in which it was made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from typing import TypeAlias

from callwright.agent.safety.consent import Consent
from callwright.nouns.protocols import ChatModel
from callwright.tools.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Opened:
    """Tools and a model that are open, and who approves calls of these tools."""

    catalog: Catalog
    model: ChatModel
    consent: Consent


Opener: TypeAlias = Callable[[], AbstractAsyncContextManager[Opened]]


@dataclass(slots=True)
class _Place:
    """The state of one event loop: how many users there are, and how many of them are runs."""

    users: int = 0
    runs: int = 0
    opened: Opened | None = None
    is_stale: bool = False
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def close(self) -> None:
        self.opened = None
        await self.stack.aclose()


class Openings:
    """Counts who uses the tools and the model, by event loop. ``opener`` opens them."""

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self._places: dict[asyncio.AbstractEventLoop, _Place] = {}

    @property
    def runs(self) -> int:
        """The number of runs that are under way."""
        return sum(place.runs for place in [*self._places.values()])

    @property
    def loops(self) -> int:
        """The number of event loops that use the tools."""
        return sum(p.users > 0 and not loop.is_closed() for loop, p in [*self._places.items()])

    @property
    def opened(self) -> Opened | None:
        """Whatever is open now, in any event loop."""
        return next((p.opened for p in [*self._places.values()] if p.opened is not None), None)

    def outdate(self) -> None:
        """Have whatever is open opened again for the next user. No run may be under way."""
        for place in [*self._places.values()]:
            place.is_stale = True

    async def acquire(self, *, runs: int = 0) -> Opened:
        """Use the tools, opened if nobody uses them in this event loop. Each call needs a
        :meth:`release`, except where it raises. ``runs``: 1 for a run.
        """
        place = self._places.setdefault(asyncio.get_running_loop(), _Place())
        place.users += 1
        place.runs += runs
        try:
            async with place.lock:
                if place.is_stale:
                    place.is_stale = False
                    await place.close()
                if place.opened is None:
                    place.opened = await place.stack.enter_async_context(self._opener())
                return place.opened
        except BaseException:
            await self.release(runs=runs)
            raise

    async def release(self, *, runs: int = 0) -> None:
        """End one use. The last one closes what is open."""
        loop = asyncio.get_running_loop()
        place = self._places[loop]
        place.users -= 1
        place.runs -= runs
        async with place.lock:
            if not place.users:
                await place.close()
            if not place.users and self._places.get(loop) is place:
                del self._places[loop]
