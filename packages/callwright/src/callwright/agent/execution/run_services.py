"""Services that all calls of a run share, and the settings of its safety."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from callwright.agent.execution.deadlines import Deadlines
from callwright.agent.execution.invoke import Caller
from callwright.agent.handling import CallHandling
from callwright.agent.journal.ledger import Ledger
from callwright.agent.questions import Questions
from callwright.agent.run_index import RunIndex
from callwright.agent.safety.consent import Consent
from callwright.agent.safety.freeze import Freeze
from callwright.nouns.limits import Budget
from callwright.nouns.trace import Trace
from callwright.prompts.run_prompt import RunPrompt


@dataclass(slots=True)
class RunSafety:
    """The settings that decide which calls of a run may leave. ``is_sandbox``: what calls change is
    thrown away, so a failed one leaves nothing behind.
    """

    consent: Consent = field(default_factory=Consent)
    freeze: Freeze = field(default_factory=Freeze)
    is_sandbox: bool = False


@dataclass(slots=True)
class RunServices:
    """Services that all calls of a run share."""

    caller: Caller
    index: RunIndex
    questions: Questions
    budget: Budget
    trace: Trace
    ledger: Ledger
    safety: RunSafety
    names: tuple[str, ...] = ()  # of every tool of the run
    handling: CallHandling = field(default_factory=CallHandling)
    deadlines: Deadlines = field(default_factory=Deadlines)
    # what all questions of the run share now; None while none of them does
    open_prompt: Callable[[], RunPrompt | None] = field(default=lambda: None)
    # people are asked one thing at a time
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    repairs: dict[str, int] = field(
        default_factory=lambda: {"tier1": 0, "tier2": 0, "repeat": 0, "recovery": 0}
    )

    def spend(self, actor: str, limit: str, purpose: str, spend: Callable[[], bool]) -> bool:
        """One unit of a budget. A refusal is an answer from outside: which actor asked first
        decided it.
        """
        if told := self.ledger.next(actor, "limit"):
            self.trace.add("limit", **told)
            return False
        before = self.ledger.ahead(actor)
        if spend() or before:
            return True
        self.trace.add(
            "limit", limit=limit, purpose=purpose, actor=actor, turn=self.ledger.turn(actor)
        )
        return False
