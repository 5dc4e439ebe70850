"""Calls in the thoughts of a reply that says nothing else: those that the model has decided on.

Some servers deliver a whole reply as reasoning, so a call at its end is meant. One that the model
thinks on about may be a draft. It is made only if its tool declares to read.
"""

from __future__ import annotations

from callwright.parsing import CallPiece, Parser
from callwright.parsing.pieces import drop_thoughts, get_raw
from callwright.proxy.session import words
from callwright.proxy.session.context import Context
from callwright.repair.considered_calls import ConsideredCalls


def watch_thoughts(context: Context) -> ConsideredCalls:
    """Return what takes the calls of one reply's thoughts."""
    return ConsideredCalls(
        context.toolset.tools,
        lambda behind: bool(words.clean_text(behind, context)[0].strip()),
        context.settings.call_bytes,
    )


def find_written_calls(text: str, context: Context, *, is_thought: bool = False) -> list[CallPiece]:
    """The whole calls in the text of a reply, whatever tool they name. Those of its thoughts count
    only if it says nothing else. ``is_thought``: all of the text is, and only offered tools count.
    """
    considered, calls, names = watch_thoughts(context), list[CallPiece](), context.toolset.names
    for piece in drop_thoughts(Parser(context.toolset.tools, unknown=True).read(text)):
        if not isinstance(piece, CallPiece) or (is_thought and piece.call.tool not in names):
            considered.see(get_raw(piece))
        elif not piece.truncated and (is_thought or piece.reasoning):
            considered.add(piece)
        elif not piece.truncated:
            calls.append(piece)
    return calls or considered.list_decided()
