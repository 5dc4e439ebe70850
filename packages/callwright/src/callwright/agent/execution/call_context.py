"""One call on its way: what is to be called, with which services, and what has come of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from callwright.agent.execution.call_task import CallOutcome, CallTask, make_call_key
from callwright.agent.execution.run_services import RunServices
from callwright.agent.journal.facts import EarlierCall
from callwright.agent.safety.clear import ClearedCall, Denied
from callwright.agent.safety.held_call import HeldCall
from callwright.nouns.types import CheckedCall, JsonObject, Skip, ToolCall
from callwright.repair.provenance.sources import ProvenanceIndex


@dataclass(slots=True)
class CallContext:
    """A call of a run. Those who share an ``outcome`` work on the same call."""

    task: CallTask
    shared: RunServices
    outcome: CallOutcome = field(default_factory=CallOutcome, kw_only=True)

    @property
    def id(self) -> str:
        """Return the id of the call."""
        return self.task.id

    @property
    def sources(self) -> ProvenanceIndex:
        """Return the texts and results in which its values may stand."""
        return self.shared.index.sources if self.task.own is None else self.task.own

    def find_same_earlier(self, call: CheckedCall | ClearedCall) -> EarlierCall | None:
        """The call of an earlier segment for which this one stands."""
        last = self.outcome.earlier[-1] if self.outcome.earlier else None
        return last if last is not None and is_same_call(call, last.arguments) else None

    def name_earlier(self, call: CheckedCall | ClearedCall) -> JsonObject:
        """The earlier call for which this one stands, for the record."""
        same = self.find_same_earlier(call)
        return {} if same is None else {"earlier": same.id}

    def grant(self, tier: str) -> bool:
        """One tier-2 question, or one repeated execution, from the run's budget B."""
        granted = self.shared.spend(self.id, "repairs", "repair", self.shared.budget.spend_repair)
        self.shared.repairs[tier] += granted
        return granted

    def skip(self, reason: str, refused: bool = False) -> None:
        """Record that the call is not made, and why."""
        self.note_skip(Skip(self.task.tool, reason, self.task.slot, refused=refused))

    def note_skip(self, skip: Skip, turn: int | None = None) -> None:
        """Record a skip; ``turn``: of one that a replay has to meet again at this place."""
        self.outcome.skips.append(skip)
        named = (
            {}
            if turn is None
            else {
                "actor": self.id,
                "turn": turn,
                "same": self.outcome.same,
                "refused": skip.refused,
            }
        )
        self.shared.trace.add("skip", tool=skip.tool, reason=skip.reason, slot=skip.slot, **named)


def is_same_call(call: CheckedCall | ClearedCall, arguments: JsonObject) -> bool:
    """Return True if arguments mean the same call, however they spell a number or a default."""
    return make_call_key(call.tool, arguments) == make_call_key(call.tool, call.arguments)


def build_held(call: ToolCall, denied: Denied) -> HeldCall:
    """Return the call as one that was kept back."""
    return HeldCall(call, denied.rule, denied.reason, meant=denied.meant, missing=denied.missing)
