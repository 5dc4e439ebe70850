"""The calls of an answer wherever they stand, whether it was streamed or came whole. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from callwright.parsing import CallPiece, parse_calls
from callwright.proxy.session.answers.native import NativeCalls
from callwright.proxy.session.context import Context
from callwright.proxy.session.decision.decision import Found


def collect_calls(native: NativeCalls, written: Sequence[CallPiece]) -> list[Found]:
    """The upstream's own calls, then those in its text."""
    own = [Found(c.call(), n, sound=c.sound) for n, c in enumerate(native.calls)]
    return own + [Found(p.call, -1, p.raw, p.dialect) for p in written]


def find_reasoning_calls(reasoning: str, context: Context) -> list[CallPiece]:
    """Calls of offered tools that were left in the reasoning; for answers that never began."""
    if not reasoning or context.choice == "none":
        return []
    parsed = parse_calls(reasoning, context.toolset.tools)
    complete = parsed.calls[:-1] if parsed.truncated else parsed.calls
    names = context.toolset.names
    return [CallPiece(c, "", parsed.dialect or "reasoning") for c in complete if c.tool in names]
