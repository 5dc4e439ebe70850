"""The health of one upstream: since when it answers, or until when it rests. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from callwright.nouns.types import JsonObject

FIRST_REST, LONGEST_REST = 1.0, 60.0  # seconds, doubled with every failure in a row
LONGEST_ASKED = 86_400.0  # seconds that an upstream may ask for

State = Literal["new", "answers", "fails", "limited"]


@dataclass(slots=True)
class Health:
    """``limited``: it asked for rest (429), and is not asked before that is over. ``fails``: it did
    not answer, or with an error of its own; others are asked first.
    """

    state: State = "new"
    until: float = 0.0  # of the rest, on the clock of its events
    last: str = ""  # what it said when it failed last
    asked: int = 0
    failed: int = 0
    limited: int = 0
    _in_a_row: int = field(default=0)

    def succeed(self, now: float) -> None:
        """It answered. A request that it took before it asked for rest does not end that."""
        self.asked += 1
        if self.state != "limited" or self.until <= now:
            self.state, self.until, self._in_a_row = "answers", 0.0, 0

    def fail(self, now: float, said: str, asked: float | None = None) -> None:
        """It failed, and asked to be left alone for ``asked`` seconds."""
        self.asked += 1
        self.failed += 1
        is_limited = self.state == "limited" and self.until > now
        self._rest("limited" if is_limited else "fails", now, said, asked)

    def limit(self, now: float, said: str, asked: float | None = None) -> None:
        """It refused a request for their number; ``asked`` is its Retry-After in seconds."""
        self.asked += 1
        self.limited += 1
        self._rest("limited", now, said, asked)

    def seconds_of_rest(self, now: float) -> float:
        """Return the seconds until its rest is over; 0 if it is."""
        return max(0.0, self.until - now)

    def to_dict(self, now: float) -> JsonObject:
        """JSON-ready."""
        return {
            "state": self.state,
            "rests_seconds": round(self.seconds_of_rest(now), 1),
            "last_failure": self.last,
            "asked": self.asked,
            "failed": self.failed,
            "limited": self.limited,
        }

    def _rest(self, state: State, now: float, said: str, asked: float | None) -> None:
        usual = min(LONGEST_REST, FIRST_REST * 2.0 ** min(self._in_a_row, 30))
        self._in_a_row += 1
        self.state, self.last = state, said
        self.until = max(self.until, now + (usual if asked is None else min(asked, LONGEST_ASKED)))
