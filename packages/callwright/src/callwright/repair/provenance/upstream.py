"""Provides the sources of one step of a plan: the run's knowledge before it, and the results
upstream of it.

The results are indexed only if the other sources cannot answer a question. A plan of hundreds of
steps would otherwise index every result once for each of the steps behind it. Most values of a step
are stated in the request or were taken from a result by reference.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from callwright.nouns.types import Json, ToolResult
from callwright.repair.provenance.sources import ProvenanceIndex


class Upstream(ProvenanceIndex):
    """``before`` and the results that ``upstream`` gives, in order. Reads as any Sources do, from
    the first question.

    ``taken`` are values that are known to come from these results: the plan referred to them.
    """

    def __init__(
        self,
        before: ProvenanceIndex,
        upstream: Callable[[], Sequence[ToolResult]],
        taken: Collection[Json] = (),
    ) -> None:
        self.query = before.query
        self.days_known = before.days_known
        self.today = before.today
        self._before = before
        self._asked_set, self._asked = set(), 0
        self._upstream = upstream
        self._taken = {value for value in taken if not isinstance(value, dict | list)}

    def __getattr__(self, name: str) -> Any:
        """Return a missing attribute after reading the sources that it needs."""
        if name == "results":  # asked for more often than what they say
            self.results = [*self._before.results, *self._upstream()]
            return self.results
        if name.startswith("__") or "leaves" in self.__dict__:
            raise AttributeError(name)
        whole = self._before.copy()
        for result in self._upstream():
            whole.add_result(result)
        self.__dict__.update(whole.__dict__)
        return getattr(self, name)

    def holds(self, value: Json) -> bool:
        """As :meth:`Sources.holds`; what the request or a reference answers is not looked for
        further.
        """
        if isinstance(value, dict | list):
            return super().holds(value)
        return value in self._taken or self._before.holds(value) or super().holds(value)

    def copy(self) -> ProvenanceIndex:
        """The same sources, as plain ones."""
        return Upstream(self._before, self._upstream)
