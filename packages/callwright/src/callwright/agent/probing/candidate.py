"""A candidate on its way: what is known of it so far, and what it waits for."""

from __future__ import annotations

from dataclasses import dataclass, field

from callwright.agent.probing.attempt import Attempt
from callwright.agent.probing.result import Ranked, Relevance
from callwright.agent.probing.selection import Standing
from callwright.nouns.types import Tool, ToolResult


@dataclass(slots=True)
class Candidate:
    """One tool of the retriever's list. ``initial`` counts from 1.

    ``closed``: no more is found out about it. ``note``: why nothing was. ``chained``: its inputs
    come from other tools' replies, although the request states something for them that the tool did
    not take. ``asked_whole``: its whole reply is needed, where only the beginning of one is
    remembered. ``clause``: of the request, that it fits best. ``relevance`` and ``share`` are those
    of its reply (:mod:`callwright.agent.probing.relevance`).
    """

    tool: Tool
    initial: int
    score: float
    attempts: list[Attempt] = field(default_factory=list)
    closed: bool = False
    note: str = ""
    chained: bool = False
    fed_by: tuple[str, ...] = ()
    asked_whole: bool = False
    clause: int = 0
    relevance: Relevance | None = None
    share: float | None = None

    @property
    def best(self) -> Attempt | None:
        """The attempt that tells most: a real success, a simulated one, a proof, else the last."""
        ordered = [
            *(a for a in self.attempts if a.works),
            *(a for a in self.attempts if a.observation.outcome == "functional_success"),
            *(a for a in reversed(self.attempts) if a.proves),
            *self.attempts[-1:],
        ]
        return ordered[0] if ordered else None

    @property
    def works(self) -> bool:
        return any(a.works for a in self.attempts)

    @property
    def standing(self) -> Standing:
        if not self.closed:
            return "open"
        best = self.best
        if best is None or not best.proves or best.observation.outcome == "functional_success":
            return "kept"
        doubtful = any(not a.proves for a in self.attempts) and best.blames_arguments
        return (
            "kept" if doubtful else "failed"
        )  # where a guess failed, other arguments might still serve

    @property
    def result(self) -> ToolResult | None:
        """The real reply, whole, for those that are fed by it."""
        for a in self.attempts:
            if a.works and a.whole:
                return ToolResult(
                    f"trial:{self.tool.name}", self.tool.name, a.observation.arguments, a.content
                )
        return None

    def ranked(self) -> Ranked:
        """Return the knowledge of this candidate in the form of the result; its final place is not
        known yet.
        """
        best = self.best
        if best is None:
            why = self.note or _SPARED
            return Ranked(
                self.tool.name,
                self.initial,
                self.initial,
                None,
                False,
                why,
                self.score,
                clause=self.clause,
            )
        seen = best.observation
        serves = seen.outcome == "functional_success"
        known = serves or self.standing == "failed"
        return Ranked(
            name=self.tool.name,
            initial=self.initial,
            final=self.initial,
            outcome=seen.outcome if known else None,
            simulated=seen.simulated and serves,
            justification=self._because(best, known),
            score=self.score,
            seconds=seen.seconds if serves and not seen.simulated else None,
            clause=self.clause,
            about=best.about and (self.share is None or self.relevance == "relevant"),
            called=best.called or best.remembered,
            fed_by=self.fed_by,
            relevance=self.relevance,
            share=self.share,
        )

    def _because(self, best: Attempt, known: bool) -> str:
        seen = best.observation
        if not known:
            return f"nothing proved: {self.note or seen.proof}"
        head = _HEADS[seen.outcome] if not seen.simulated else "SIMULATED"
        took = f" in {seen.seconds:.2f} s" if best.works and seen.seconds >= 0.01 else ""
        after = f" (after {', '.join(self.fed_by)})" if self.fed_by and best.works else ""
        again = " (remembered)" if best.remembered else ""
        return f"{head}: {seen.proof}{took}{after}{again}{self._keeps_place(best)}"

    def _keeps_place(self, best: Attempt) -> str:
        """Return the reason why a success lifts this tool no higher; "" if it does."""
        if not best.works:
            return ""
        if self.share is not None and self.relevance in ("irrelevant", "unsure"):
            return f"; the reply may be about something else ({self.share:.2f}): it keeps its place"
        return "" if best.about else "; nothing of the request is in it, so it keeps its place"


_SPARED = "not tried: the first places were settled without it"
_HEADS = {
    "functional_success": "SUCCESS",
    "parameter_mismatch": "PARAMETER MISMATCH",
    "semantic_mismatch": "SEMANTIC MISMATCH",
    "execution_failure": "EXECUTION FAILURE",
}
