"""Calls in Markdown code fences: JSON, Python, or another family's tags, whatever the fence says
that it holds. Python without a call of an offered tool is code, whatever names count elsewhere.
"""

from __future__ import annotations

import re

from callwright.parsing import names
from callwright.parsing.body import FENCE, FENCES
from callwright.parsing.formats import pythonic, tagged, untagged
from callwright.parsing.marker_set import MarkerSet
from callwright.parsing.pieces import Block, Reading, Steps
from callwright.parsing.scanner import Scanner
from callwright.parsing.tool_vocabulary import ToolVocabulary

MARKER = FENCE
_INFO = re.compile(r"[\w+\-]*")
_TAGS = MarkerSet(tagged.ENVELOPES)


def read(tape: Scanner, offer: ToolVocabulary, marker: str) -> Reading:
    tape.at += len(marker)
    yield from tape.take(_INFO, 32)
    char = yield from tape.space()
    block = Block("fenced")
    python, closed = _may_begin_name(char, offer), ""
    while char and (yield from _take_item(tape, offer, block, char)):
        if closed := (yield from tape.closing(FENCES)):
            break
        ahead = yield from tape.glance()
        char = tape.text[tape.at + ahead] if ahead >= 0 else ""
        if char == ",":
            ahead += 1
            more = yield from tape.glance(ahead)
            ahead += max(more, 0)
            char = tape.text[tape.at + ahead] if more >= 0 else ""
        if char not in ("{", "[", "<") and not (python and _may_begin_name(char, offer)):
            break
        if char:
            tape.at += ahead
    if python and not any(offer.offers(call.tool) for call in block.calls):
        return None
    if block.calls and not closed and not block.calls[-1].truncated:
        block.calls[-1].problems.append("the closing fence is missing")
    return block if block.calls or block.reason else None


def _may_begin_name(char: str, offer: ToolVocabulary) -> bool:
    """Return True if a name may begin with this character."""
    return char.isalpha() or char == "_" or (offer.odd is not None and offer.odd.begins(char))


def _take_item(tape: Scanner, offer: ToolVocabulary, block: Block, char: str) -> Steps[bool]:
    if char in "{[":
        return (yield from untagged.take_value(tape, offer, block))
    if char == "<":
        return (yield from _take_tagged(tape, offer, block))
    name = yield from names.take_name(tape, offer, pythonic.OPENS)
    if (yield from tape.char()) != "(" or not offer.tools or not offer.calls(name):
        return False
    block.calls.append((yield from pythonic.take_call(tape, name, offer)))
    return True


def _take_tagged(tape: Scanner, offer: ToolVocabulary, block: Block) -> Steps[bool]:
    tag = yield from tape.marker(_TAGS)
    if not tag:
        return False
    inner = yield from tagged.read(tape, offer, tag)
    if inner is None:
        return False
    block.calls += inner.calls
    block.dialect = inner.dialect
    return True
