"""A run's events -> observations: every real call of every run says something of its tool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from secrets import token_hex

from callwright.nouns.errors import EvidenceError, Failure
from callwright.nouns.trace import Event
from callwright.nouns.types import ToolResult
from callwright.tools.evidence.observation import Observation
from callwright.tools.evidence.store import EvidenceStore


class Recorder:
    """Keeps what a run's results show. A :class:`callwright.nouns.trace.Sink`, for one run.

    ``observe`` reads a result; None where nothing was learned. What a resume replays is known by
    its run, call and attempt, and counted once; what it takes from the record is not counted. A
    store that cannot be written ends no run: ``failed`` is told why, once, and nothing more is
    kept.
    """

    def __init__(
        self,
        store: EvidenceStore,
        observe: Callable[[ToolResult], Observation | None],
        failed: Callable[[EvidenceError], None],
    ) -> None:
        self._store: EvidenceStore | None = store
        self._observe = observe
        self._failed = failed
        self._run = ""

    def __call__(self, event: Event) -> None:
        if event.kind == "run.start":
            self._run = event.data.get("run") or token_hex(8)
        if event.kind != "result" or self._store is None or event.data.get("recorded"):
            return
        result = _build_result(event)
        seen = self._observe(result)
        if seen is None:
            return
        try:
            self._store.record([replace(seen, ref=f"{self._run}/{result.id}/{result.attempt}")])
        except EvidenceError as error:
            self._store = None
            self._failed(error)


def _build_result(event: Event) -> ToolResult:
    """The result as it came: a failure that is our reading of the content is read again."""
    data = event.data
    failure = None if data["judged"] or data["failure"] is None else Failure(**data["failure"])
    fields = ("id", "tool", "arguments", "content", "seconds", "slot", "attempt")
    told = {name: data[name] for name in fields}
    return ToolResult(**told, failure=failure, simulated=data.get("simulated", ""))
