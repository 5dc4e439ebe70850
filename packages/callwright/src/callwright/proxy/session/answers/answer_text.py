"""The text of a streamed answer, as far as it has come: what of it is a call, and what is shown."""

from __future__ import annotations

from dataclasses import replace

from callwright.parsing import CallPiece, Parser, Piece, TextPiece
from callwright.parsing.leftovers import LeftoverFilter, Part
from callwright.parsing.pieces import get_raw
from callwright.proxy.session import words
from callwright.proxy.session.answers.answer import find_reasoning_calls
from callwright.proxy.session.answers.outbox import Outbox
from callwright.proxy.session.answers.thought_calls import watch_thoughts
from callwright.proxy.session.context import Context
from callwright.proxy.session.hallucinated_calls import find_hallucinated_call, may_begin_call
from callwright.proxy.session.quoted_calls import Quotations

_OPENS = ("{", "[", "`")  # what JSON begins with


class AnswerText:
    """The content of the answer: its text, its reasoning, the calls found in them, and how far it
    is decided. Places are places in all the text that came.
    """

    def __init__(self, context: Context) -> None:
        self.beside: list[str] = []  # all that was said beside calls
        self.reasoning: list[str] = []
        self.calls: list[CallPiece] = []
        self._considered = watch_thoughts(context)  # all calls: they count if all text is reasoning
        self._restored: list[str] = []  # of their text what was left out before that was known
        self.is_truncated = False
        self.fed = self.decided = 0  # how much has come, and of how much it is known what it is
        self.removed: list[str] = []  # leftovers of a chat template
        self.left_out = 0  # characters that are not shown: calls, and what was removed
        self.has_gaps = False  # whether there are such
        self.is_else = False  # whether it says something by other means than text
        # What has waited long enough waits on, because it names a tool, or is let go.
        self.is_kept = self.is_released = False
        self._context = context
        self._most = context.settings.call_bytes
        self._parser = Parser(context.toolset.offer)
        self._quotes = Quotations(context)
        self._filter = LeftoverFilter(lambda token: words.is_named(token, context))
        self._removed_to = -1  # where the last of what was removed ends
        self._watch = words.WordsWatch() if words.is_after_results(context) else None
        # what was said beside calls: reasoning, and all else
        self._thoughts: list[str] = []
        self._in_words: list[str] = []
        self._places: list[int] = []  # where the text of those calls begins
        self._undecided: list[str] = []
        self._thought = 0
        # whether the text begins like a call of a tool that nobody offered
        self._begins_strange: bool | None = None

    @property
    def text(self) -> str:
        return "".join(self.beside)

    @property
    def text_in_words(self) -> str:
        """The text beside calls, without reasoning."""
        return "".join(self._in_words)

    @property
    def held_from(self) -> int | None:
        """The place from which the text may say nothing in words and waits; None: nothing does."""
        watch = self._watch
        if watch is None or watch.has_words:
            return None
        held = watch.held_from
        if held is None and not self.is_released:
            return None
        place = self.decided if held is None else held
        if self.fed - place > self._context.settings.hold_bytes:
            watch.let_go()
            return None
        is_open = held is not None or self._undecided_text().lstrip()[:1] in _OPENS
        return place if is_open else None

    @property
    def may_lack_words(self) -> bool:
        """Return True if nothing in words has come after results."""
        return self._watch is not None and not self._watch.has_words and not self.is_else

    def drop_words(self, outbox: Outbox) -> None:
        """Leave out the text that waits because it says nothing in words."""
        held = self._watch.held_from if self._watch is not None else None
        if held is None:
            return
        self.has_gaps = True
        kept = [(at, text) for at, text in outbox.shown if at < held]
        outbox.shown.clear()
        outbox.shown.extend((at, text[: held - at]) for at, text in kept)
        self.beside = [*self._thoughts]
        self._in_words.clear()

    @property
    def is_whole(self) -> bool:
        """True if every part of the text that came is classified."""
        return self.decided == self.fed

    def think(self, texts: list[str]) -> None:
        if self._thought < self._most:
            self.reasoning += texts
            self._thought += sum(map(len, texts))

    def feed(self, text: str, outbox: Outbox, *, is_over: bool) -> None:
        """More text. ``is_over``: the answer has its finish, and nothing in it is a call any
        more.
        """
        self.fed += len(text)
        self._undecided.append(text)
        if is_over:
            self._show(text, outbox)
        else:
            self._take(self._parser.feed(text), outbox)

    def close(self, outbox: Outbox) -> None:
        """All text has come."""
        self._take(self._parser.close(), outbox)
        self._place(self._filter.flush(), outbox)

    def release(self, outbox: Outbox) -> None:
        """Classify as text what could still become a call."""
        self._take(self._parser.release(), outbox)
        self._place(self._filter.flush(), outbox)

    def keep_or_release(self, outbox: Outbox) -> bool:
        """Return True if text that has waited long enough is let go: it waits on only if it names
        an offered tool.
        """
        if self.is_released or self.is_kept:
            return False
        text = self._undecided_text()
        self.is_kept = any(name in text for name in self._context.toolset.names)
        if not self.is_kept:
            self.is_released = True
            outbox.shown.append((self.decided, text))
        return self.is_released

    def _undecided_text(self) -> str:
        left = self.fed - self.decided
        return "".join(self._undecided)[-left:] if left else ""

    def lost(self, sent: int) -> str:
        """Return the part of the calls' text that stands before a place."""
        taken = zip(self._places, self.calls, strict=False)
        return "".join(call.raw[: max(0, sent - at)] for at, call in taken)

    def may_be_hallucinated(self, sent: int) -> bool:
        """Return True if the whole text so far may become a hallucinated call, and nothing else."""
        if self._begins_strange is None and self.beside:
            self._begins_strange = may_begin_call(self.text, self._context)
        within = self.fed <= self._context.settings.hold_bytes
        return bool(self._begins_strange) and sent == 0 and within

    def find_late_calls(self, outbox: Outbox, *, is_cut: bool) -> None:
        """At the end, where no call was found: those that were left in the reasoning because the
        answer never began, or the one of a tool that nobody offered, where that is the whole reply
        and none of it has gone out. ``is_cut``: the answer reached its length; reasoning that was
        cut off has decided nothing.
        """
        if not is_cut and not self.is_else and not self.text_in_words.strip():
            left = find_reasoning_calls("".join(self.reasoning), self._context)
            self.calls = self._considered.list_decided() or left
        if self.calls or not self.may_be_hallucinated(outbox.sent):
            return
        found = find_hallucinated_call(self.text, self._context)
        if found is not None:
            outbox.shown.clear()
            self.beside.clear()
            self._in_words.clear()
            self.calls, self.has_gaps = [found], True

    def _take(self, pieces: list[Piece], outbox: Outbox) -> None:
        for piece in pieces:
            if isinstance(piece, TextPiece) and not piece.reasoning:
                self._quotes.see(piece.text)
                self._considered.see(piece.text)
                self._place(self._filter.feed(piece.text), outbox)
                continue
            self._place(self._filter.flush(), outbox)
            if isinstance(piece, TextPiece) and piece.closes:
                self._take_as_thoughts()
            is_call = isinstance(piece, CallPiece) and self._is_call(piece)
            if isinstance(piece, CallPiece) and is_call:
                self._considered.add(replace(piece, raw="", reasoning=True))
            elif isinstance(piece, TextPiece) or not piece.truncated:
                self._considered.see(get_raw(piece))
            if isinstance(piece, CallPiece) and is_call and not piece.reasoning:
                self.calls.append(piece)
                self._places.append(self.decided)
                self._leave_out(piece.raw, outbox)
                continue
            if self._quotes.leaves_out(piece):
                if get_raw(piece):
                    self._place([Part(get_raw(piece), is_removed=True)], outbox)
                elif self._quotes.left_out:  # its text went with the block's first call
                    self.removed.append(self._quotes.left_out)
                continue
            self._show(get_raw(piece), outbox, is_reasoning=piece.reasoning)
        if pieces:
            self.is_kept = self.is_released = False
        if self.decided >= self.fed:
            self._undecided.clear()

    def _take_as_thoughts(self) -> None:
        """All that came so far was reasoning; the text of its calls is text again."""
        self._restored += [call.raw for call in self.calls]
        self._thoughts += self._in_words
        self.calls.clear()
        self._places.clear()
        self._in_words.clear()

    def take_restored(self) -> str:
        """The text of calls that was left out and is text after all, once."""
        restored = "".join(self._restored)
        self._restored.clear()
        return restored

    def _place(self, parts: list[Part], outbox: Outbox) -> None:
        """Show these parts, or leave out what is removed; what has gone out is not removed."""
        for part in parts:
            if not part.is_removed or self.decided < outbox.sent:
                self._show(part.text, outbox)
                continue
            if self.decided == self._removed_to:
                self.removed[-1] += part.text
            else:
                self.removed.append(part.text)
            self._leave_out(part.text, outbox)
            self._removed_to = self.decided

    def _show(self, text: str, outbox: Outbox, *, is_reasoning: bool = False) -> None:
        outbox.shown.append((self.decided, text))
        if not is_reasoning and self._watch is not None:
            self._watch.feed(text, self.decided)
        if self.decided < self._most:
            self.beside.append(text)
            (self._thoughts if is_reasoning else self._in_words).append(text)
        self.decided += len(text)

    def _leave_out(self, text: str, outbox: Outbox) -> None:
        outbox.leaked += max(0, min(outbox.sent - self.decided, len(text)))
        self.has_gaps = True
        self.left_out += len(text)
        self.decided += len(text)

    def _is_call(self, piece: CallPiece) -> bool:
        """A call that was cut off is text, as it was written: it is never completed."""
        self.is_truncated = self.is_truncated or piece.truncated
        return not piece.truncated and not self._quotes.holds(piece)
