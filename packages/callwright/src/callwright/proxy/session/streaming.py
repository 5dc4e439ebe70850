"""One streamed chat completion on its way to the client. Bytes in, bytes out, no I/O.

Events whose text cannot begin a call go on at once, as they came. What may begin a call waits; the
upstream's own calls wait for the end of the answer. Then the caller settles them and
:meth:`Streamed.write` says the rest: the very bytes that waited where nothing was changed, else the
same answer with the settled calls. What goes out depends on the events alone, never on how the
network cut them.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from callwright.nouns.types import JsonObject
from callwright.parsing import CallPiece, Parser, Piece, TextPiece
from callwright.proxy.apis.uniform_chunks import Alike, uniform_chunks
from callwright.proxy.session import compose
from callwright.proxy.session.answer import calls_of, in_reasoning
from callwright.proxy.session.context import Context
from callwright.proxy.session.decide import Decision, Found
from callwright.proxy.session.hallucinated_calls import begins, hallucinated_call
from callwright.proxy.session.native import NativeCalls
from callwright.proxy.session.sse import EventSplitter, data_of, encoded, json_object
from callwright.tools.lists import chat_messages as chat

_LEARN = 8  # attempts a stream to find what its events have in common


@dataclass(frozen=True, slots=True)
class _Waiting:
    """An event that waits since ``since``. Its text is that from ``start`` to ``end`` of all the
    answer's text; ``own``: it also carries calls of the upstream's own, or the finish, which are
    written anew if anything is; ``only``: it carries that text and nothing else.
    """

    raw: bytes
    start: int
    end: int
    since: float
    own: bool = False
    only: bool = False


class Streamed:
    """Feed it the upstream's bytes. ``ready``: the answer is complete and waits to be settled."""

    def __init__(self, context: Context, now: float = 0.0) -> None:
        self.ready = False
        self.passing = False  # nothing can change any more: bytes are bytes
        self.finish = ""
        # characters of calls that had gone out as text before they proved to be calls
        self.leaked = 0
        self.text: list[str] = []  # all that was said beside calls
        self.reasoning: list[str] = []
        self._thought = 0
        self.truncated = False
        self._context = context
        self._limits = context.settings
        self._splitter = EventSplitter()
        self._parser = Parser(context.toolset.offer)
        self._native = NativeCalls()
        self._calls: list[CallPiece] = []
        self._places: list[int] = []  # where the text of those calls begins
        self._queue: deque[_Waiting] = deque()
        self._size = 0  # bytes in the queue
        self._after: list[_Waiting] = []  # what follows the finish
        self._shown: deque[tuple[int, str]] = (
            deque()
        )  # text beside calls that waits, and where it begins
        # Places in the answer's text: how much has come, is decided, has gone out.
        self._fed = self._pos = self._sent = 0
        # Where what was handed out last ends, the same once it is with the client, and the bytes
        # left out since.
        self._shown_to = self._gone = self._dropped = 0
        self._held: list[str] = []
        self._decided = self._released = False
        # whether the text begins like a call of a tool that nobody offered
        self._strange: bool | None = None
        self._like: JsonObject = {}
        self._last: JsonObject = {}
        self._alike: Alike | None = None
        self._attempts = _LEARN
        self._now = now
        self._finished_at = now

    @property
    def wake(self) -> float | None:
        """When what waits has waited long enough: undecided text, or the end of an answer that has
        its finish.
        """
        if self.finish and not self.ready and not self.passing:
            return self._finished_at + self._limits.hold_seconds
        if self._queue and self._pos < self._fed and not self._decided and not self._released:
            return self._queue[0].since + self._limits.hold_seconds
        return None

    @property
    def holding(self) -> bool:
        return bool(self._queue) or bool(self._after)

    @property
    def held(self) -> int:
        """How many of the last bytes fed have not been handed out, those left out at their
        beginning included.
        """
        return 0 if self.passing else self._dropped + self._size + self._splitter.size

    def commit(self) -> None:
        """What was handed out has reached the client."""
        self._gone = self._shown_to

    def left_out(self) -> bytes:
        """The calls that were left out of the text that has reached the client, as text."""
        return self._as_text(self._gone)

    def _as_text(self, sent: int) -> bytes:
        taken = zip(self._places, self._calls, strict=False)
        lost = "".join(call.raw[: max(0, sent - at)] for at, call in taken)
        return encoded(chat.chunk(self._like, {"content": lost})) if lost else b""

    def feed(self, data: bytes, now: float) -> bytes:
        """What can go to the client now."""
        self._now = now
        if self.passing:
            return data
        out: list[bytes] = []
        self._splitter.add(data)
        self._events(out)
        if (
            max(self._splitter.size, self._size) > self._limits.budget.waiting_bytes
            and not self.passing
        ):
            self._give_up(out)
        return b"".join(out)

    def tick(self, now: float) -> bytes:
        """What the passing of time sets free."""
        self._now = now
        out: list[bytes] = []
        if (wake := self.wake) is not None and now >= wake:
            if self.finish:
                self.ready = True
            else:
                self._decide(out)
        return b"".join(out)

    def end(self) -> bytes:
        """The upstream has ended. Without a finish it broke off: what waited goes out as it
        came.
        """
        if self.passing or self.ready:
            return b""
        if self.finish:
            if rest := self._splitter.close():
                self._wait(rest, self._fed)
            self.ready = True
            return b""
        out: list[bytes] = []
        self._splitter.close()  # half an event is none (WHATWG HTML, 9.2.6)
        self._pass(b"", out)
        return b"".join(out)

    def found(self) -> list[Found]:
        """The calls of the answer: the upstream's own, then those in its text."""
        return calls_of(self._native, self._calls)

    @property
    def said(self) -> str:
        """The text beside the calls."""
        return "".join(self.text)

    def raw(self) -> str:
        """What the model said, for the record."""
        return "".join(self.reasoning) + "".join(self.text) + "".join(p.raw for p in self._calls)

    def write(self, settled: Decision) -> bytes:
        """The rest of the answer, with the settled calls."""
        self.passing = True
        if settled.untouched and not self._calls:
            return b"".join(w.raw for w in [*self._queue, *self._after])
        out: list[bytes] = []
        for event in [*self._queue, *(w for w in self._after if w.own)]:
            self._render(event, out)
        said = "\n".join(settled.text)
        if said:
            out.append(encoded(chat.chunk(self._like, {"content": said})))
        out += compose.call_events(settled, self._like)
        out.append(encoded(self._finished(settled)))
        return b"".join([*out, *(w.raw for w in self._after if not w.own)])

    def _finished(self, settled: Decision) -> JsonObject:
        reason = settled.finish_reason(self.finish, truncated=self.truncated)
        choice = chat.only_choice(self._last)
        if choice is None:
            return chat.chunk(self._like, {}, reason)
        return {**self._last, "choices": [{**choice, "delta": {}, "finish_reason": reason}]}

    # events, one by one or many at once

    def _events(self, out: list[bytes]) -> None:
        while not self.passing:
            if self._alike is not None and not self.finish and not self._native.calls:
                self._many(self._alike, out)
            if not (event := self._splitter.take()):
                return
            self._event(event, out)
        out.append(self._splitter.close())

    def _many(self, known: Alike, out: list[bytes]) -> None:
        """Take the events that differ in their text only, at once."""
        texts: list[str] = []
        raws: list[bytes] = []

        def read(data: bytes, at: int) -> int:
            nonlocal texts, raws
            size, texts, raws = known.read(data, at)
            return size

        events = self._splitter.take_with(read)
        if not events:
            return
        self._attempts = _LEARN
        if known.reasoning:
            self._think(texts)
            ends = [self._fed] * len(texts)
            passes = not self._queue
        else:
            start, before = self._fed, len(self._calls)
            self._take_text("".join(texts))
            ends = [start := start + len(text) for text in texts]
            whole = self._pos == self._fed and not self._queue and len(self._calls) == before
            passes = whole and not self._may_be_ghost
        if passes:
            self._through(events, out)
            return
        for event, end in zip(known.events(raws), ends, strict=True):
            self._wait(event, end, only=True)
        self._flush(out)

    def _through(self, raw: bytes, out: list[bytes]) -> None:
        out.append(raw)
        self._sent = self._fed
        self._hand_out()
        self._shown.clear()

    def _hand_out(self) -> None:
        self._shown_to, self._dropped = self._sent, 0

    def _event(self, raw: bytes, out: list[bytes]) -> None:
        data = data_of(raw)
        if data == b"[DONE]":
            return self._done(raw, out)
        document = json_object(data)
        choice = chat.only_choice(document) if document is not None else None
        if document is not None and (
            document.get("error") or (choice is None and document.get("choices"))
        ):
            self._pass(raw, out)
        elif choice is None or document is None:
            self._other(raw, out)
        else:
            self._choice(raw, document, choice, out)

    def _choice(
        self, raw: bytes, document: JsonObject, choice: JsonObject, out: list[bytes]
    ) -> None:
        delta = choice.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        self._like = self._like or document
        text = delta.get("content")
        reasoning = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(reasoning, str):
            self._think([reasoning])
        if calls := bool(delta.get("tool_calls")):
            self._native.feed(delta["tool_calls"])
            calls = bool(self._native.calls)
        if text and isinstance(text, str):
            self._take_text(text)
        finish = choice.get("finish_reason")
        if self.finish:  # more after the end
            return self._wait(raw, self._fed, own=bool(text or calls or finish))
        if finish:
            self._take(self._parser.close())
        self._wait(raw, self._fed, own=calls or bool(finish))
        if finish:
            self.finish, self._last, self._finished_at = str(finish), document, self._now
            return self._finish(out)
        if self._attempts and (text or reasoning) and not calls:
            self._attempts -= 1
            self._alike = uniform_chunks(raw, document) or self._alike
        self._flush(out)

    def _think(self, texts: list[str]) -> None:
        if self._thought < self._limits.call_bytes:
            self.reasoning += texts
            self._thought += sum(map(len, texts))

    def _wait(self, raw: bytes, end: int, *, own: bool = False, only: bool = False) -> None:
        before = self._after or self._queue
        start = before[-1].end if before else self._sent
        (self._after if self.finish else self._queue).append(
            _Waiting(raw, start, end, self._now, own, only)
        )
        self._size += len(raw)

    def _take_text(self, text: str) -> None:
        self._fed += len(text)
        self._held.append(text)
        self._take([TextPiece(text)] if self.finish else self._parser.feed(text))

    def _take(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            if isinstance(piece, CallPiece) and self._is_call(piece):
                self._calls.append(piece)
                self._places.append(self._pos)
                self.leaked += max(0, min(self._sent - self._pos, len(piece.raw)))
                self._pos += len(piece.raw)
                continue
            text = piece.text if isinstance(piece, TextPiece) else piece.raw
            self._shown.append((self._pos, text))
            if self._pos < self._limits.call_bytes:
                self.text.append(text)
            self._pos += len(text)
        if pieces:
            self._decided = self._released = False
        if self._pos >= self._fed:
            self._held.clear()

    def _is_call(self, piece: CallPiece) -> bool:
        """A call that was cut off is text, as it was written: it is never completed."""
        self.truncated = self.truncated or piece.truncated
        return not piece.truncated

    def _flush(self, out: list[bytes]) -> None:
        """Send on what waits for nothing."""
        if self._native.calls or self.finish or self._may_be_ghost:
            return
        while self._queue and (self._released or self._queue[0].end <= self._pos):
            event = self._queue.popleft()
            self._size -= len(event.raw)
            before = len(out)
            self._render(event, out)
            self._sent = event.end
            if len(out) > before:
                self._hand_out()
            else:
                self._dropped += len(event.raw)
        if not self._queue:
            self._shown.clear()
        if self._fed - self._pos > self._limits.hold_bytes:
            self._decide(out)

    def _decide(self, out: list[bytes]) -> None:
        """Text has waited long enough: it waits on only if it names an offered tool and is not
        endless.
        """
        held = self._fed - self._pos
        if held > self._limits.call_bytes:
            self._take(self._parser.release())
            self._flush(out)
        elif not self._released and not self._decided:
            text = "".join(self._held)[-held:]
            self._decided = any(name in text for name in self._context.toolset.names)
            if not self._decided:
                self._released = True
                self._shown.append((self._pos, text))
                self._flush(out)

    def _render(self, event: _Waiting, out: list[bytes]) -> None:
        """An event without the text of calls: its own bytes where it has none."""
        kept = self._visible(event.start, event.end) if self._calls or event.own else ""
        let_go = not self._calls or (self._released and event.start >= self._pos)
        if not event.own and (let_go or len(kept) == event.end - event.start):
            out.append(event.raw)
            return
        if event.only and not kept:
            return
        document = json_object(data_of(event.raw)) or {}
        choice = chat.only_choice(document) or {}
        given = choice.get("delta")
        left = given.items() if isinstance(given, dict) else ()
        delta: JsonObject = {k: v for k, v in left if k not in ("content", "tool_calls")}
        if kept or any(delta.values()) or document.get("usage"):
            more = {"logprobs": None} if "logprobs" in choice else {}
            choice = {**choice, "delta": {**delta, "content": kept}, "finish_reason": None, **more}
            out.append(encoded({**document, "choices": [choice]}))

    def _visible(self, start: int, end: int) -> str:
        """The text beside calls between two places; asked for in the order of the text."""
        shown = self._shown
        while shown and shown[0][0] + len(shown[0][1]) <= start:
            shown.popleft()
        parts = []
        for at, text in shown:
            if at >= end:
                break
            parts.append(text[max(0, start - at) : end - at])
        return "".join(parts)

    def _finish(self, out: list[bytes]) -> None:
        if not self._calls and not self._native.calls:
            self._calls = self._in_reasoning() or self._ghost()
        if not self._calls and not self._native.calls and not self._context.demanded:
            self._pass(b"", out)  # else to be settled when the answer is complete

    @property
    def _may_be_ghost(self) -> bool:
        """Whether all so far may become a call of a tool that nobody offered, and nothing else."""
        if self._strange is None and self.text:
            self._strange = begins("".join(self.text), self._context)
        return bool(self._strange) and self._sent == 0 and self._fed <= self._limits.hold_bytes

    def _ghost(self) -> list[CallPiece]:
        """The call of a tool that nobody offered, where that is the whole reply and none of it has
        gone out.
        """
        found = hallucinated_call("".join(self.text), self._context) if self._may_be_ghost else None
        if found is None:
            return []
        self._shown.clear()
        self.text.clear()
        return [found]

    def _in_reasoning(self) -> list[CallPiece]:
        """Calls that were left in the reasoning because the answer never began."""
        return [] if self.said.strip() else in_reasoning("".join(self.reasoning), self._context)

    def _other(self, raw: bytes, out: list[bytes]) -> None:
        if self._queue or self.finish:
            self._wait(raw, self._fed)
        else:
            out.append(raw)
            self._hand_out()

    def _done(self, raw: bytes, out: list[bytes]) -> None:
        if not self.finish:
            self._take(self._parser.close())
            self.finish = "tool_calls" if self._native.calls else "stop"
            self._finish(out)
            if self.passing:
                out.append(raw)
                return
        self._wait(raw, self._fed)
        self.ready = True

    def _pass(self, raw: bytes, out: list[bytes]) -> None:
        """From here on everything goes as it came; calls left out of what has gone are said as
        text.
        """
        if lost := self._as_text(self._sent):
            out.append(lost)
        out += [*(w.raw for w in self._queue), *(w.raw for w in self._after), raw]
        self._queue.clear()
        self._after.clear()
        self.passing = True

    def _give_up(self, out: list[bytes]) -> None:
        self._pass(self._splitter.close(), out)
