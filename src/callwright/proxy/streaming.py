"""One streamed chat completion on its way to the client. Bytes in, bytes out, no I/O.

Events whose text cannot begin a call go on at once, as they came. What may begin a call waits; the upstream's own
calls wait for the end of the answer. Then the caller settles them and :meth:`Streamed.write` says the rest: the very
bytes that waited where nothing was changed, else the same answer with the settled calls.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from callwright.dialects import CallPiece, Parser, Piece, TextPiece, parse_calls
from callwright.proxy.context import Context
from callwright.proxy.native import NativeCalls
from callwright.proxy.settle import Found, Settled
from callwright.proxy.sse import EventSplitter, data_of, encoded, json_object
from callwright.types import JsonObject
from callwright.wire import chat


@dataclass(frozen=True, slots=True)
class _Waiting:
    """An event that waits. ``end``: how much text had come, its own included; ``text``, ``call``: what it carries."""

    raw: bytes
    end: int
    text: bool = False
    call: bool = False


class Streamed:
    """Feed it the upstream's bytes. ``ready``: the answer is complete and waits to be settled."""

    def __init__(self, context: Context, now: float = 0.0) -> None:
        self.ready = False
        self.passing = False  # nothing can change any more: bytes are bytes
        self.finish = ""
        self.leaked = 0  # characters of calls that had gone out as text before they proved to be calls
        self.text: list[str] = []  # all that was said beside calls
        self.reasoning: list[str] = []
        self.truncated = False
        self._context = context
        self._splitter = EventSplitter()
        self._parser = Parser(context.toolset.tools)
        self._native = NativeCalls()
        self._calls: list[CallPiece] = []
        self._queue: deque[_Waiting] = deque()
        self._after: list[bytes] = []
        self._texts: list[tuple[int, str]] = []
        self._fed = self._pos = self._sent = 0
        self._held: list[str] = []
        self._since: float | None = None
        self._decided = self._released = self._edited = False
        self._like: JsonObject = {}
        self._last: JsonObject = {}
        self._now = now

    @property
    def wake(self) -> float | None:
        """When text that waits undecided has waited long enough."""
        undecided = self._since is not None and not self._decided and not self._released
        return self._since + self._context.settings.hold_seconds if undecided and self._since is not None else None

    @property
    def holding(self) -> bool:
        return bool(self._queue) or bool(self._after)

    def feed(self, data: bytes, now: float) -> bytes:
        """What can go to the client now."""
        self._now = now
        if self.passing:
            return data
        out: list[bytes] = []
        events = self._splitter.feed(data)
        for place, event in enumerate(events):
            self._event(event, out)
            if self.passing:
                out += events[place + 1 :]
                out.append(self._splitter.close())
                break
        if self._splitter.size > self._context.settings.call_bytes:
            out.append(self._give_up())
        return b"".join(out)

    def tick(self, now: float) -> bytes:
        """What the passing of time sets free."""
        self._now = now
        out: list[bytes] = []
        if (wake := self.wake) is not None and now >= wake:
            self._decide(out)
        return b"".join(out)

    def end(self) -> bytes:
        """The upstream has ended. Without a finish it broke off: what waited goes out as it came."""
        if self.passing or self.ready:
            return b""
        if self.finish:
            rest = self._splitter.close()
            self._after += [rest] if rest else []
            self.ready = True
            return b""
        return self._give_up()

    def found(self) -> list[Found]:
        """The calls of the answer: the upstream's own, then those in its text."""
        native = [Found(c.call(), n, sound=c.sound) for n, c in enumerate(self._native.calls)]
        return native + [Found(p.call, -1, p.raw, p.dialect) for p in self._calls]

    @property
    def said(self) -> str:
        """The text beside the calls."""
        return "".join(self.text)

    def raw(self) -> str:
        """What the model said, for the record."""
        return "".join(self.reasoning) + "".join(self.text) + "".join(p.raw for p in self._calls)

    def write(self, settled: Settled) -> bytes:
        """The rest of the answer, with the settled calls."""
        self.passing = True
        if settled.untouched and not self._edited and not self._calls:
            return b"".join([*(w.raw for w in self._queue), *self._after])
        out = [w.raw for w in self._queue if not w.text and not w.call]
        self._write_text(out)
        said = "\n".join(settled.text)
        if said:
            out.append(encoded(chat.chunk(self._like, {"content": said})))
        for index, sent in enumerate(settled.calls):
            for delta in chat.call_deltas(sent.call, sent.arguments, index):
                out.append(encoded(chat.chunk(self._like, {"tool_calls": [delta]})))
        out.append(encoded(self._finished(settled)))
        return b"".join([*out, *self._after])

    def _finished(self, settled: Settled) -> JsonObject:
        reason = self.finish
        if settled.calls and not (reason == "length" and self.truncated):
            reason = "tool_calls"
        elif not settled.calls and reason in ("tool_calls", "function_call"):
            reason = "stop"
        choice = chat.only_choice(self._last)
        if choice is None:
            return chat.chunk(self._like, {}, reason)
        return {**self._last, "choices": [{**choice, "delta": {}, "finish_reason": reason}]}

    def _event(self, raw: bytes, out: list[bytes]) -> None:
        data = data_of(raw)
        if data == b"[DONE]":
            return self._done(raw, out)
        document = json_object(data)
        choice = chat.only_choice(document) if document is not None else None
        if document is not None and (document.get("error") or (choice is None and document.get("choices"))):
            self._pass(raw, out)
        elif choice is None or document is None:
            self._other(raw, out)
        else:
            self._choice(raw, document, choice, out)

    def _choice(self, raw: bytes, document: JsonObject, choice: JsonObject, out: list[bytes]) -> None:
        delta = choice.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        self._like = self._like or document
        text = delta.get("content")
        reasoning = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(reasoning, str):
            self.reasoning.append(reasoning)
        calls = bool(delta.get("tool_calls"))
        if calls:
            self._native.feed(delta["tool_calls"])
        finish = choice.get("finish_reason")
        worded = bool(text) and isinstance(text, str)
        if worded:
            self._take_text(str(text))
        if finish:
            self._take(self._parser.close())
            self.finish, self._last = str(finish), document
        self._queue.append(_Waiting(raw, self._fed, worded or bool(finish), calls))
        if finish:
            self._finish(out)
        else:
            self._flush(out)

    def _take_text(self, text: str) -> None:
        self._fed += len(text)
        self._held.append(text)
        self._take(self._parser.feed(text))
        if self._pos >= self._fed:
            self._held.clear()
            self._since, self._decided, self._released = None, False, False
        elif self._since is None:
            self._since = self._now

    def _take(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            if isinstance(piece, CallPiece) and self._is_call(piece):
                self._calls.append(piece)
                self.leaked += max(0, min(self._sent - self._pos, len(piece.raw)))
                self._pos += len(piece.raw)
                continue
            text = piece.text if isinstance(piece, TextPiece) else piece.raw
            self._texts.append((self._pos, text))
            self.text.append(text)
            self._pos += len(text)

    def _is_call(self, piece: CallPiece) -> bool:
        """A call that was cut off is text, as it was written: it is never completed."""
        self.truncated = self.truncated or piece.truncated
        return not piece.truncated

    def _flush(self, out: list[bytes]) -> None:
        """Send on what waits for nothing."""
        if self._native.calls or self.finish:
            return
        if self._calls:
            self._rewrite(out)
        elif self._released:
            self._sent = self._fed
            out += [w.raw for w in self._queue]
            self._queue.clear()
        else:
            while self._queue and self._queue[0].end <= self._pos:
                event = self._queue.popleft()
                self._sent = event.end
                out.append(event.raw)
            if not self._queue:
                self._texts.clear()
            if self._fed - self._pos > self._context.settings.hold_bytes:
                self._decide(out)

    def _rewrite(self, out: list[bytes]) -> None:
        """A call was found: from here on text is written anew, without it."""
        self._edited = True
        said = sum(len(t) for _, t in self._texts)
        whole = len(self._queue) == 1 and self._pos == self._fed and said == self._fed - self._sent
        if whole and said and self._texts[0][0] == self._sent:
            out.append(self._queue[0].raw)  # this event is all text
            self._sent = self._fed
        else:
            out += [w.raw for w in self._queue if not w.text]
            self._write_text(out)
        self._texts.clear()
        self._queue.clear()
        if self._fed - self._pos > self._context.settings.hold_bytes:
            self._decide(out)

    def _write_text(self, out: list[bytes]) -> None:
        said = "".join(text[max(0, self._sent - at) :] for at, text in self._texts)
        self._sent = max(self._sent, self._pos)
        if said:
            out.append(encoded(chat.chunk(self._like, {"content": said})))

    def _decide(self, out: list[bytes]) -> None:
        """Text has waited long enough: it waits on only if it names an offered tool and is not endless."""
        if self._released:
            return
        held = self._fed - self._pos
        if not self._decided and held <= self._context.settings.call_bytes:
            text = "".join(self._held)[-held:]
            self._decided = any(name in text for name in self._context.toolset.names)
        if not self._decided or held > self._context.settings.call_bytes:
            self._released = True
            if self._edited:
                said = "".join(self._held)[-held:]
                out.append(encoded(chat.chunk(self._like, {"content": said})))
                self._sent = self._fed
            self._flush(out)

    def _finish(self, out: list[bytes]) -> None:
        if not self._calls and not self._native.calls:
            self._calls = self._in_reasoning()
        if self._calls or self._native.calls or self._context.demanded:
            return  # to be settled when the answer is complete
        if self._edited:
            return
        self._pass(b"", out)

    def _in_reasoning(self) -> list[CallPiece]:
        """Calls that were left in the reasoning because the answer never began."""
        if "".join(self.text).strip() or not self.reasoning or self._context.choice == "none":
            return []
        parsed = parse_calls("".join(self.reasoning), self._context.toolset.tools)
        complete = parsed.calls[:-1] if parsed.truncated else parsed.calls
        names = self._context.toolset.names
        return [CallPiece(c, "", parsed.dialect or "reasoning") for c in complete if c.tool in names]

    def _other(self, raw: bytes, out: list[bytes]) -> None:
        if self.finish:
            self._after.append(raw)
        elif self._queue:
            self._queue.append(_Waiting(raw, self._fed))
        else:
            out.append(raw)

    def _done(self, raw: bytes, out: list[bytes]) -> None:
        if not self.finish:
            self._take(self._parser.close())
            self.finish = "tool_calls" if self._native.calls else "stop"
            self._finish(out)
            if self.passing:
                out.append(raw)
                return
        self._after.append(raw)
        self.ready = True

    def _pass(self, raw: bytes, out: list[bytes]) -> None:
        out += [w.raw for w in self._queue]
        self._queue.clear()
        out.append(raw)
        self.passing = True

    def _give_up(self) -> bytes:
        out: list[bytes] = []
        if self._edited:
            self._take(self._parser.close())
            self._write_text(out)
            self._queue.clear()
        self._pass(self._splitter.close(), out)
        return b"".join(out)
