"""Hermes text: ``<tool_call>{"name": …, "arguments": …}</tool_call>``, once per call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from callwright.jsontext.scan import first_span

OPEN, CLOSE = "<tool_call>", "</tool_call>"


@dataclass(frozen=True, slots=True)
class Block:
    """``text[start:end]`` is one block, tags included; ``body`` what stands between them."""

    body: str
    start: int
    end: int
    closed: bool


def iter_blocks(text: str) -> Iterator[Block]:
    """The blocks of a reply. A closing tag inside a JSON string does not end a block; a missing one
    is forgiven where the JSON value itself is complete.
    """
    at = text.find(OPEN)
    while at >= 0:
        begin = at + len(OPEN)
        span = first_span(text, begin) if text[begin:].lstrip()[:1] in ("{", "[") else None
        inside = span.end if span is not None else begin
        end = text.find(CLOSE, inside)
        after = text.find(OPEN, inside)
        tagged = end >= 0 and (after < 0 or end < after)
        if tagged:
            stop = end
        elif span is not None:
            stop = inside
        elif after >= 0:
            stop = after
        else:
            stop = len(text)
        yield Block(
            text[begin:stop].strip(),
            at,
            stop + len(CLOSE) if tagged else stop,
            span.closed if span else tagged,
        )
        at = text.find(OPEN, max(stop, begin))
