"""Calls in the thoughts of a reply that says nothing else: those that the model has decided on.

Some servers deliver a whole reply as reasoning, so a call at its end is meant. One that the model
thinks on about may be a draft. It is made only if its tool declares to read.
"""

from __future__ import annotations

from callwright.parsing import CallPiece, Parser
from callwright.parsing.pieces import drop_thoughts, get_raw
from callwright.proxy.session import words
from callwright.proxy.session.context import Context
from callwright.repair.considered_calls import remove_marks


class ThoughtCalls:
    """The calls of one reply's thoughts, as they come. A call that was cut off is no part of it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._most = context.settings.call_bytes
        self._calls: list[CallPiece] = []
        self._behind: list[str] = []  # the text since the last call, up to call_bytes
        self._length = 0

    def see(self, text: str) -> None:
        """More of the text beside the calls."""
        if self._calls and self._length < self._most:
            self._behind.append(text)
            self._length += len(text)

    def add(self, piece: CallPiece) -> None:
        """The next call."""
        self._calls = [*self.list_decided(), piece]
        self._behind, self._length = [], 0

    def list_decided(self) -> list[CallPiece]:
        """The calls behind which nothing stands but other calls, closing fences and tokens of a
        template, and those of tools that declare to read.
        """
        shown, _ = words.clean_text(remove_marks("".join(self._behind)), self._context)
        if not shown.strip():
            return self._calls
        reads = {tool.name for tool in self._context.toolset.tools if tool.effects.read_only}
        return [piece for piece in self._calls if piece.call.tool in reads]


def find_written_calls(text: str, context: Context, *, is_thought: bool = False) -> list[CallPiece]:
    """The whole calls in the text of a reply, whatever tool they name. Those of its thoughts count
    only if it says nothing else. ``is_thought``: all of the text is, and only offered tools count.
    """
    considered, calls, names = ThoughtCalls(context), list[CallPiece](), context.toolset.names
    for piece in drop_thoughts(Parser(context.toolset.tools, unknown=True).read(text)):
        if not isinstance(piece, CallPiece) or (is_thought and piece.call.tool not in names):
            considered.see(get_raw(piece))
        elif not piece.truncated and (is_thought or piece.reasoning):
            considered.add(piece)
        elif not piece.truncated:
            calls.append(piece)
    return calls or considered.list_decided()
