"""Limits the spending and the pace of tool probing. No host is called more often than the policy
allows.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from callwright.agent.probing.policy import TrialLimits, TrialPolicy
from callwright.nouns.types import Tool


class Spending:
    """Calls and money. Not thread-safe: one event loop owns it."""

    def __init__(self, policy: TrialPolicy) -> None:
        self._policy = policy
        self.calls = 0
        self.money = 0.0

    def refusal(self, tool: Tool) -> str:
        """Return the reason why one more call of a tool may not be made; "" if it may."""
        if self.calls >= self._policy.calls:
            return f"the limit of {self._policy.calls} trial calls is reached"
        price = self._policy.price(tool)
        if price and self.money + price > self._policy.money + 1e-9:
            return (
                f"a call costs {price:g}, and {max(0.0, self._policy.money - self.money):g} is left"
                " for trials"
            )
        return ""

    def spend(self, tool: Tool) -> None:
        """One call."""
        self.calls += 1
        self.money += self._policy.price(tool)


class Pacer:
    """Turns of calls: so many at once, of one host so many at once and a second, and none after it
    said "too many".

    A tool that reaches nothing outside (``open_world`` false) has no host.
    """

    def __init__(
        self,
        policy: TrialLimits,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._apart = 1.0 / policy.per_second
        self._clock, self._sleep = clock, sleep
        self._places = asyncio.Semaphore(policy.concurrency)
        self._of_host: dict[str, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(policy.per_host)
        )
        self._next: dict[str, float] = {}
        self.refusing: set[str] = set()  # hosts that want no more calls now

    @asynccontextmanager
    async def turn(self, tool: Tool) -> AsyncIterator[None]:
        """Wait until a call of this tool may leave; it is over when the block ends."""
        host = get_host(tool)
        if not host:
            async with self._places:
                yield
            return
        async with self._of_host[host]:
            due = max(self._next.get(host, 0.0), self._clock())
            self._next[host] = due + self._apart
            if (wait := due - self._clock()) > 0:
                await self._sleep(wait)
            async with self._places:
                yield


def get_host(tool: Tool) -> str:
    """Return the host that rate limits protect: the tool's source, which is one server. "" for a
    tool that reaches nothing outside.
    """
    return (tool.source or tool.name) if tool.effects.open_world else ""
