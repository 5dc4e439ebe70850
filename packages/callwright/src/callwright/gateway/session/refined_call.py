"""A call that its schema refuses to the end, put to a refiner.

The gateway knows the call and its tool, and nothing of the conversation. So nobody is asked about a
call that its schema accepts, and a value counts only if the call itself holds it.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from callwright.gateway.session.argument_check import list_edits
from callwright.gateway.session.commands import AskRefiner, Command, Event, Refined
from callwright.nouns.types import CheckedCall, Tool, ToolCall
from callwright.repair.draft import AFTER_CALLS, Draft, Drafts
from callwright.repair.gate import Gate
from callwright.repair.pipeline import run_rules
from callwright.repair.rule import UNANSWERED

if TYPE_CHECKING:
    from callwright.repair.by_model.refiner_settings import RefinerSettings


def refine_call(
    gate: Gate, tool: Tool, call: ToolCall, settings: RefinerSettings
) -> Generator[Command, Event, CheckedCall | None]:
    """The call as the refiner has it; None where that is no accepted call of the same tool."""
    from callwright.repair.by_model.guard import Upstream
    from callwright.repair.by_model.refiner import MODEL_RULES, RefinerContext

    drafts = Drafts((call,), turn=AFTER_CALLS)
    up = Upstream("", drafts.calls, (tool,))
    steps = run_rules(MODEL_RULES, drafts, RefinerContext(up, settings))
    try:
        request = next(steps)
        while True:
            told = yield AskRefiner(request)
            assert isinstance(told, Refined)
            request = steps.send(told.reply or UNANSWERED)
    except StopIteration:
        made = drafts.calls
    if len(made) != 1 or made[0].tool != call.tool:
        return None
    verdict = gate.judge(Draft(0, made[0]), edits=list_edits(drafts))
    return verdict if isinstance(verdict, CheckedCall) else None
