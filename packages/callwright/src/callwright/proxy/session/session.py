"""One request through the proxy, without I/O: events in, commands out.

A chat request that offers tools is read, its history repaired, sent on; its answer passes with its
bytes until a call turns up, which is settled (see :mod:`callwright.proxy.session.decide`), with
questions to the upstream where the budget grants them. Everything else passes as it is. Other APIs
are turned into chat completions and back by their front.

A fault of our own never costs the client an answer that the upstream gave: from then on the
request, or what has come of its answer, passes as it came, and the fault is told by a header, the
record and a command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from callwright.nouns.errors import Failure
from callwright.nouns.types import JsonObject, Reply, ToolCall
from callwright.proxy.apis.adapters import ANSWERS, FRONTS, Front, Plain, Writer
from callwright.proxy.apis.translated import BadRequest
from callwright.proxy.server import headers
from callwright.proxy.server.budget import Allowance, count_items
from callwright.proxy.server.meter import Meter, Unmetered
from callwright.proxy.server.outbound import CHAT, Outbound
from callwright.proxy.session import compose, context, guided, history
from callwright.proxy.session import followup as again
from callwright.proxy.session.collected import Collected
from callwright.proxy.session.completion import Whole
from callwright.proxy.session.context import Context, Toolsets
from callwright.proxy.session.decide import Decision, DecisionSteps, Found, decide_calls
from callwright.proxy.session.events import (
    ClientGone,
    CloseUpstream,
    Command,
    Event,
    Finish,
    Headers,
    Keep,
    Learned,
    Log,
    Probe,
    Probed,
    Request,
    SendBody,
    SendHead,
    Tick,
    UpstreamData,
    UpstreamEnd,
    UpstreamFailed,
    UpstreamHead,
)
from callwright.proxy.session.faults import (
    OVER_BUDGET,
    OverBudget,
    Progress,
    build_fault,
    is_fault,
    name_fault,
)
from callwright.proxy.session.record import Record
from callwright.proxy.session.settings import Settings
from callwright.proxy.session.sse import json_bytes, json_object
from callwright.proxy.session.streaming import Streamed

_CHATS = frozenset({CHAT, "/chat/completions"})

_UNSUPPORTED = frozenset({400, 404, 415, 422, 501})  # what servers say to what they do not do


def is_read(request: Request) -> bool:
    """Return True if the proxy reads this request; all others pass unchanged."""
    return request.method == "POST" and (
        request.path in _CHATS or request.path in FRONTS or request.path in ANSWERS
    )


Phase = Literal["start", "probe", "pass", "guided", "answer", "refused", "question", "over"]


class Session:
    """Feed events to :meth:`handle` in order, do what it returns in order; call it with Tick at
    :attr:`wake`.

    ``guided``: whether this upstream is known to do without (False) or with (True); None asks with
    a Probe.
    """

    def __init__(
        self,
        settings: Settings,
        toolsets: Toolsets,
        number: str = "0",
        *,
        local: bool = False,
        fronts: Mapping[str, Front] = FRONTS,
        meter: Meter | None = None,
        allowance: Allowance | None = None,
    ) -> None:
        self._settings = settings
        self._toolsets = toolsets
        self._fronts = fronts
        self._meter = meter or Unmetered()
        self._allowance = allowance or Allowance.worker(settings.budget)
        self._local = local
        self._phase: Phase = "start"
        self._request = Request("GET", "/")
        self._outbound = Outbound(self._request)
        self._context: Context | None = None
        self._front: Front | None = None
        self._writer: Writer = Plain()
        self._streamed: Streamed | None = None
        self._settling: DecisionSteps | None = None
        self._decision: Decision | None = None
        self._whole: Whole | None = None
        self._collected = Collected(settings.budget.read_bytes)
        self._reply = Reply("")
        # the question under way, sent once more if its connection breaks
        self._again: Command | None = None
        self._refused = False  # whether the upstream refused the client's own request
        self.asking = ""  # what the upstream is asked for: free, or the kind of our own question
        self._ended = False  # whether the upstream request under way is over
        self._status = 200
        self._headers: Mapping[str, str] = {}
        self._cookies: Headers = ()
        self._stream = False
        self._started = self._quiet_since = 0.0
        self._at = Progress()
        self._bare = self._outbound.unchanged()  # the client's request with nothing done to it
        self._emitted: list[Command] = []  # for the client, by the event under way
        self.record = Record(number, "")

    @property
    def wake(self) -> float | None:
        """Return the time at which a Tick is due; None while nothing waits."""
        times = []
        if self._silent:
            times.append(self._quiet_since + self._settings.keep_alive_seconds)
        if (
            self._phase == "answer"
            and self._streamed is not None
            and self._streamed.wake is not None
        ):
            times.append(self._streamed.wake)
        return min(times, default=None)

    def handle(self, event: Event, now: float) -> list[Command]:
        """Return the commands that follow from an event. Raises only exceptions that end the
        process.
        """
        self._emitted = []
        self._at.note(event)
        try:
            commands = self._metered(event, now)
        except BaseException as error:
            self._meter.stop()
            if not is_fault(error):
                raise
            if self._is_for_the_worker(error):
                self._at.head_sent = False  # if it was, then by commands that nobody carries out
                raise
            commands = self._pass_on(error, event, now)
        self._at.commit(commands, own=self.asks_own)
        if commands and self._at.head_sent:
            self._quiet_since = now
            self.record.first_byte = self.record.first_byte or now - self._started
        return commands

    @property
    def progress(self) -> Progress:
        """Return the progress of the request."""
        return self._at

    @property
    def asks_own(self) -> bool:
        """Return True if the upstream is answering the client's own request, and not a question of
        the proxy.
        """
        return self._phase in ("answer", "pass")

    @property
    def unsent_size(self) -> int:
        """Return the number of last bytes of the answer that have not been sent. Only the answer to
        the client's own request counts.
        """
        return self._at.tape.size

    def _metered(self, event: Event, now: float) -> list[Command]:
        self._meter.start(self._allowance.seconds)
        try:
            return self._handle(event, now)
        finally:
            self._meter.stop()

    def _is_for_the_worker(self, error: BaseException) -> bool:
        moves = isinstance(error, OverBudget) and not error.everywhere
        return (
            moves
            and not self._allowance.final
            and not self._at.head_was_sent
            and self._at.tape.complete
        )

    def _handle(self, event: Event, now: float) -> list[Command]:
        match event:
            case UpstreamData(data):
                return self._data(data, now)
            case UpstreamHead(status, given, cookies):
                if self._streamed is None and self._whole is None:  # else of a question of ours
                    self._headers, self._cookies = (
                        given,
                        tuple(("set-cookie", value) for value in cookies),
                    )
                return self._head(status, given, now)
            case UpstreamEnd():
                return self._end(now)
            case Request():
                self._take(event)
                return self._begin(event, now)
            case Probed():
                return self._probed(event)
            case UpstreamFailed(failure):
                return self._failed(failure, now)
            case Tick():
                return self._tick(now)
            case ClientGone():
                return self._gone(now)

    @property
    def _silent(self) -> bool:
        """Return True if a streaming client waits for output that cannot be sent yet."""
        waits = self._phase == "question" or (self._streamed is not None and self._streamed.holding)
        waits = waits or (
            self._front is not None and self._phase in ("answer", "pass")
        )  # it may leave thoughts out
        return waits and self._at.head_sent and self._stream and bool(self._writer.keep_alive)

    @property
    def _can_do_without_tools(self) -> bool:
        """Return True if a request that was refused, perhaps for its tools, can be repeated without
        them.
        """
        known = self._context
        return known is not None and known.schema and not known.native and not self._refused

    def _take(self, request: Request) -> None:
        self._request, self._outbound = request, Outbound(request)
        self._bare = self._outbound.unchanged()
        self.record.path = request.path

    def _begin(self, request: Request, now: float) -> list[Command]:
        self._started = now
        self._phase = "pass"
        self._front = self._fronts.get(request.path) if request.method == "POST" else None
        self._outbound = Outbound(request, self._front is not None)
        answer = ANSWERS.get(request.path) if request.method == "POST" else None
        ours = self._front is not None or answer is not None
        if not ours and (request.method != "POST" or request.path not in _CHATS):
            return [self._outbound.unchanged()]
        body = json_object(request.body)
        if body is None:
            return (
                self._refuse(400, "the body is no JSON object")
                if ours
                else [self._outbound.unchanged()]
            )
        try:
            return self._reply_with(200, answer(body)) if answer is not None else self._chat(body)
        except BadRequest as exc:
            return self._refuse(400, str(exc))

    def _chat(self, body: JsonObject) -> list[Command]:
        raw, came = self._request.body, body
        if self._front is not None:
            writer = self._front.writer(body)
            body = self._front.request(body)
            raw = json_bytes(body)
            self._writer, self._bare = writer, self._outbound.chat(raw)
        if (items := count_items(body)) > self._allowance.items:
            raise OverBudget(f"{items} items")
        body = self._toolsets.apply_overlay(body)
        mended, edits = history.pair_messages(body.get("messages"))
        if edits:
            body = {**body, "messages": mended}
            self.record.edits += edits
        self._stream = body.get("stream") is True
        self.record.stream, self.record.model = self._stream, str(body.get("model") or "")
        self._context = context.read_context(body, raw, self._toolsets, self._settings)
        sent = json_bytes(body) if body is not came else self._request.body
        self._answer_request = self._outbound.chat(sent)
        if self._context is None:
            return [self._answer_request]
        self._context.local = self._local
        self.record.tools = tuple(t.name for t in self._context.toolset.tools)
        return self._choose_mode()

    def _choose_mode(self) -> list[Command]:
        assert self._context is not None
        if self._settings.guided == "off" or self._context.choice == "none":
            return self._ask_freely()
        if self._settings.guided == "on":
            return self._probed(Probed(native=False, schema=True))
        self._phase = "probe"
        return [Probe(self.record.model, self._outbound.headers)]

    def _probed(self, found: Probed) -> list[Command]:
        assert self._context is not None
        self._context.native, self._context.schema = found.native, found.schema
        first = not found.native and (self._context.demanded or not found.written)
        return self._ask_guided() if found.schema and first else self._ask_freely()

    def _ask_freely(self) -> list[Command]:
        self._phase, self.asking = "answer", "free"
        if self._refused and self._context is not None:
            return [self._outbound.chat(json_bytes(guided.build_body_in_words(self._context)))]
        self._again = self._answer_request
        return [self._answer_request]

    def _ask_guided(self) -> list[Command]:
        assert self._context is not None
        self._phase = self.asking = "guided"
        self.record.guided = True
        self._again = self._outbound.question(guided.build_body(self._context))
        return [self._again]

    def _refuse(self, status: int, message: str) -> list[Command]:
        """An error of our own, in the shape of the API that the client speaks."""
        self.record.status, self.record.outcome = status, "failed"
        self.record.notes.append(message)
        body = (
            self._front.error(status, message)
            if self._front
            else compose.compose_error(status, message)
        )
        return [*self._reply_with(status, body), Log(self.record)]

    def _reply_with(self, status: int, body: bytes) -> list[Command]:
        self._phase = "over"
        given = (
            ("content-type", "application/json"),
            ("content-length", str(len(body))),
            *self.record.marks(),
        )
        return [SendHead(status, given), SendBody(body), Finish()]

    # the answer

    def _head(self, status: int, headers: Mapping[str, str], now: float) -> list[Command]:
        self._status, self._again = status, None
        if self._phase == "answer" and status in _UNSUPPORTED and self._can_do_without_tools:
            self._phase, self._refused = "refused", True
            self._at.tape.forget()
        if self._phase in ("guided", "question", "refused"):
            return []
        self.record.status = status
        if self._context is None or status != 200:
            self._phase = "pass"
        streams = headers.get("content-type", "").startswith("text/event-stream")
        if self._phase == "answer" and streams:
            self._streamed = Streamed(self._context, now)  # type: ignore[arg-type]
        elif self._phase == "answer":
            return []  # collected, and sent when it is known
        self._stream = streams
        return [self._send_head()]

    def _send_head(self, length: int | None = None) -> SendHead:
        self._at.head_sent = True
        plain = self._phase == "pass" and self._front is None
        kept = headers.filter_downstream(self._headers, length=plain)
        if self._front is not None:
            kept = self._writer.head(self._status, kept)
        if length is not None and self._front is None:
            kept["content-length"] = str(length)
        made = SendHead(self._status, (*kept.items(), *self._cookies, *self.record.marks()))
        self._emitted.append(made)
        return made

    def _data(self, data: bytes, now: float) -> list[Command]:
        if self._phase == "pass":
            return self._body(data)
        if self._phase == "answer" and self._streamed is not None:
            out = self._stream_out(self._streamed, self._streamed.feed(data, now))
            # Nothing more of the answer is to come, so the end of its connection is not waited for.
            return out + self._settle(self._streamed, now) if self._streamed.ready else out
        self._collected.add(data)
        if (
            self._phase == "answer" and self._stream and self._collected.events
        ):  # under another content type
            self._headers = {**self._headers, "content-type": "text/event-stream"}
            return [
                *self._head(self._status, self._headers, now),
                *self._data(self._collected.take(), now),
            ]
        if self._phase == "answer" and self._collected.too_long:
            raise OverBudget("the answer is too long to be read", everywhere=True)
        return []

    def _body(self, data: bytes, unsent_size: int = 0) -> list[Command]:
        """A piece of the answer for the client; ``unsent_size`` bytes of what has come are still to
        follow.
        """
        data = self._writer.feed(data) if data else b""
        made: list[Command] = [SendBody(data)] if data else []
        self._emitted += made
        if data or self._front is None:  # else its translation waits for more of it
            self._at.tape.keep(unsent_size)
        return made

    def _stream_out(self, streamed: Streamed, ready: bytes) -> list[Command]:
        made = self._body(ready, streamed.unsent_size)
        streamed.commit()
        return made

    def _end(self, now: float) -> list[Command]:
        self._ended = True
        collected = self._collected.take()
        match self._phase:
            case "pass":
                return self._finish(now)
            case "guided":
                return self._guided_end(again.parse_completion(json_object(collected)), now)
            case "refused":
                return self._ask_guided()
            case "question":
                if self.asking == "guided" and self._status in _UNSUPPORTED:
                    return [Learned(self.record.model, False), *self._step(Reply(""), now)]
                return self._step(again.parse_completion(json_object(collected)), now)
            case "answer" if self._streamed is not None:
                out = self._stream_out(self._streamed, self._streamed.end())
                return out + (
                    self._settle(self._streamed, now) if self._streamed.ready else self._broken(now)
                )
            case "answer":
                return self._whole_end(collected, now)
        return []

    def _whole_end(self, body: bytes, now: float) -> list[Command]:
        assert self._context is not None
        self._whole = Whole(body, self._context)
        if self._whole.readable:
            return self._settle(self._whole, now)
        self._phase = "pass"
        return [self._send_head(len(body)), *self._body(body), *self._finish(now)]

    def _guided_end(self, reply: Reply, now: float) -> list[Command]:
        """Calls are settled; no call, or nothing readable, and the request is asked as the client
        wrote it.
        """
        assert self._context is not None
        calls = (
            guided.read_guided_calls(reply.text, self._context.toolset.names)
            if self._status == 200
            else None
        )
        self.record.raw = reply.text
        if not calls:
            self.record.guided = False
            if self._status not in _UNSUPPORTED:
                return self._ask_freely()
            self._context.schema = False
            return [Learned(self.record.model, False), *self._ask_freely()]
        self._bound(calls)
        self.record.parsed = calls
        self._context.leave_out = True
        self._settling = decide_calls(
            [Found(c, dialect="guided") for c in calls], "", "stop", self._context
        )
        self._reply = reply
        return self._step(None, now)

    # settling

    def _bound(self, calls: Sequence[Found | ToolCall]) -> None:
        """Each call is looked at beside all others, so their number is bounded."""
        if len(calls) > self._settings.budget.calls:
            raise OverBudget(f"{len(calls)} calls in one answer", everywhere=True)

    def _settle(self, answer: Streamed | Whole, now: float) -> list[Command]:
        assert self._context is not None
        found = answer.found()
        self._bound(found)
        self.record.parsed = tuple(f.call for f in found)
        self.record.raw = answer.raw()
        self._settling = decide_calls(found, answer.text_beside_calls, answer.finish, self._context)
        return self._step(None, now)

    def _step(self, reply: Reply | None, now: float) -> list[Command]:
        assert self._settling is not None
        try:
            question = self._settling.send(reply)  # type: ignore[arg-type]
        except StopIteration as end:
            return self._settled(end.value, now)
        self._phase, self.asking = "question", question.kind
        self.record.questions += 1
        self.record.guided = self.record.guided or question.kind == "guided"
        close: list[Command] = [] if self._ended else [CloseUpstream()]
        self._ended = False
        self._again = self._outbound.question(question.body)
        return [*close, self._again]

    def _settled(self, settled: Decision, now: float) -> list[Command]:
        self._decision = settled
        leaked = self._streamed.leaked if self._streamed is not None else 0
        self.record.settled(settled, by_us=(self._streamed or self._whole) is None, leaked=leaked)
        if self._streamed is not None:
            out = self._body(self._streamed.write(settled))
        elif self._whole is not None:
            body = self._whole.write(settled)
            self._status = 200
            out = [self._send_head(len(body)), *self._body(body)]
        else:
            out = self._composed(settled)
        if self._phase == "answer" and not self._ended:
            self._phase = "pass"  # what the upstream may still send
            return out
        return out + self._finish(now)

    def _composed(self, settled: Decision) -> list[Command]:
        """An answer of our own making, to a guided question."""
        assert self._context is not None
        self._status = 200
        self._headers, body = compose.compose_answer(
            settled, self._reply, self.record, self._context.body
        )
        return [self._send_head(len(body)), *self._body(body)]

    def _keep(self, context: Context) -> list[Command]:
        """The conversation with its answer, where somebody keeps those with a repaired call."""
        answer, made = self._streamed or self._whole, self._decision or Decision()
        if (
            not self._settings.keep
            or self.record.outcome == "failed"
            or (answer is None and not made.calls)
        ):
            return []
        message = compose.compose_message(
            made, answer.text_beside_calls if answer is not None else ""
        )
        return [Keep(context.body, message, tuple(made.repaired))]

    # the rest

    def _finish(self, now: float) -> list[Command]:
        self._phase = "over"
        rest = self._writer.end()
        self.record.seconds = now - self._started
        out: list[Command] = [SendBody(rest)] if rest else []
        kept = self._keep(self._context) if self._context is not None else []
        return [*out, Finish(), *self._logged(), *kept]

    def _logged(self) -> list[Command]:
        return [Log(self.record)] if self._context is not None or self.record.fault else []

    def _broken(self, now: float) -> list[Command]:
        """The stream ended before its answer did: what there was has gone out, and the client is
        told.
        """
        if self._streamed is not None and self._streamed.passing and self._streamed.finish:
            return self._finish(now)
        return self._failed(
            Failure("unavailable", "the upstream's stream ended before its answer did"), now
        )

    def _failed(self, failure: Failure, now: float) -> list[Command]:
        again, self._again = self._again, None
        if again is not None and failure.kind == "unavailable" and failure.outcome_unknown:
            return [
                again
            ]  # most likely the upstream had closed the connection after the answer before
        if self._phase == "question":
            self._ended = True
            return self._step(Reply(""), now)
        self.record.outcome = "failed"
        self.record.notes.append(failure.message)
        if not self._at.head_sent:
            return self._refuse(
                504 if failure.kind == "timeout" else 502, f"upstream: {failure.message}"
            )
        if self._stream:
            rest = self._body(self._streamed.end() if self._streamed is not None else b"")
            said = b"\n\n" + compose.encode_error(
                f"upstream: {failure.message}"
            )  # half an event may have gone out
            return [*rest, *self._body(said), *self._finish(now)]
        self._phase = "over"
        return [Finish(broken=True), Log(self.record)]

    def _tick(self, now: float) -> list[Command]:
        out: list[Command] = []
        if self._phase == "answer" and self._streamed is not None:
            out += self._stream_out(self._streamed, self._streamed.tick(now))
            out += self._settle(self._streamed, now) if self._streamed.ready else []
        quiet = self._silent and now - self._quiet_since >= self._settings.keep_alive_seconds
        return out or ([SendBody(self._writer.keep_alive)] if quiet else [])

    def _gone(self, now: float) -> list[Command]:
        if self._phase == "over":
            return []
        self._phase = "over"
        self.record.outcome, self.record.seconds = "gone", now - self._started
        return [CloseUpstream(), *self._logged()]

    # faults of our own

    def take_over(
        self, request: Request, at: Progress, event: Event, now: float, why: BaseException
    ) -> list[Command]:
        """Go on untouched in the place of a session that is lost, or that must not be: ``at`` is
        how far it had come with ``event``, which it has not answered. Another API is still
        translated where nothing has gone out.
        """
        self._at, self._started, self._emitted = at, now, []
        self._take(request)
        front = self._fronts.get(request.path) if request.method == "POST" else None
        if front is not None and at.head_sent:
            self.record.fault, self.record.outcome, self._phase = OVER_BUDGET, "failed", "over"
            return [CloseUpstream(), Finish(broken=True), Log(self.record)]
        self._phase = "pass"
        try:
            if front is not None:
                self._translate_only(front)
            raise why
        except BaseException as error:
            if not is_fault(error) and not isinstance(error, BadRequest):
                raise
            commands = self._pass_on(error, event, now)
        at.commit(commands, own=True)
        return commands

    def _translate_only(self, front: Front) -> None:
        """Read another API's request and nothing of what it asks."""
        self._meter.start(self._allowance.seconds)
        try:
            body = json_object(self._request.body) or {}
            writer, sent = front.writer(body), json_bytes(front.request(body))
        finally:
            self._meter.stop()
        self._front, self._writer = front, writer
        self._outbound = Outbound(self._request, translated=True)
        self._bare = self._outbound.chat(sent)

    def _pass_on(self, error: BaseException, event: Event, now: float) -> list[Command]:
        """The request, or its answer, as it came, because we failed over it."""
        self.record.fault, self.record.outcome = name_fault(error), "passed"
        self.record.notes.append(
            f"the proxy failed here ({self.record.fault}); what follows passed as it came"
        )
        told: list[Command] = [build_fault(error, self.record.id)]
        try:
            return [*told, *self._untouched(event, now)]
        except BaseException as second:
            if not is_fault(second):
                raise
            told.append(build_fault(second, self.record.id))
        return [*told, *self._untranslated(event, now)]

    def _untouched(self, event: Event, now: float) -> list[Command]:
        """Return the commands that send the output so far, then the client's request or the rest of
        its answer, unchanged. Another API is still translated.
        """
        left_out = self._streamed.left_out() if self._streamed is not None else b""
        self._context = self._streamed = self._whole = self._settling = self._again = None
        close: list[Command] = [CloseUpstream()] if self._at.under_way else []
        self._phase = "over" if self._at.over or isinstance(event, ClientGone) else "pass"
        if self._phase == "over":
            return close
        if self._at.tape.head is None:
            return self._ask_untouched(event, close, now)
        self._answer_untouched(self._at.tape.head, left_out)
        made = list(self._emitted)
        if self._at.under_way == "own":
            return made
        if isinstance(event, UpstreamFailed) and self._at.was_under_way == "own":
            return [*made, *self._failed(event.failure, now)]
        return [*made, *close, *self._finish(now)]

    def _answer_untouched(self, answer: UpstreamHead, left_out: bytes) -> None:
        self._status, self._headers = answer.status, answer.headers
        self._cookies = tuple(("set-cookie", value) for value in answer.cookies)
        self._stream = answer.headers.get("content-type", "").startswith("text/event-stream")
        if not self._at.head_sent:
            self._send_head()
        rest = self._at.tape.rest()
        self._body(left_out, len(rest))
        self._body(rest)

    def _ask_untouched(self, event: Event, close: list[Command], now: float) -> list[Command]:
        if self._at.head_sent:  # an answer of our own making
            return [*self._emitted, *close, *self._finish(now)]
        if self._at.under_way == "own":
            return []
        if isinstance(event, UpstreamFailed) and self._at.was_under_way == "own":
            return self._failed(event.failure, now)
        self.record.edits.clear()
        return [*close, self._bare]

    def _untranslated(self, event: Event, now: float) -> list[Command]:
        """The same where the translation into the client's API is what fails. Of an answer that has
        begun in that API no more can be told than that it broke off.
        """
        if not self._at.head_was_sent and self._at.tape.complete:
            self._front, self._writer, self._at.head_sent = None, Plain(), False
            self._emitted = []
            self._outbound = Outbound(self._request)
            self._bare = self._outbound.unchanged()
            return self._untouched(event, now)
        self._phase = "over"
        close: list[Command] = [CloseUpstream()] if self._at.under_way else []
        return [*self._emitted, *close, Finish(broken=True), Log(self.record)]
