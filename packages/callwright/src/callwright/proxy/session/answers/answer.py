"""The calls of an answer wherever they stand, whether it was streamed or came whole. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from callwright.parsing import CallPiece
from callwright.proxy.session.answers.native import NativeCalls
from callwright.proxy.session.answers.thought_calls import find_written_calls
from callwright.proxy.session.context import Context
from callwright.proxy.session.decision.decision import Found


def collect_calls(native: NativeCalls, written: Sequence[CallPiece]) -> list[Found]:
    """The upstream's own calls, then those in its text."""
    own = [Found(c.call(), n, sound=c.sound) for n, c in enumerate(native.calls)]
    return own + [Found(p.call, -1, p.raw, p.dialect) for p in written]


def find_reasoning_calls(reasoning: str, context: Context) -> list[CallPiece]:
    """Calls of offered tools that were left in the reasoning; for answers that never began. A tool
    that may write is called only at the end of the reasoning.
    """
    if not reasoning or context.choice == "none":
        return []
    found = find_written_calls(reasoning, context, is_thought=True)
    return [replace(piece, raw="") for piece in found]
