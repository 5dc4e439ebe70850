"""One chat completion that was not streamed: read, and written again with settled calls. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from callwright.parsing import CallPiece, Parser, TextPiece
from callwright.parsing.leftovers import LeftoverFilter, Part, join_removed
from callwright.parsing.pieces import drop_thoughts, get_raw
from callwright.proxy.session import words
from callwright.proxy.session.answers.answer import collect_calls, find_reasoning_calls
from callwright.proxy.session.answers.native import CALLS, NativeCalls
from callwright.proxy.session.answers.sse import json_bytes, json_object
from callwright.proxy.session.answers.thought_calls import watch_thoughts
from callwright.proxy.session.context import Context
from callwright.proxy.session.decision.decision import Decision, Found
from callwright.proxy.session.hallucinated_calls import find_hallucinated_call
from callwright.proxy.session.quoted_calls import Quotations
from callwright.tools.lists import chat_messages as chat


class Whole:
    """A complete answer. ``readable`` is False where it is not one chat completion: then it passes
    as it is.
    """

    def __init__(self, body: bytes, context: Context) -> None:
        self.body = body
        self._context = context
        self._document = json_object(body)
        self._choice = chat.only_choice(self._document) if self._document else None
        message = self._choice.get("message") if self._choice else None
        self._message: Mapping[str, Any] = message if isinstance(message, dict) else {}
        self.readable = bool(self._message)
        self.finish = str((self._choice or {}).get("finish_reason") or "")
        self.truncated = False
        self.text = chat.content_text(self._message.get("content"))
        self._native = NativeCalls()
        self._native.add_message(self._message)
        self._calls: list[CallPiece] = []
        self.removed: tuple[str, ...] = ()  # leftovers of a chat template that are left out
        self._quotes = Quotations(context)
        self._thoughts: list[str] = []  # reasoning that stands in the text
        self._kept = self.text
        self._read()

    def found(self) -> list[Found]:
        """The calls of the answer: the upstream's own, then those in its text."""
        return collect_calls(self._native, self._calls)

    def raw(self) -> str:
        """Return the raw text of the model, for the record."""
        return self._reasoning() + self.text

    @property
    def text_beside_calls(self) -> str:
        """The text beside the calls."""
        return self._kept

    @property
    def text_in_words(self) -> str | None:
        """The same without reasoning; None where something else than text is said."""
        if self._is_else:
            return None
        said = self._kept
        for thought in self._thoughts:
            said = said.replace(thought, "", 1)
        return said

    @property
    def _is_else(self) -> bool:
        """Return True if the answer says something by other means than text."""
        return any(self._message.get(key) for key in words.OTHER_MEANS)

    def drop_words(self) -> None:
        """Leave out all text but reasoning."""
        self._kept = "".join(self._thoughts)

    def write(self, settled: Decision) -> bytes:
        """The answer for the client: the very bytes where nothing was changed."""
        if settled.untouched and not self._calls and not self.removed:
            return self.body
        assert self._document is not None
        assert self._choice is not None
        message = {k: v for k, v in self._message.items() if k not in CALLS or v is None}
        text = "\n".join(t for t in (self._kept, *settled.text) if t.strip())
        if self._calls or settled.text or self.removed:
            message["content"] = text or None
        entries = self._native.entries
        calls = [entries[s.native] if s.same else s.render() for s in settled.calls]
        message["tool_calls"] = calls
        if not calls:
            del message["tool_calls"]
            message["content"] = message.get("content") or ""
        reason = settled.finish_reason(self.finish, truncated=self.truncated)
        choice = {**self._choice, "message": message, "finish_reason": reason}
        return json_bytes({**self._document, "choices": [choice]})

    def _reasoning(self) -> str:
        said = self._message.get("reasoning_content") or self._message.get("reasoning")
        return said if isinstance(said, str) else ""

    def _read(self) -> None:
        is_open = not self.text and not self._is_else and not self._native
        if is_open and self.finish != "length":
            self._calls = find_reasoning_calls(self._reasoning(), self._context)
        if not self.text:
            return
        parts: list[Part] = []
        context = self._context
        leftovers = LeftoverFilter(lambda token: words.is_named(token, context))
        considered = watch_thoughts(context)
        for piece in drop_thoughts(Parser(context.toolset.offer).read(self.text), self._is_said):
            if isinstance(piece, TextPiece) and not piece.reasoning:
                self._quotes.see(piece.text)
                parts += leftovers.feed(piece.text)
                continue
            parts += leftovers.flush()
            is_call = isinstance(piece, CallPiece) and self._is_call(piece)
            if isinstance(piece, CallPiece) and is_call and piece.reasoning:
                considered.add(replace(piece, raw=""))
            elif isinstance(piece, CallPiece) and is_call:
                self._calls.append(piece)
            elif isinstance(piece, TextPiece) or not piece.truncated:
                considered.see(get_raw(piece))
            if piece.reasoning:
                self._thoughts.append(get_raw(piece))
            if self._quotes.leaves_out(piece):
                parts.append(Part(self._quotes.left_out, is_removed=True))
            elif piece.reasoning or not is_call:
                parts.append(Part(get_raw(piece)))
        parts += leftovers.flush()
        self._calls = self._calls or considered.list_decided()
        self.removed = join_removed(parts)
        self._kept = "".join(part.text for part in parts if not part.is_removed)
        if (
            not self._calls
            and not self._native
            and (found := find_hallucinated_call(self._kept, self._context))
        ):
            self._calls, self._kept = [found], ""

    def _is_said(self, text: str) -> bool:
        """Return True if this text, or a call of the upstream's own, is an answer beside reasoning.
        Reasoning that was cut off has decided nothing.
        """
        is_cut = self.finish == "length"
        return bool(is_cut or self._native or words.clean_text(text, self._context)[0].strip())

    def _is_call(self, piece: CallPiece) -> bool:
        self.truncated = self.truncated or piece.truncated
        return not piece.truncated and not self._quotes.holds(piece)
