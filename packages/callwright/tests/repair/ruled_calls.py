"""The rules of calls by themselves, with what came of them as results show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from callwright.nouns.errors import Violation
from callwright.nouns.types import Edit, ToolCall
from callwright.repair.context import RepairContext
from callwright.repair.draft import BEFORE_CALLS, Drafts
from callwright.repair.pipeline import run_rules, run_without_questions
from callwright.repair.result import Abstention
from callwright.repair.rules.arguments.argument_rules import is_triggered
from callwright.repair.rules.calls import CALL_RULES
from callwright.repair.rules.reply_context import ReplyContext


@dataclass
class RuledCalls:
    """``positions[i]`` is where ``calls[i]`` stood as read."""

    calls: list[ToolCall]
    positions: list[int | None]
    edits: list[Edit]
    violations: list[Violation]
    abstained: list[Abstention]
    confidence: float


def apply_rules(calls: Sequence[ToolCall], situation: RepairContext) -> RuledCalls:
    """Every call by itself, then the calls among each other; no order is looked at."""
    drafts = Drafts(calls, turn=BEFORE_CALLS)
    context = ReplyContext(situation, calls, is_triggered)
    run_without_questions(run_rules(CALL_RULES, drafts, context))
    return RuledCalls(
        list(drafts.calls),
        [draft.origin for draft in drafts],
        list(drafts.render_edits()),
        list(drafts.render_violations()),
        list(drafts.render_abstentions()),
        drafts.confidence,
    )
