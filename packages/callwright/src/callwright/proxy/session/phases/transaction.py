"""One request of a client, and what has become of it: what the phases of a session share."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from callwright.nouns.errors import Failure
from callwright.nouns.types import JsonObject, Reply, ToolCall
from callwright.proxy.apis.adapters import Front, Plain, Writer
from callwright.proxy.server.headers import filter_downstream
from callwright.proxy.server.outbound import Outbound
from callwright.proxy.session.answers import compose
from callwright.proxy.session.answers.completion import Whole
from callwright.proxy.session.answers.form import Form
from callwright.proxy.session.answers.streaming import Streamed
from callwright.proxy.session.context import Context
from callwright.proxy.session.decision.decision import Decision, Question
from callwright.proxy.session.events import (
    Command,
    Event,
    Finish,
    Keep,
    Log,
    Request,
    SendBody,
    SendHead,
    SendUpstream,
    UpstreamHead,
)
from callwright.proxy.session.faults import Progress
from callwright.proxy.session.final_call import FinalCall
from callwright.proxy.session.record import Record
from callwright.proxy.session.settings import Settings

T = TypeVar("T")

Steps: TypeAlias = Generator[list[Command], Event, T]
"""A phase: yields the commands that follow from an event, is sent the next event. Commands that
follow from its last event stay in the transaction.
"""


TakeUp: TypeAlias = Callable[[ToolCall], Generator[Question, Reply, Decision | None]]


@dataclass(slots=True, kw_only=True)
class ClientSide:
    """The answer to the client, in its API.

    ``commands`` are those that the event under way, which came at ``now``, has led to so far.
    ``front`` is None where the client speaks chat completions itself. ``wants_several``: the client
    asks for more than one choice.
    """

    record: Record
    progress: Progress = field(default_factory=Progress)
    front: Front | None = None
    writer: Writer = field(default_factory=Plain)
    stream: bool = False  # whether the client waits for a stream, or has been sent its head
    wants_several: bool = False
    started: float = 0.0
    now: float = 0.0
    commands: list[Command] = field(default_factory=list)

    def send_head(
        self, head: UpstreamHead, *, length: int | None = None, is_unchanged: bool = False
    ) -> None:
        """Send the head of an answer whose body has this length, or with ``is_unchanged`` passes as
        it came.
        """
        self.progress.head_sent = True
        kept = filter_downstream(head.headers, length=is_unchanged and self.front is None)
        if self.front is not None:
            kept = self.writer.head(head.status, kept)
        elif length is not None:
            kept["content-length"] = str(length)
        cookies = (("set-cookie", value) for value in head.cookies)
        self.commands.append(SendHead(head.status, (*kept.items(), *cookies, *self.record.marks())))

    def write(self, data: bytes, unsent_size: int = 0) -> None:
        """Send a piece of the answer; ``unsent_size`` bytes of what has come are still to
        follow.
        """
        data = self.writer.feed(data) if data else b""
        if data:
            self.commands.append(SendBody(data))
        if data or self.front is None:  # else its translation waits for more of it
            self.progress.tape.keep(unsent_size)

    def reply(self, status: int, body: bytes) -> None:
        """Send a whole answer of our own."""
        given = [("content-type", "application/json"), ("content-length", str(len(body)))]
        head = SendHead(status, (*given, *self.record.marks()))
        self.commands += [head, SendBody(body), Finish()]

    def refuse(self, status: int, message: str, body: bytes = b"") -> None:
        """Send an error of our own, in the shape of the API that the client speaks; or this
        body.
        """
        self.record.status, self.record.outcome = status, "failed"
        self.record.notes.append(message)
        compose_error = compose.compose_error if self.front is None else self.front.error
        self.reply(status, body or compose_error(status, message))
        self.commands.append(Log(self.record))

    def break_off(self) -> None:
        """End an answer of which no more can be told than that it broke off."""
        self.commands += [Finish(broken=True), Log(self.record)]


@dataclass(slots=True, kw_only=True)
class Transaction(ClientSide):
    """One request and its answer.

    ``context`` is None where no calls are read. ``bare`` is the client's request translated and
    otherwise untouched, None where it needs no translation. ``answer`` is the upstream's answer to
    the client's own request, ``decision`` what became of its calls. ``asking`` says what the
    upstream is asked for: "free" for what the client asks, "" where nothing is read, or the kind of
    a question of ours; ``head`` is that of the last answer to such a question, and ``live`` an
    answer of our own making of which a part has gone out. ``final_call``: how a client that demands
    a call is told an answer. ``take_up``: decides on a call of a tool that nobody offered, where
    the answer is nothing else.
    """

    settings: Settings
    outbound: Outbound = field(default_factory=lambda: Outbound(Request("GET", "/")))
    bare: SendUpstream | None = None
    context: Context | None = None
    answer: Streamed | Whole | None = None
    decision: Decision = field(default_factory=Decision)
    form: Form | None = None  # of the JSON that the client asks for
    head: UpstreamHead | None = None
    live: compose.LiveCompletion | None = None
    final_call: FinalCall | None = None
    asking: str = ""
    failure: Failure | None = None  # why the last question of ours got no answer
    take_up: TakeUp | None = None
    # runs what must not be cut off for taking long
    unmetered: Callable[[Callable[[], None]], None] = lambda load: load()

    @property
    def streamed(self) -> Streamed | None:
        """Return the upstream's answer to the client's own request where it is a stream."""
        return self.answer if isinstance(self.answer, Streamed) else None

    @property
    def may_say(self) -> bool:
        """Return True if text of our own can be sent before the whole answer is known."""
        streamed = self.streamed
        if self.final_call is not None:
            return False
        is_begun = streamed is not None and self.progress.head_sent and streamed.may_say
        return self.record.stream and (self.answer is None or is_begun)

    def say(self, text: str, reply: Reply) -> None:
        """Send a piece of text of our own, whose rest follows: behind the upstream's answer where
        that has begun.
        """
        if self.streamed is not None:
            return self.write(self.streamed.say(text), self.streamed.unsent_size)
        if self.live is None:
            self.live = compose.LiveCompletion(reply, self.record)
            cookies = self.head.cookies if self.head is not None else ()
            self.send_head(UpstreamHead(200, compose.STREAM, cookies))
        self.write(self.live.say(text))

    def send_own(self, made: Decision, reply: Reply, asked: JsonObject) -> None:
        """Send an answer of our own making, made from ``reply`` to the request ``asked``; or its
        rest, where a part has gone out.
        """
        if self.live is not None:
            self.write(self.live.end(made, reply, compose.wants_usage(asked)))
            return self.finish()
        headers, body = compose.compose_answer(made, reply, self.record, asked)
        cookies = self.head.cookies if self.head is not None else ()
        self.send_head(UpstreamHead(200, headers, cookies), length=len(body))
        self.write(body)
        return self.finish()

    def finish(self) -> None:
        """End an answer that is complete. Where this raises, no command is added."""
        rest = self.writer.end()
        self.record.seconds = self.now - self.started
        out: list[Command] = [SendBody(rest)] if rest else []
        self.commands += [*out, Finish(), *self.list_log(), *self._list_kept()]

    def fail(self, failure: Failure) -> None:
        """End an answer that will not come, or broke off: the client is told, after what had been
        held back.
        """
        self.record.notes.append(failure.message)
        self.end_in_error(504 if failure.kind == "timeout" else 502, f"upstream: {failure.message}")

    def end_in_error(self, status: int, message: str) -> None:
        """End an answer with an error: with this status, or in a stream that has begun, after what
        had been held back.
        """
        self.record.outcome = "failed"
        if not self.progress.head_sent:
            self.refuse(status, message)
        elif self.stream:
            self.write(self.streamed.end() if self.streamed is not None else b"")
            self.write(b"\n\n" + compose.encode_error(message))  # half an event may have gone out
            self.finish()
        else:
            self.break_off()

    def list_log(self) -> list[Command]:
        """Return the record's command where the request was read, or we failed over it."""
        if self.context is not None:
            return [Log(self.record, self.context.toolset.undeclared)]
        return [Log(self.record)] if self.form is not None or self.record.fault else []

    def _list_kept(self) -> list[Command]:
        """The conversation with its answer, where somebody keeps those with a repaired call."""
        context, answer, made = self.context, self.answer, self.decision
        is_wanted = self.settings.keep and self.record.outcome != "failed"
        if not is_wanted or context is None or (answer is None and not made.calls):
            return []
        text = answer.text_beside_calls if answer is not None else ""
        return [Keep(context.body, compose.compose_message(made, text), tuple(made.repaired))]
