"""The repair pipeline as the proxy uses it. Its rules are loaded with the first call that is not
plainly right.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from callwright.nouns.types import ToolCall, iter_scalars
from callwright.nouns.wire_names import EditRules
from callwright.proxy.session.context import Context
from callwright.repair.draft import Drafts
from callwright.repair.gate import Refusal

if TYPE_CHECKING:
    from callwright.repair.rules.several import Joint

UNASKED, LEFT_OUT = (
    EditRules.UNASKED_CALL,
    EditRules.DROP_UNSOURCED,
)  # the refiner's rules of these names
_MARKS = re.compile(
    r"[$<>{}\[\]]|API_call|\bvar_?\d", re.I
)  # what references and placeholders are made of


def is_plainly_right(calls: Sequence[ToolCall], context: Context) -> bool:
    """Return True if there is nothing to repair. The gate accepts every call unchanged, no two are
    equal, and every value stands in the conversation word for word. This spares most answers the
    reading of the whole conversation.
    """
    seen = set()
    for call in calls:
        if not isinstance(call.arguments, dict) or call.tool not in context.toolset.names:
            return False
        verdict = context.toolset.gate.check(call)
        if isinstance(verdict, Refusal) or verdict.edits:
            return False
        leaves = list(iter_scalars(call.arguments))
        if not all(isinstance(leaf, str | int | float | bool) and leaf != "" for leaf in leaves):
            return False
        seen.add((call.tool, str(call.arguments)))
        if not all(isinstance(leaf, bool) or context.says(str(leaf).lower()) for leaf in leaves):
            return False
        if any(isinstance(leaf, str) and _MARKS.search(leaf) for leaf in leaves):
            return False
    return len(seen) == len(calls)


def may_want_more(calls: Sequence[ToolCall], context: Context) -> bool:
    """Return True if several calls may be made and the user's last message seems to ask for more
    than these calls serve.
    """
    from callwright.repair.rules.several import several

    return context.parallel and several(context.query, calls, context.toolset.tools)


def count_left_open(calls: Sequence[ToolCall], context: Context) -> int:
    """Return how many numbers and quotations of the user's last message stand in no call."""
    from callwright.repair.rules.several import left_over

    return len(list(left_over(context.query, calls)))


def merge_readings(
    first: Sequence[ToolCall], second: Sequence[ToolCall], context: Context
) -> list[Joint]:
    """A reading of the request and what a second one adds to it."""
    from callwright.repair.context import RepairContext
    from callwright.repair.rules.several import joined

    situation = RepairContext(context.toolset.tools, context.query, context.messages)
    return joined(first, second, situation)


def repair_answer(
    calls: Sequence[ToolCall],
    context: Context,
    *,
    leave_out: bool = False,
    keep_equal: bool = False,
) -> Drafts:
    """The calls as the pipeline would have them, given the tools and the conversation.

    ``leave_out``: values that nothing supports and calls that add nothing are left out (guided
    mode). Where the upstream's own calls do not work and the client does not insist on one, calls
    that nobody asked for go as well. Neither holds beside an image, a recording or a file, in which
    any value may stand. ``keep_equal``: the upstream made each call as one of its own, so that
    equal ones are all meant.
    """
    leave_out = leave_out and not context.holds_media
    doubt = not context.native and not context.demanded and not context.holds_media
    if not calls or (
        not leave_out
        and is_plainly_right(calls, context)
        and not (doubt and any(not c.arguments for c in calls))
    ):
        return Drafts(calls)
    from callwright.repair.refinement import repair_calls
    from callwright.repair.result import Settings

    marked = [replace(call, id=f"at{place}") for place, call in enumerate(calls)]
    settings = Settings(leave_out=leave_out, drop_unasked=doubt, keep_equal=keep_equal)
    return repair_calls(marked, context.toolset.tools, context.query, context.messages, settings)
