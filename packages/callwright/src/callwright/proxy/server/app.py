"""The proxy as an ASGI application: all of its input and output. What is to be done, the sessions
say.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, MutableMapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from callwright.http import Egress, HttpClient, HttpStream, Timeout
from callwright.language.credentials import secret_values
from callwright.nouns.errors import CallwrightError, Failure
from callwright.nouns.protocols import ChatModel
from callwright.nouns.redaction import select_redactable
from callwright.proxy.server.address import refused_target
from callwright.proxy.server.capability import FREE, Capability
from callwright.proxy.server.counters import Counters
from callwright.proxy.server.destination import Destination, read_destinations
from callwright.proxy.server.headers import join_repeated
from callwright.proxy.server.lane import Lane
from callwright.proxy.server.meter import Meter, Unmetered
from callwright.proxy.server.pages import (
    Asked,
    answer_request,
    ask_for_key,
    build_refusal,
    logged_in,
)
from callwright.proxy.server.placement import Placement
from callwright.proxy.server.request_log import Exchanged, Lines, TextLines, read_tokens
from callwright.proxy.server.route import Routes
from callwright.proxy.server.training_log import Keeper
from callwright.proxy.server.worker import Setup
from callwright.proxy.session.answers.compose import compose_error
from callwright.proxy.session.context import Toolsets
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
    Refined,
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
from callwright.proxy.session.faults import OVER_BUDGET, build_fault
from callwright.proxy.session.record import Record
from callwright.proxy.session.settings import Settings
from callwright.serving.access import LOGIN, Access, Refusal
from callwright.serving.own_pages import (
    LOGIN_BYTES,
    Answer,
    Receive,
    Scope,
    Send,
    encode_headers,
    send_answer,
)
from callwright.tools.overlay import Overlay

_LOG = logging.getLogger("callwright.proxy")
_REFUSED = {
    408: "the rest of the request did not come",
    413: "the request is longer than this proxy takes (Budget.body_bytes)",
}
_UNDECLARED = (
    "tools that declare no effects: {}. Of these the guard keeps back only repeated calls. To declare"
    " some: save /callwright/tools.json, callwright tools effects tools.json, proxy --effects"
)
_SLOWEST = 10_000  # bytes of a body a second, from which on its time grows with its size
_TAIL = 4_096  # bytes at the end of an answer in which its token counts stand
_WATCH_AFTER = 0.1
"""Seconds after which a request's client is watched. An answer that is there sooner is not worth a
second task; a client that left in that time is noticed when they have passed.
"""


@dataclass(frozen=True, slots=True)
class UpstreamFacts:
    """The facts about the upstream before it is asked: its abilities (``known``), whether it is our
    own embedded model (``local``), and the file that remembers what was found out (``memory``;
    None: in the cache directory).
    """

    known: Probed | None = None
    local: bool = False
    memory: Path | None = None


@dataclass(frozen=True, slots=True)
class Observers:
    """Who is told of what happens. ``warn`` is told what a user should know, a sentence each, once:
    what of the overlay fits no tool of a request, and that tools declare no effects. ``log`` is
    given a line for every request, in the form of ``lines``; it must not wait.
    """

    warn: Callable[[str], None] = lambda _: None
    log: Callable[[str], None] | None = None
    lines: Lines = field(default_factory=TextLines)


class Proxy:
    """ASGI application in front of an upstream, or of several, of which each request gets the first
    that answers. Closes its connections at lifespan shutdown, or with ``aclose``.

    ``meter`` ends what takes too long on the event loop; a process that is the proxy's alone has
    one.
    """

    def __init__(
        self,
        upstream: str | Routes,
        settings: Settings | None = None,
        *,
        access: Access | None = None,
        facts: UpstreamFacts | None = None,
        overlay: Overlay | None = None,
        keeper: Keeper | None = None,
        observers: Observers | None = None,
        clock: Callable[[], float] = time.monotonic,
        meter: Meter | None = None,
    ) -> None:
        facts, observers = facts or UpstreamFacts(), observers or Observers()
        self.routes = (
            Routes(read_destinations([upstream]), clock=clock)
            if isinstance(upstream, str)
            else upstream
        )
        self.upstream = self.routes.destinations[0].upstream
        self.settings = replace(settings or Settings(), keep=keeper is not None)
        self.keeper = keeper
        self.access = access or Access()
        self.counters = Counters(self.settings.budget)
        self.client = HttpClient(
            Egress.any(),
            timeout=Timeout(self.settings.connect_seconds, self.settings.idle_seconds, None),
            max_bytes=self.settings.budget.answer_bytes,
            max_redirects=0,
            connections=1_000,
        )
        self.capabilities = {
            one.name: Capability(
                one.upstream.base,
                self.client,
                known=facts.known,
                memory=facts.memory,
                budget=self.settings.budget,
                report=lambda error: self.fault(build_fault(error, "of a probe")),
            )
            for one in self.routes.destinations
        }
        self.toolsets = Toolsets(
            overlay=overlay,
            effects=self.settings.effects,
            tell=observers.warn,
            most=self.settings.budget.cache_bytes,
        )
        self.local = facts.local
        self.meter = meter or Unmetered()
        self.refiner: ChatModel | None = None
        self.lane = Lane(Setup(self.settings, overlay, facts.local))
        self.clock = clock
        self.log, self.lines, self.warn = observers.log, observers.lines, observers.warn
        self._number = 0
        self._run = secrets.token_hex(3)

    def use_refiner(self, model: ChatModel | None) -> Proxy:
        """Ask this model about calls, where the settings say how. It is closed with the proxy."""
        self.refiner = model
        return self

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            if self.log is None:
                await self._serve(scope, receive, send)
            else:
                await self._logged(self.log, scope, receive, send)

    async def _logged(
        self, log: Callable[[str], None], scope: Scope, receive: Receive, send: Send
    ) -> None:
        began, status, line = self.clock(), 0, None

        async def noting(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            line = await self._serve(scope, receive, noting)
        finally:
            if status not in (200, 304) or not Asked.read(scope).is_update:
                path, seconds = _get_target(scope)[0], self.clock() - began
                made = Exchanged(scope["method"], path, status, seconds)
                log(self.lines.render_exchange(made if line is None else line.describe(made)))

    def log_refusal(self, status: int, message: str) -> None:
        """Log a connection that was refused before there was a request."""
        if self.log is not None:
            self.log(self.lines.render_refusal(status, message))

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> _Line | None:
        """Answer a request; returns what was done to it, where it went upstream."""
        asked = Asked.read(scope)
        refusal = self.access.refusal(scope, own=asked.is_own)
        if asked.is_own:
            await send_answer(send, *await self._page(asked, refusal, receive))
        elif refusal or (said := refused_target(*_get_target(scope))):
            await send_answer(send, *build_refusal(*(refusal or (400, said))))
        else:
            return await self._exchange(scope, receive, send)
        return None

    def remember(self, command: Log | Keep, secrets: Sequence[str] = ()) -> None:
        """Count a request, or keep its conversation. ``secrets``: the keys that the request
        carried; the page shows none, should the upstream echo one.
        """
        match command:
            case Log(record, undeclared):
                self.counters.add(record, secrets)
                if (
                    self.counters.undeclared.add(undeclared, secrets)
                    and self.settings.guard != "off"
                ):
                    self.warn(_UNDECLARED.format(len(self.counters.undeclared)))
            case Keep() if self.keeper is not None:
                self.keeper.take(command)

    async def refine(self, command: AskRefiner, request: str) -> Refined:
        """Ask the refiner about the calls of a request. Where it cannot be asked, they stay."""
        if self.refiner is None:
            return Refined(None)
        try:
            return Refined(await self.refiner.complete(command.request))
        except CallwrightError as error:
            _LOG.warning("request %s: the refiner was not asked (%s)", request, error)
        except Exception as error:
            self.fault(build_fault(error, request))
        return Refined(None)

    def fault(self, fault: Faulted) -> None:
        """Count and log a fault of our own."""
        self.counters.faults[fault.kind] += 1
        if fault.kind == OVER_BUDGET:
            _LOG.info(
                "request %s passed as it came: over the budget (%s)", fault.request, fault.detail
            )
            return
        _LOG.warning(
            "request %s passed as it came: the proxy failed over it (%s)", fault.request, fault.kind
        )
        _LOG.debug("%s", fault.detail)

    async def _page(self, asked: Asked, refusal: Refusal | None, receive: Receive) -> Answer:
        if refusal is not None:
            return ask_for_key(asked, self.access) if refusal[0] == 401 else build_refusal(*refusal)
        if asked.path == LOGIN and asked.method == "POST" and self.access.key:
            form = await self._body({"headers": ()}, receive, LOGIN_BYTES)
            if isinstance(form, int):
                return build_refusal(form or 408, _REFUSED[form or 408])
            return logged_in(asked, form, self.access)
        most = self.settings.budget.page_bytes
        return answer_request(asked, self.counters, self.routes, most, time.time())

    async def aclose(self) -> None:
        """Close every upstream connection, and end the worker process."""
        await self.lane.aclose()
        await self.client.aclose()
        if self.refiner is not None:
            await self.refiner.aclose()

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        message = await receive()
        assert message["type"] == "lifespan.startup"
        async with AsyncExitStack() as probes:
            for capability in self.capabilities.values():
                await probes.enter_async_context(capability.running())
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await self.aclose()
        await send({"type": "lifespan.shutdown.complete"})

    async def _exchange(self, scope: Scope, receive: Receive, send: Send) -> _Line | None:
        body = await self._body(scope, receive)
        if isinstance(body, int):
            if body:
                await send_answer(send, *build_refusal(body, _REFUSED[body]))
            return None
        self._number += 1
        line = _Line(self, f"{self._run}-{self._number}", send)
        self.counters.active += 1
        watching: list[asyncio.Task[None]] = []
        try:
            async with asyncio.TaskGroup() as group:

                def watch() -> None:
                    watching.append(group.create_task(line.watch(receive)))

                timer = asyncio.get_running_loop().call_later(_WATCH_AFTER, watch)
                try:
                    await line.run(self._request(scope, body))
                finally:
                    timer.cancel()
                    for watcher in watching:
                        watcher.cancel()
        except* _Gone:
            await line.event(ClientGone())
        finally:
            self.counters.active -= 1
        return line

    def place_session(self, number: str) -> Placement:
        """Return a new session for a request."""
        created = int(time.time())
        return Placement(
            self.settings,
            self.toolsets,
            self.lane,
            self.meter,
            number,
            local=self.local,
            created=created,
        )

    def _request(self, scope: Scope, body: bytes) -> Request:
        headers: Headers = tuple(
            (k.decode("latin-1"), v.decode("latin-1")) for k, v in scope["headers"]
        )
        path, query = _get_target(scope)
        return Request(scope["method"], path, query, self.access.upstream(headers), body)

    async def _body(self, scope: Scope, receive: Receive, most: int | None = None) -> bytes | int:
        """The whole request body; or the status that refuses it, 0 where nobody waits for an answer
        any more.
        """
        most = most or self.settings.budget.body_bytes
        announced = next((v for k, v in scope["headers"] if k == b"content-length"), b"0")
        if announced.isdigit() and int(announced) > most:
            return 413
        parts, size = [], 0
        loop, patience = asyncio.get_running_loop(), self.settings.budget.body_seconds
        began = loop.time()
        try:
            async with asyncio.timeout(patience) as alarm:
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return 0
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > most:
                        return 413
                    if not message.get("more_body"):
                        return b"".join(parts)
                    alarm.reschedule(patience + min(loop.time(), began + size / _SLOWEST))
        except TimeoutError:
            return 408


class _Gone(Exception):
    """The client closed its connection."""


class _Line:
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
                raise _Gone

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


def _get_target(scope: Scope) -> tuple[str, str]:
    """Path, as it was encoded, and query."""
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    return path.decode("latin-1"), scope["query_string"].decode("latin-1")
