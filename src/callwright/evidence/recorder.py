"""A run's events -> observations: every real call of every run says something of its tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from secrets import token_hex
from typing import Any

from callwright.errors import EvidenceError, Failure
from callwright.evidence.observation import Observation, excerpt, outcome_of
from callwright.evidence.store import EvidenceStore
from callwright.trace import Event


class Recorder:
    """Keeps what a run's results show. A :class:`callwright.trace.Sink`, for one run.

    What a resume replays is known by its run, call and attempt, and counted once. A store that cannot be written ends
    no run: ``failed`` is told why, once, and nothing more is kept.
    """

    def __init__(self, store: EvidenceStore, failed: Callable[[EvidenceError], None]) -> None:
        self._store: EvidenceStore | None = store
        self._failed = failed
        self._run = ""
        self._digests: dict[str, str] = {}

    def __call__(self, event: Event) -> None:
        data = event.data
        if event.kind == "run.start":
            self._run = data.get("run") or token_hex(8)
        if event.kind in ("run.start", "shortlist"):
            self._digests |= data.get("digests") or {}
        seen = self._observation(data) if event.kind == "result" else None
        if seen is None or self._store is None:
            return
        try:
            self._store.record([seen])
        except EvidenceError as error:
            self._store = None
            self._failed(error)

    def _observation(self, data: Mapping[str, Any]) -> Observation | None:
        """What a ``result`` event shows; None where no real call was made, or nothing was learned."""
        failure = Failure(**data["failure"]) if data["failure"] else None
        outcome, digest = outcome_of(failure), self._digests.get(data["tool"])
        if outcome is None or digest is None or data.get("simulated"):
            return None
        told = failure.message if failure else data["content"]
        return Observation(
            tool=data["tool"],
            digest=digest,
            outcome=outcome,
            arguments=data["arguments"],
            reply=excerpt(told),
            kind=failure.kind if failure else "",
            proof=_proof(failure),
            seconds=data["seconds"],
            origin="run",
            ref=f"{self._run}/{data['id']}/{data['attempt']}",
        )


def _proof(failure: Failure | None) -> str:
    if failure is None:
        return "called in a run, and answered"
    status = f", status {failure.status}" if failure.status else ""
    return f"called in a run: {failure.kind}{status}: {' '.join(failure.message.split())}"
