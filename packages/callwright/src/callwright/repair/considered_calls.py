"""Replies whose thoughts hold calls or plans: what a model only considers it has not decided.

A reply is not complete with a call of its thoughts, and where it says more than these they count
for nothing. In a reply that is nothing but thoughts a call counts behind which the model thinks no
further, or whose tool declares to read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from callwright.nouns.types import Reply, Tool, ToolCall
from callwright.parsing import CallPiece, Cut, Cutter, Parsed, Parser, cut, parse_calls
from callwright.parsing.leftovers import remove_leftovers
from callwright.parsing.parser import THOUGHT_TAGS
from callwright.parsing.pieces import drop_thoughts, get_raw

_MARKS = re.compile("|".join(("`{3,}", "~{3,}", *map(re.escape, THOUGHT_TAGS))))


class ConsideredCalls:
    """The calls in the thoughts of a reply, as they come, and which of them are decided on.

    ``says``: whether a text says something, closing fences and tags of thoughts left out. Of what
    stands behind a call about ``most`` characters are kept. A call that was cut off is none.
    """

    def __init__(
        self, tools: Iterable[Tool], says: Callable[[str], bool], most: float = math.inf
    ) -> None:
        self._reads = {tool.name for tool in tools if tool.effects.read_only}
        self._says, self._most = says, most
        self._calls: list[CallPiece] = []
        self._behind: list[str] = []  # the text since the last call
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
        if not self._says(_MARKS.sub("", "".join(self._behind))):
            return self._calls
        return [piece for piece in self._calls if piece.call.tool in self._reads]


def cut_reply(text: str, calls: int | None) -> Cut:
    """Cut a whole reply behind its thoughts (:func:`~callwright.parsing.cut`). In thoughts that do
    not end only loops and the turns of others are cut.
    """
    start = _find_thoughts_end(text)
    if start == len(text):
        found = cut(text, calls=calls)
        return found if found.why != "answer" or not start else Cut(text)
    found = cut(text[start:], calls=calls)
    return replace(found, text=text[:start] + found.text)


def watch_reply(calls: int | None) -> Callable[[str], bool]:
    """Return a watcher that ends a reply where :func:`cut_reply` cuts it."""
    text, cutter = "", Cutter(calls=calls)

    def watch(piece: str) -> bool:
        nonlocal text, cutter
        text += piece
        if not cutter(piece):
            return False
        if cutter.cut.why in ("turn", "loop") or _find_thoughts_end(text) < len(text):
            return True
        cutter = Cutter(calls=calls)  # it saw a call that is only considered
        return False

    return watch


def remove_thoughts(text: str) -> str:
    """Return what a reply says behind its thoughts; "" where it is nothing else."""
    return text[_find_thoughts_end(text) :].lstrip()


def set_thoughts_apart(reply: Reply) -> Reply:
    """The reply with its thoughts as its reasoning, if it says more than these."""
    said = remove_thoughts(reply.text)
    thoughts = reply.text.removesuffix(said).strip()
    if not said or not thoughts:
        return reply
    reasoning = "\n".join(filter(None, (reply.reasoning, thoughts)))
    return replace(reply, text=said, reasoning=reasoning)


def parse_decided_calls(text: str, tools: Sequence[Tool]) -> Parsed:
    """Read a reply (:func:`~callwright.parsing.parse_calls`), without the calls that its model only
    considered.
    """
    parsed = parse_calls(text, tools)
    if not parsed.calls or _find_thoughts_end(text) < len(text):
        return parsed
    return replace(parsed, calls=_list_decided(text, tools))


def _find_thoughts_end(text: str) -> int:
    """The place where a reply says something that is no thought; its length where it does not."""
    end = 0
    for piece in drop_thoughts(Parser(unknown=True).read(text)):
        if not piece.reasoning and get_raw(piece).strip():
            return end
        end += len(get_raw(piece))
    return end


def _list_decided(text: str, tools: Sequence[Tool]) -> tuple[ToolCall, ...]:
    considered = ConsideredCalls(
        tools, lambda behind: bool(remove_leftovers(behind, lambda _: False)[0].strip())
    )
    for piece in Parser(tools, unknown=True).read(text):
        if isinstance(piece, CallPiece):
            considered.add(piece)
        else:
            considered.see(piece.text)
    return tuple(piece.call for piece in considered.list_decided())
