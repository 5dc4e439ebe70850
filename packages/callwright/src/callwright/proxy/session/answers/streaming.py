"""One streamed chat completion on its way to the client. Bytes in, bytes out, no I/O.

Events whose text cannot begin a call go on at once, as they came. What may begin a call waits; the
upstream's own calls wait for the end of the answer. Then the caller settles them and
:meth:`Streamed.write` says the rest: the very bytes that waited where nothing was changed, else the
same answer with the settled calls. What goes out depends on the events alone, never on how the
network cut them.
"""

from __future__ import annotations

from dataclasses import dataclass

from callwright.nouns.types import JsonObject
from callwright.proxy.apis.uniform_chunks import Alike, uniform_chunks
from callwright.proxy.session import words
from callwright.proxy.session.answers import compose
from callwright.proxy.session.answers.answer import collect_calls
from callwright.proxy.session.answers.answer_text import AnswerText
from callwright.proxy.session.answers.native import CALLS, NativeCalls
from callwright.proxy.session.answers.outbox import Outbox, Waiting
from callwright.proxy.session.answers.sse import (
    EventSplitter,
    encode_event,
    extract_data,
    json_object,
)
from callwright.proxy.session.context import Context
from callwright.proxy.session.decision.decision import Decision, Found
from callwright.proxy.session.faults import OverBudget
from callwright.tools.lists import chat_messages as chat

_LEARN = 8  # attempts a stream to find what its events have in common


@dataclass(slots=True)
class EventForm:
    """The known form of the upstream's events. ``first`` is like the events of our own; ``last``
    carries the finish; ``uniform``: those that differ in their text only are read at once;
    ``attempts`` to find what they have in common.
    """

    first: JsonObject
    last: JsonObject
    uniform: Alike | None = None
    attempts: int = _LEARN

    def learn(self, raw: bytes, document: JsonObject) -> None:
        if self.attempts:
            self.attempts -= 1
            self.uniform = uniform_chunks(raw, document) or self.uniform


class Streamed:
    """Feed it the upstream's bytes. ``ready``: the answer is complete and waits to be settled."""

    def __init__(self, context: Context, now: float = 0.0) -> None:
        self.ready = False
        self.passing = False  # nothing can change any more: bytes are bytes
        self.finish = ""
        self._context = context
        self._limits = context.settings
        self._splitter = EventSplitter()
        self._native = NativeCalls()
        self._form = EventForm({}, {})
        self._answer = AnswerText(context)
        self._outbox = Outbox()
        self._said = ""  # text of our own that has gone out behind the answer's
        self._now = now
        self._finished_at = now

    @property
    def wake(self) -> float | None:
        """Return the time at which waiting output is due. Such output is undecided text, or the end
        of an answer that has its finish.
        """
        if self.finish and not self.ready and not self.passing:
            return self._finished_at + self._limits.hold_seconds
        answer, queue = self._answer, self._outbox.queue
        if queue and not answer.is_whole and not answer.is_kept and not answer.is_released:
            return queue[0].since + self._limits.hold_seconds
        return None

    @property
    def holding(self) -> bool:
        return bool(self._outbox.queue) or bool(self._outbox.after)

    @property
    def unsent_size(self) -> int:
        """Return the number of last input bytes that have not been handed out. Bytes left out at
        their beginning count too.
        """
        if self.passing:
            return 0
        return self._outbox.dropped + self._outbox.size + self._splitter.size

    @property
    def leaked(self) -> int:
        """Characters of calls that had gone out as text before they proved to be calls."""
        return self._outbox.leaked

    def commit(self) -> None:
        """Record that the output handed out so far has reached the client."""
        self._outbox.delivered = self._outbox.handed

    def left_out(self) -> bytes:
        """The calls that were left out of the text that has reached the client, as text."""
        return self._as_text(self._outbox.delivered)

    def _as_text(self, sent: int) -> bytes:
        lost = self._answer.lost(sent)
        return encode_event(chat.build_chunk(self._form.first, {"content": lost})) if lost else b""

    def feed(self, data: bytes, now: float) -> bytes:
        """Add upstream data, and return the bytes that can go to the client now."""
        self._now = now
        if self.passing:
            return data
        out: list[bytes] = []
        self._splitter.add(data)
        self._events(out)
        waiting = max(self._splitter.size, self._outbox.size)
        if waiting > self._limits.budget.waiting_bytes and not self.passing:
            if self._limits.guard == "on":  # nothing may pass that the guard has not seen
                raise OverBudget("the answer is too long to be held back", everywhere=True)
            self._pass(self._splitter.close(), out)
        return b"".join(out)

    def tick(self, now: float) -> bytes:
        """Return the bytes that become due as time passes."""
        self._now = now
        out: list[bytes] = []
        if (wake := self.wake) is not None and now >= wake:
            if self.finish:
                self.ready = True
            else:
                self._decide(out)
        return b"".join(out)

    def end(self) -> bytes:
        """The upstream has ended. Without a finish it broke off."""
        if self.passing or self.ready:
            return b""
        if self.finish:
            if rest := self._splitter.close():
                self._wait(rest, self._answer.fed)
            self.ready = True
            return b""
        out: list[bytes] = []
        self._splitter.close()  # half an event is none (WHATWG HTML, 9.2.6)
        self._break_off(b"", out)
        return b"".join(out)

    def found(self) -> list[Found]:
        """The calls of the answer: the upstream's own, then those in its text."""
        return collect_calls(self._native, self._answer.calls)

    @property
    def text_beside_calls(self) -> str:
        """The text beside the calls."""
        return self._answer.text

    @property
    def text_in_words(self) -> str | None:
        """The same without reasoning; None where words have gone out, or something else than text
        is said.
        """
        return self._answer.text_in_words if self._answer.may_lack_words else None

    @property
    def words(self) -> str | None:
        """The text beside calls, without reasoning; None where something else than text is said."""
        return None if self._answer.is_else else self._answer.text_in_words

    @property
    def removed(self) -> tuple[str, ...]:
        """Leftovers of a chat template that are left out."""
        return tuple(self._answer.removed)

    def drop_words(self) -> None:
        """Leave out the text that waits because it says nothing in words."""
        self._answer.drop_words(self._outbox)

    def raw(self) -> str:
        """Return the raw text of the model, for the record."""
        answer = self._answer
        return "".join([*answer.reasoning, *answer.beside, *(p.raw for p in answer.calls)])

    @property
    def may_say(self) -> bool:
        """Return True if text of our own can follow: none of the answer's own text waits."""
        outbox = self._outbox
        return not any(outbox.visible(one.start, one.end) for one in outbox.queue)

    def say(self, text: str) -> bytes:
        """Text of our own, behind all that has gone out."""
        self._said += text
        return encode_event(chat.build_chunk(self._form.first, {"content": text}))

    def write(self, settled: Decision) -> bytes:
        """The rest of the answer, with the settled calls."""
        self.passing = True
        outbox = self._outbox
        if settled.untouched and not self._answer.has_gaps:
            return b"".join(w.raw for w in [*outbox.queue, *outbox.after])
        out: list[bytes] = []
        for event in [*outbox.queue, *(w for w in outbox.after if w.own)]:
            self._render(event, out)
        said = compose.find_rest("\n".join(settled.text), self._said)
        if said:
            out.append(encode_event(chat.build_chunk(self._form.first, {"content": said})))
        out += compose.encode_calls(settled, self._form.first)
        out.append(encode_event(self._finished(settled)))
        return b"".join([*out, *(w.raw for w in outbox.after if not w.own)])

    def _finished(self, settled: Decision) -> JsonObject:
        reason = settled.finish_reason(self.finish, truncated=self._answer.is_truncated)
        choice = chat.only_choice(self._form.last)
        if choice is None:
            return chat.build_chunk(self._form.first, {}, reason)
        finished = {**choice, "delta": {}, "finish_reason": reason}
        return {**self._form.last, "choices": [finished]}

    # events, one by one or many at once

    def _events(self, out: list[bytes]) -> None:
        while not self.passing:
            uniform = self._form.uniform
            if uniform is not None and not self.finish and not self._native:
                self._many(uniform, out)
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
        self._form.attempts = _LEARN
        answer, outbox = self._answer, self._outbox
        if known.reasoning:
            answer.think(texts)
            ends = [answer.fed] * len(texts)
            passes = not outbox.queue
        else:
            start = answer.fed
            gone = answer.left_out
            self._take_text("".join(texts), out)
            ends = [start := start + len(text) for text in texts]
            whole = answer.is_whole and not outbox.queue and answer.left_out == gone
            passes = whole and not self._may_be_hallucinated and answer.held_from is None
        if passes:
            out.append(events)
            outbox.pass_through(answer.fed)
            return
        for event, end in zip(known.events(raws), ends, strict=True):
            self._wait(event, end, only=True)
        self._flush(out)

    def _event(self, raw: bytes, out: list[bytes]) -> None:
        data = extract_data(raw)
        if data == b"[DONE]":
            return self._done(raw, out)
        document = json_object(data)
        choice = chat.only_choice(document) if document is not None else None
        if document is not None and document.get("error"):
            self._break_off(raw, out)
        elif document is not None and choice is None and document.get("choices"):
            self._pass(raw, out)
        elif choice is None or document is None:
            self._other(raw, out)
        else:
            self._choice(raw, document, choice, out)

    def _choice(
        self, raw: bytes, document: JsonObject, choice: JsonObject, out: list[bytes]
    ) -> None:
        answer = self._answer
        delta = choice.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        self._form.first = self._form.first or document
        text = delta.get("content")
        reasoning = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(reasoning, str):
            answer.think([reasoning])
        answer.is_else = answer.is_else or any(delta.get(key) for key in words.OTHER_MEANS)
        calls = self._native.feed(delta)
        if text and isinstance(text, str):
            self._take_text(text, out)
        finish = choice.get("finish_reason")
        if self.finish:  # more after the end
            return self._wait(raw, answer.fed, own=bool(text or calls or finish))
        if finish:
            answer.close(self._outbox)
        self._wait(raw, answer.fed, own=calls or bool(finish))
        if finish:
            self.finish, self._form.last, self._finished_at = str(finish), document, self._now
            return self._finish(out)
        if (text or reasoning) and not calls:
            self._form.learn(raw, document)
        self._flush(out)

    def _wait(self, raw: bytes, end: int, *, own: bool = False, only: bool = False) -> None:
        event = Waiting(raw, self._outbox.next_start, end, self._now, own, only)
        self._outbox.wait(event, is_over=bool(self.finish))

    def _take_text(self, text: str, out: list[bytes]) -> None:
        self._answer.feed(text, self._outbox, is_over=bool(self.finish))
        if restored := self._answer.take_restored():
            out.append(encode_event(chat.build_chunk(self._form.first, {"content": restored})))

    def _flush(self, out: list[bytes]) -> None:
        """Send on what waits for nothing."""
        if self._native or self.finish or self._may_be_hallucinated:
            return
        answer, outbox = self._answer, self._outbox
        queue = outbox.queue
        held = answer.held_from
        while queue and (answer.is_released or queue[0].end <= answer.decided):
            if held is not None and queue[0].end > held:
                break
            event = queue.popleft()
            outbox.size -= len(event.raw)
            before = len(out)
            self._render(event, out)
            outbox.sent = event.end
            if len(out) > before:
                outbox.hand_out()
            else:
                outbox.dropped += len(event.raw)
        if not queue:
            outbox.shown.clear()
        if answer.fed - answer.decided > self._limits.hold_bytes:
            self._decide(out)

    def _decide(self, out: list[bytes]) -> None:
        """Text has waited long enough: it waits on only if it names an offered tool and is not
        endless.
        """
        if self._answer.fed - self._answer.decided > self._limits.call_bytes:
            self._answer.release(self._outbox)
            self._flush(out)
        elif self._answer.keep_or_release(self._outbox):
            self._flush(out)

    def _render(self, event: Waiting, out: list[bytes]) -> None:
        """An event without the text of calls: its own bytes where it has none."""
        answer = self._answer
        kept = self._outbox.visible(event.start, event.end) if answer.has_gaps or event.own else ""
        let_go = not answer.has_gaps or (answer.is_released and event.start >= answer.decided)
        if not event.own and (let_go or len(kept) == event.end - event.start):
            out.append(event.raw)
            return
        if event.only and not kept:
            return
        document = json_object(extract_data(event.raw)) or {}
        choice = chat.only_choice(document) or {}
        given = choice.get("delta")
        left = given.items() if isinstance(given, dict) else ()
        delta: JsonObject = {k: v for k, v in left if k not in ("content", *CALLS)}
        if kept or any(delta.values()) or document.get("usage"):
            more = {"logprobs": None} if "logprobs" in choice else {}
            choice = {**choice, "delta": {**delta, "content": kept}, "finish_reason": None, **more}
            out.append(encode_event({**document, "choices": [choice]}))

    def _finish(self, out: list[bytes]) -> None:
        if not self._answer.calls and not self._native:
            self._answer.find_late_calls(self._outbox, is_cut=self.finish == "length")
        answer = self._answer
        is_changed = answer.calls or self._native or answer.has_gaps
        if not is_changed and not self._context.demanded and not answer.may_lack_words:
            self._pass(b"", out)  # else to be settled when the answer is complete

    @property
    def _may_be_hallucinated(self) -> bool:
        return self._answer.may_be_hallucinated(self._outbox.sent)

    def _other(self, raw: bytes, out: list[bytes]) -> None:
        if self._outbox.queue or self.finish:
            self._wait(raw, self._answer.fed)
        else:
            out.append(raw)
            self._outbox.hand_out()

    def _done(self, raw: bytes, out: list[bytes]) -> None:
        if not self.finish:
            self._answer.close(self._outbox)
            self.finish = "tool_calls" if self._native else "stop"
            self._finish(out)
            if self.passing:
                out.append(raw)
                return
        self._wait(raw, self._answer.fed)
        self.ready = True

    def _break_off(self, raw: bytes, out: list[bytes]) -> None:
        """There is no whole answer: all goes as it came, but for the upstream's own calls, on which
        nobody has decided.
        """
        if self._native:
            for event in self._outbox.queue:
                self._render(event, out)
            self._outbox.queue.clear()
        self._pass(raw, out)

    def _pass(self, raw: bytes, out: list[bytes]) -> None:
        """From here on everything goes as it came; calls left out of what has gone are said as
        text.
        """
        if lost := self._as_text(self._outbox.sent):
            out.append(lost)
        out += [*self._outbox.empty(), raw]
        self.passing = True
