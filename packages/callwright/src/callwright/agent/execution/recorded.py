"""Results and skips of calls as a journal has them."""

from __future__ import annotations

from dataclasses import replace

from callwright.agent.journal.facts import result_of
from callwright.agent.journal.ledger import Answer
from callwright.agent.safety.clear import ClearedCall
from callwright.nouns.errors import Failure
from callwright.nouns.types import (
    ToolResult,
)


def write_repeat_reason(same: str) -> str:
    return f"the same call was already made as {same}"


def find_legacy_repeat(told: Answer) -> str:
    """The id of the very same call, where a journal of an earlier version says it in words only:
    in those of this module.
    """
    if "same" in told:
        return ""
    reason = str(told["reason"])
    same = reason.rpartition(" ")[2]
    return same if reason == write_repeat_reason(same) else ""


def load_result(told: Answer) -> ToolResult:
    """A result from the journal, as it was before it was judged."""
    found = result_of(told)
    return replace(found, failure=None) if told["judged"] else found


def build_resolved_result(call: ClearedCall, attempt: int, said: Answer) -> ToolResult:
    """The result of a call in doubt, as it was found out or said."""
    failure = (
        Failure("tool_error", said["message"], not_done=True)
        if said["outcome"] == "failed"
        else None
    )
    return ToolResult(
        call.id,
        call.tool.name,
        call.arguments,
        said.get("content"),
        failure,
        slot=call.slot,
        attempt=attempt,
    )
