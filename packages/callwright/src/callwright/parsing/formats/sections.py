"""Calls one after the other, each between two markers, in a section whose own markers may be
lost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from callwright.parsing.marker_set import MarkerSet
from callwright.parsing.pieces import Block, Meant, Steps
from callwright.parsing.scanner import Scanner
from callwright.parsing.tool_vocabulary import ToolVocabulary
from callwright.parsing.values import NO_END

CallReader: TypeAlias = Callable[[Scanner, ToolVocabulary, Block], "Steps[Meant | None]"]


def take_section_calls(
    tape: Scanner,
    offer: ToolVocabulary,
    block: Block,
    call: CallReader,
    *,
    begin: MarkerSet,
    end: MarkerSet,
    outer_end: MarkerSet,
) -> Steps[Block | None]:
    """The calls of a section whose first ``begin`` is taken already; None where there is none."""
    while (found := (yield from call(tape, offer, block))) is not None:
        block.calls.append(found)
        if found.truncated:
            return block
        if not (yield from tape.closing(end)):
            found.problems.append(NO_END)
        if not (yield from tape.closing(begin)):
            break
    if block.calls:
        yield from tape.closing(outer_end)
    return block if block.calls else None
