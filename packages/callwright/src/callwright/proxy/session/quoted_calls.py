"""Calls in a reply's text that are none: the client forbids calls, a result holds the very same call
as text, the reply is the JSON that the client's schema asks for, down to the keys, or the call stands
behind a result that the model has made up.

A page, a file or a mail may hold a call in any format, put there by anybody, and a model that tells
the user what it holds repeats it. That is text, not a call of the model's own. Tools that declare
to read are let through, for they do no harm, and so are calls that the conversation has made: what
becomes of those is the guard's to say. Where no call may be made (``tool_choice`` "none"), text stays
text: the user may have asked to see a call. Behind results the answer is to be in words, and a call
there is a model's slip.

A model that plays the whole conversation alone writes a call, its result and the next call. That
one rests on what nobody returned. Once the real result is there, the model can make it. Calls that
the upstream itself delivers are never quotations.
"""

from __future__ import annotations

from collections.abc import Iterator

from callwright.agent.call_key import make_call_key
from callwright.agent.fold import LOST
from callwright.jsontext import JsonError, parse
from callwright.nouns.types import UNKNOWN, Effects, Json, ToolCall, iter_scalars, to_canonical_json
from callwright.parsing import CallPiece, Parser, Piece
from callwright.parsing.foreign_turns import has_foreign_turn
from callwright.proxy.session.answers.form import is_in_form, read_form
from callwright.proxy.session.context import Context
from callwright.proxy.session.decision.decision import serialize_call
from callwright.proxy.session.words import is_after_results

_MOST_READ = 1_000_000  # characters of a text


class Quotations:
    """Tells what in one reply is no call. The conversation is read where one may be quoted, each
    result at most once.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._form = read_form(context.body)
        self._is_all_text = context.forbids_calls and not is_after_results(context)
        self._results: list[str] | None = None
        self._keys: dict[int, set[tuple[str, str]]] = {}  # of the calls in a result
        self._is_invented = False  # the last call rests on a made-up result
        self.left_out = ""  # what is left out with it that was not left out before
        self._is_block_quoted = self._is_behind_invention = self._is_block_left_out = False
        self._has_call = self._has_foreign_turn = False
        self._between: list[str] = []  # the text since the last call

    def see(self, text: str) -> None:
        """More of the reply's text beside calls and reasoning, in order."""
        if self._has_call and not self._has_foreign_turn:
            self._between.append(text)

    def holds(self, piece: CallPiece) -> bool:
        """Return True if a call of the reply's text is quoted, what the client asked for, forbidden,
        or behind a result that the model has made up, unless its tool declares to read. For all but
        the last, calls of one block follow its first, which has the text of all.
        """
        if piece.raw:
            is_in_own_form = self._form is not None and is_in_form(piece.raw, self._form)
            is_answer = is_in_own_form or self._is_all_text
            self._is_behind_invention = not is_answer and self._follows_invention()
            self._is_block_quoted = is_answer or self.is_quoted(piece.call)
        reads = self._find_effects(piece.call).read_only
        self._is_invented = self._is_behind_invention and not reads
        if piece.raw:
            self._is_block_left_out = self._is_invented
        is_told = bool(piece.raw) or self._is_block_left_out
        self.left_out = piece.raw if is_told else to_canonical_json(serialize_call(piece.call))
        is_none = self._is_invented or self._is_block_quoted
        self._has_call = self._has_call or not is_none
        return is_none

    def leaves_out(self, piece: Piece) -> bool:
        """Return True for the piece that :meth:`holds` was asked about last, if it rests on a
        made-up result and goes out neither as a call nor as text.
        """
        is_judged = isinstance(piece, CallPiece) and not piece.truncated and not piece.reasoning
        return is_judged and self._is_invented

    def _follows_invention(self) -> bool:
        """Return True behind a turn of somebody else that stands behind another call."""
        found = self._has_foreign_turn or has_foreign_turn("".join(self._between))
        self._has_foreign_turn = found
        self._between.clear()
        return found

    def _find_effects(self, call: ToolCall) -> Effects:
        tools = self._context.toolset.tools
        tool = next((tool for tool in tools if tool.name == call.tool), None)
        return tool.effects if tool is not None else UNKNOWN

    def is_quoted(self, call: ToolCall) -> bool:
        """Return True if a call that stands in the text of a reply is quoted from a result."""
        context = self._context
        if self._find_effects(call).read_only:
            return False
        key = make_call_key(call)
        if not self._is_told(key, call.tool):
            return False
        made = (made for message in context.messages for made in message.tool_calls)
        return all(make_call_key(one) != key for one in made)

    def _is_told(self, key: tuple[str, str], name: str) -> bool:
        """Return True if a result holds a call with this key, of a tool of this name."""
        if self._results is None:
            self._results = [*_iter_results(self._context)]
        for place, text in enumerate(self._results):
            if name not in text:
                continue
            if place not in self._keys:
                self._keys[place] = _read_keys(text, self._context)
            if key in self._keys[place]:
                return True
        return False


def _iter_results(context: Context) -> Iterator[str]:
    """The texts of all results, and the texts inside those that are JSON."""
    for message in context.messages:
        if message.role == "tool" or message.content.startswith(LOST):
            yield message.content
            yield from _iter_inner(message.content)


def _iter_inner(text: str) -> Iterator[str]:
    try:
        value: Json = parse(text)
    except JsonError:
        return
    yield from (leaf for leaf in iter_scalars(value) if isinstance(leaf, str))


def _read_keys(text: str, context: Context) -> set[tuple[str, str]]:
    """The keys of the calls that a text holds."""
    pieces = Parser(context.toolset.offer).read(text[:_MOST_READ])
    return {make_call_key(p.call) for p in pieces if isinstance(p, CallPiece)}
