"""Counts how many calls each client makes of each server in an hour."""

from __future__ import annotations

from collections import deque

HOUR = 3_600.0
_MOST_KEYS = 10_000


class HourlyBudget:
    """Counts the calls of the last hour by key. ``now`` is a clock's time in seconds; it never goes
    back.
    """

    def __init__(self) -> None:
        self._made: dict[tuple[str, str], deque[float]] = {}

    def take(self, client: str, server: str, most: int | None, now: float) -> bool:
        """Count a call, if one is left."""
        if most is None:
            return True
        made = self._made.setdefault((client, server), deque())
        while made and made[0] <= now - HOUR:
            made.popleft()
        if len(made) >= most:
            return False
        made.append(now)
        if len(self._made) > _MOST_KEYS:
            self._forget(now)
        return True

    def give_back(self, client: str, server: str) -> None:
        """A call that was counted was not sent."""
        if made := self._made.get((client, server)):
            made.pop()

    def count_seconds(self, client: str, server: str, now: float) -> float:
        """Return the seconds until the oldest call that counts is an hour old."""
        made = self._made.get((client, server))
        return max(0.0, made[0] + HOUR - now) if made else 0.0

    def _forget(self, now: float) -> None:
        old = [key for key, made in self._made.items() if not made or made[-1] <= now - HOUR]
        for key in old:
            del self._made[key]
