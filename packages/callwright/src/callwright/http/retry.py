"""Defines the retry rules of a request: it is repeated only if the caller declares that safe."""

from __future__ import annotations

from dataclasses import dataclass

from callwright.http.response import HttpResponse
from callwright.nouns.errors import Failure


@dataclass(frozen=True, slots=True)
class Retry:
    """Exponential backoff with full jitter. ``attempts`` counts the first one; waits are in
    seconds.

    A ``Retry-After`` longer than ``longest`` is not waited for: the answer is handed back and the
    caller decides.
    """

    attempts: int = 3
    first: float = 0.5
    longest: float = 20.0
    statuses: frozenset[int] = frozenset({408, 425, 429, 500, 502, 503, 504})

    def wait(
        self, attempt: int, result: HttpResponse | Failure, asked: float | None, chance: float
    ) -> float | None:
        """Seconds to wait after attempt number ``attempt`` (from 1), or None to give ``result`` to
        the caller.

        ``asked`` is what Retry-After says; ``chance`` is a random number in [0, 1).
        """
        again = result.retryable if isinstance(result, Failure) else result.status in self.statuses
        if not again or attempt >= self.attempts:
            return None
        spread = chance * min(self.longest, self.first * 2.0 ** (attempt - 1))
        if asked is None:
            return spread
        return asked + min(spread, 1.0) if asked <= self.longest else None


NEVER = Retry(attempts=1)
