"""Watches the questions of a model about one call, and records what came of them."""

from __future__ import annotations

from dataclasses import dataclass

from callwright.agent.execution.call_task import CallOutcome, CallTask
from callwright.agent.execution.run_services import RunServices
from callwright.nouns.types import (
    CheckedCall,
    JsonObject,
    get_public_fields,
    to_canonical_json,
)
from callwright.repair.by_model.question import (
    PLAIN,
    Asks,
    Watcher,
)
from callwright.repair.by_model.reflection import Reflecting, Tried
from callwright.repair.gate import Refusal


@dataclass
class RepairWatcher(Watcher):
    """Has a model asked about one call in the run's ways. What was refused, what was changed and at
    which tier, and what a model thought of it goes into the trace.
    """

    task: CallTask
    shared: RunServices
    outcome: CallOutcome
    # what was refused or failed of the call so far, and what was said of it
    tried: list[Tried]
    before: JsonObject | str  # the arguments that are asked about
    may_ask: bool = True
    is_executed: bool = False
    refusal: Refusal | None = None
    asked: int = 0  # questions of the run before the present one

    def begin(self, refusal: Refusal) -> tuple[Asks, ...]:
        self.refusal, self.asked = refusal, self.shared.repairs["tier2"]
        if not self.is_executed:
            found = {"violations": refusal.violations, "edits": refusal.edits}
            self.shared.trace.add("call.refused", id=refusal.call.id, **found)
            # not what the model was asked in this run already, and knew no better
            known = self.shared.index.unrepaired
            self.may_ask = self.may_ask and _make_refusal_key(refusal) not in known
            self.may_ask = self.may_ask and not self._is_asked_elsewhere(refusal)
        return self._ways() if self.may_ask else ()

    def _is_asked_elsewhere(self, refusal: Refusal) -> bool:
        """Return True for values from nowhere where whoever leads the turn asks for them itself."""
        is_led = self.shared.handling.fills_schema
        return is_led and any(v.kind == "ungrounded" for v in refusal.violations)

    def end(self, verdict: CheckedCall | Refusal, asks: Asks | None) -> None:
        shared = self.shared
        now = shared.repairs["tier2"]
        if isinstance(verdict, CheckedCall):
            shared.trace.add(
                "call.repair",
                id=verdict.id,
                tier=2 if now > self.asked else 1,
                before=self.before,
                after=verdict.arguments,
                edits=verdict.edits,
            )
        for said in asks.said if isinstance(asks, Reflecting) else ():
            shared.trace.add(
                "reflection", id=self.task.id, tool=self.task.tool, **get_public_fields(said)
            )
        self.asked = now

    def conclude(self, verdict: CheckedCall | Refusal) -> None:
        """Keep what was refused and asked about, for later questions. A refusal about which no
        model can be asked comes here first.
        """
        if isinstance(verdict, Refusal) and self.refusal is None:
            self.begin(verdict)
        if self.refusal is not None and self.may_ask:
            if isinstance(verdict, Refusal):
                self.outcome.unrepaired = _make_refusal_key(self.refusal)
            self.tried.append(Tried(self.refusal.call.arguments, self.refusal.message))

    def _ways(self) -> tuple[Asks, ...]:
        tried, how = tuple(self.tried), self.shared.handling.repairing
        if how == "plain":
            return (PLAIN,)
        reflecting = Reflecting(tried)
        return (PLAIN, reflecting) if how == "reflect-after" and not tried else (reflecting,)


def _make_refusal_key(refusal: Refusal) -> str:
    """Return the key that equal mistakes share."""
    found = [(v.path, v.keyword, v.got) for v in refusal.violations]
    return to_canonical_json([refusal.call.tool, found])
