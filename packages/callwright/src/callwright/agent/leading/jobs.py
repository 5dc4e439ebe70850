"""Jobs that go on behind a result: "pending" is no end, and a small model takes it for one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from callwright.agent.call_key import make_call_key
from callwright.agent.step import StepContext, Steps, execute
from callwright.nouns.types import Tool
from callwright.repair.pending import find_follow_up, is_pending

MOST_READS: Final = 6
"""The most reads of one job in a turn: they are made at once, and a job takes its time."""


def look_after_job(context: StepContext, tools: Sequence[Tool]) -> Steps[None]:
    """Read again how far a job is that the last result says goes on, with one of ``tools``."""
    while True:
        last = context.facts.results[-1:]
        call = find_follow_up(last[0], tools) if last and is_pending(last[0].content) else None
        if call is None:
            return
        key = make_call_key(call)
        if sum(make_call_key(one) == key for one in context.facts.state.results) >= MOST_READS:
            return
        slot = next((slot.id for slot in context.plan.slots if slot.tool == call.tool), "")
        if not (yield from execute([replace(call, slot=slot)], (call.tool,), by="retry")):
            return
