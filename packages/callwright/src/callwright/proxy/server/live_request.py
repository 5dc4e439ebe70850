"""One request at work: the commands of its session done, its upstream read, its client watched."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from callwright.http import HttpStream
from callwright.language.credentials import secret_values
from callwright.nouns.errors import Failure
from callwright.nouns.redaction import select_redactable
from callwright.proxy.server.capability import FREE
from callwright.proxy.server.destination import Destination
from callwright.proxy.server.headers import join_repeated
from callwright.proxy.server.request_log import Exchanged, read_tokens
from callwright.proxy.session.answers.compose import compose_error
from callwright.proxy.session.events import (
    AskRefiner,
    ClientGone,
    CloseUpstream,
    Command,
    Event,
    Faulted,
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
    SendUpstream,
    Tick,
    UpstreamData,
    UpstreamEnd,
    UpstreamFailed,
    UpstreamHead,
)
from callwright.proxy.session.faults import build_fault
from callwright.proxy.session.record import Record
from callwright.serving.own_pages import Receive, Send, encode_headers

if TYPE_CHECKING:
    from callwright.proxy.server.app import Proxy

_TAIL = 4_096  # bytes at the end of an answer in which its token counts stand


class ClientLeft(Exception):
    """The client closed its connection."""


class LiveRequest:
    """One session at work: its commands done, its upstream read, its client watched.

    Where an upstream does not answer and nothing has gone out, a new session begins with the next
    one, so that all that is known of an upstream is known of the one that answers.
    """

    def __init__(self, proxy: Proxy, number: str, send: Send) -> None:
        self._proxy = proxy
        self._session = proxy.place_session(number)
        self._send = send
        self._next: SendUpstream | Probe | AskRefiner | None = None
        self._closed = False
        self.record: Record | None = None  # what was done, once it is known
        self._secrets: tuple[str, ...] = ()
        self._alarm: asyncio.Timeout | None = None
        self._wake: float | None = None
        self._one_at_a_time = asyncio.Lock()
        self._request = Request("GET", "/")
        self.route = proxy.routes.begin("GET", "/")
        self._is_answered = False  # an upstream has answered this session
        self._has_begun = False  # something has gone out to the client
        self._tokens = (0, 0)

    def describe(self, made: Exchanged) -> Exchanged:
        """Return what a log tells of this request."""
        return replace(
            made,
            record=self.record,
            request=self._session.number,
            model=self._session.model,
            upstream=self.upstream,
            tokens=self._tokens,
            secrets=self._secrets,
        )

    async def run(self, request: Request) -> None:
        """From the request to the end of the answer."""
        routes = self._proxy.routes
        self._secrets = select_redactable(
            [*secret_values(dict(request.headers)), *(d.key.reveal() for d in routes.destinations)]
        )
        self._request, self.route = request, routes.begin(request.method, request.path)
        await self.route.choose()
        await self.event(request)
        while (command := self._next) is not None:
            self._next, self._closed = None, False
            if isinstance(command, Probe):
                await self.event(await self._found(command))
            elif isinstance(command, AskRefiner):
                await self.event(await self._proxy.refine(command, self._session.number))
            else:
                await self._ask(command)

    async def _found(self, probe: Probe) -> Probed:
        chosen = self.route.chosen
        if chosen is None:
            return FREE
        capability, model = self._proxy.capabilities[chosen.name], chosen.models.get(probe.model)
        try:
            headers = chosen.filter_headers(probe.headers)
            return await capability.of(model, headers, asks=probe.asks)
        except Exception as error:
            self._proxy.fault(build_fault(error, self._session.number))
            return FREE

    async def watch(self, receive: Receive) -> None:
        """Wait for the client to go, and for the times at which the session wants to be woken."""
        while True:
            self._wake = self._session.wake
            try:
                async with asyncio.timeout_at(self._at(self._wake)) as self._alarm:
                    message = await receive()
            except TimeoutError:
                self._alarm = None
                await self.event(Tick())
                continue
            if message["type"] == "http.disconnect":
                raise ClientLeft

    async def event(self, event: Event) -> None:
        """Tell the session, and do what it says, before anything else is told to it."""
        async with self._one_at_a_time:
            await self._tell(event)
        if (
            self._alarm is not None
            and self._session.wake != self._wake
            and not self._alarm.expired()
        ):
            self._wake = self._session.wake
            self._alarm.reschedule(self._at(self._wake))

    async def _tell(self, event: Event) -> None:
        for command in await self._session.handle(event, self._proxy.clock()):
            await self._do(command)

    def _at(self, wake: float | None) -> float | None:
        """A time of the proxy's clock on the loop's."""
        return (
            None
            if wake is None
            else asyncio.get_running_loop().time() + max(0.0, wake - self._proxy.clock())
        )

    async def _ask(self, command: SendUpstream) -> None:
        chosen = self.route.chosen
        if chosen is None:
            return await self._refuse()
        sent = chosen.adapt(command)
        url = chosen.upstream.url(sent.path, sent.query)
        async with self._proxy.client.stream(
            sent.method, url, headers=join_repeated(sent.headers), data=sent.body or None
        ) as answer:
            if self._stays(command, answer):
                return await self._read(chosen, answer)
        return None if self._next is command else await self._go_on()

    def _stays(self, command: SendUpstream, answer: HttpStream | Failure) -> bool:
        """Return True if the session is told of this answer; otherwise the request goes to the same
        upstream again, or to another one.
        """
        route = self.route
        is_own = self._session.asks_own or not self._is_answered
        may_leave = route.is_movable and is_own and not self._has_begun and not self._closed
        if may_leave and route.may_send_again(answer):
            self._next = command
            return False
        said = route.judge(answer)
        self._is_answered = self._is_answered or not said
        if not said or not may_leave:
            return True
        route.give_up(answer, said, command.body)
        return False

    async def _read(self, chosen: Destination, answer: HttpStream | Failure) -> None:
        if isinstance(answer, Failure):
            return await self.event(UpstreamFailed(answer))
        head = UpstreamHead(answer.status, answer.headers, answer.cookies)
        await self.event(chosen.read_head(head))
        tail = b""
        async for piece in answer.chunks():
            if self._closed:  # by a Tick
                return None
            if self._proxy.lines.counts_tokens and isinstance(piece, bytes):
                tail = (tail + piece)[-_TAIL:]
            if isinstance(piece, Failure):
                self.route.note_break(piece)
                return await self.event(UpstreamFailed(piece))
            await self.event(UpstreamData(piece))
            if self._closed:
                return None
        prompt, completion = read_tokens(tail)
        self._tokens = self._tokens[0] + prompt, self._tokens[1] + completion
        return None if self._closed else await self.event(UpstreamEnd())

    async def _go_on(self) -> None:
        """Begin again with the next upstream; where there is none, tell the session that."""
        await self.route.choose()
        if self.route.chosen is None:
            return await self._refuse()
        async with self._one_at_a_time:
            await self._session.handle(ClientGone(), self._proxy.clock())  # to be forgotten
            self._session = self._proxy.place_session(self._session.number)
            self._next, self._is_answered = None, False
            return await self._tell(self._request)

    async def _refuse(self) -> None:
        """Answer for the upstreams, of which none can: as a server of chat completions would."""
        refused = self.route.refuse()
        headers = {"content-type": "application/json", "retry-after": str(refused.seconds)}
        await self.event(UpstreamHead(refused.status, headers))
        await self.event(UpstreamData(compose_error(refused.status, refused.message)))
        await self.event(UpstreamEnd())

    async def _do(self, command: Command) -> None:
        match command:
            case SendBody(data):
                await self._send({"type": "http.response.body", "body": data, "more_body": True})
            case SendHead(status, headers):
                self._has_begun = True
                raw = encode_headers((*headers, *self._mark()))
                await self._send({"type": "http.response.start", "status": status, "headers": raw})
            case Finish(broken):
                if not broken:
                    await self._send(
                        {"type": "http.response.body", "body": b"", "more_body": False}
                    )
            case SendUpstream() | Probe() | AskRefiner():
                self._next = command
            case CloseUpstream():
                self._closed = True
            case Faulted():
                self._proxy.fault(command)
            case Learned(model, guided):
                self._learn(model, guided)
            case Log() | Keep():
                self._keep(command)

    def _mark(self) -> Headers:
        """The header that names the upstream, where there are several."""
        name = self.upstream if self._proxy.routes.are_several else ""
        return (("x-callwright-upstream", name),) if name else ()

    @property
    def upstream(self) -> str:
        """Return the name of the upstream that answered; empty if none did."""
        chosen = self.route.chosen
        return chosen.name if chosen is not None and self._is_answered else ""

    def _learn(self, model: str, guided: bool) -> None:
        if (chosen := self.route.chosen) is not None:
            self._proxy.capabilities[chosen.name].learned(chosen.models.get(model), guided)

    def _keep(self, command: Log | Keep) -> None:
        """Remember what came of a request; to fail in that takes nothing from the client."""
        if isinstance(command, Log):
            self.record = command.record
            self.record.notes += self.route.notes
            self.record.upstream = self.upstream if self._proxy.routes.are_several else ""
        try:
            self._proxy.remember(command, self._secrets)
        except Exception as error:
            self._proxy.fault(build_fault(error, self._session.number))
