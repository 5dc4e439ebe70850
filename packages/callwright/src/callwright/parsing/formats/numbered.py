"""LLMCompiler's plans: ``1. search("x")``, ``2. math("abs($1)", ["$1"])``, ``3. join()``, one call
a line.

Numbered lines are how people write about calls, too: this family is read only where it is asked for
(``Parser(tools, dialects=["llmcompiler"])``).
"""

from __future__ import annotations

from collections.abc import Sequence

from callwright.nouns.types import ToolCall
from callwright.parsing import names
from callwright.parsing.formats import pythonic
from callwright.parsing.pieces import Block, Reading
from callwright.parsing.scanner import Scanner
from callwright.parsing.tool_vocabulary import ToolVocabulary

MAX_STEPS = 99
OPENS = tuple(f"{i}. " for i in range(1, MAX_STEPS + 1))


def read(tape: Scanner, offer: ToolVocabulary, marker: str) -> Reading:
    """One step, numbered at the beginning of a line. The number is the call's slot: ``$1`` is what
    it returns.
    """
    if tape.text[tape.at - 1] != "\n":
        return None
    tape.at += len(marker)
    name = yield from names.take_name(tape, offer, pythonic.OPENS)
    if (yield from tape.char()) != "(" or not offer.calls(name):
        return None  # ``join()``, which ends a plan, is nobody's tool
    call = yield from pythonic.take_call(tape, name, offer)
    call.slot = marker[:-2]
    return Block("llmcompiler", [call])


def write(calls: Sequence[ToolCall]) -> str:
    return "\n".join(f"{i}. {text}" for i, text in enumerate(pythonic.write_value(calls), 1))
