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

from callwright.http import Egress, HttpClient, Timeout
from callwright.nouns.errors import CallwrightError
from callwright.nouns.protocols import ChatModel
from callwright.proxy.server.address import refused_target
from callwright.proxy.server.capability import Capability
from callwright.proxy.server.counters import Counters
from callwright.proxy.server.destination import read_destinations
from callwright.proxy.server.lane import Lane
from callwright.proxy.server.live_request import ClientLeft, LiveRequest
from callwright.proxy.server.meter import Meter, Unmetered
from callwright.proxy.server.pages import (
    Asked,
    answer_request,
    ask_for_key,
    build_refusal,
    logged_in,
)
from callwright.proxy.server.placement import Placement
from callwright.proxy.server.request_log import Exchanged, Lines, TextLines
from callwright.proxy.server.route import Routes
from callwright.proxy.server.training_log import Keeper
from callwright.proxy.server.worker import Setup
from callwright.proxy.session.context import Toolsets
from callwright.proxy.session.events import (
    AskRefiner,
    ClientGone,
    Faulted,
    Headers,
    Keep,
    Log,
    Probed,
    Refined,
    Request,
)
from callwright.proxy.session.faults import OVER_BUDGET, build_fault
from callwright.proxy.session.settings import Settings
from callwright.serving.access import LOGIN, Access, Refusal
from callwright.serving.own_pages import (
    LOGIN_BYTES,
    Answer,
    Receive,
    Scope,
    Send,
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

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> LiveRequest | None:
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
            _LOG.info("request %s was not read: over the budget (%s)", fault.request, fault.detail)
            return
        _LOG.warning(
            "request %s was not read: the proxy failed over it (%s)", fault.request, fault.kind
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

    async def _exchange(self, scope: Scope, receive: Receive, send: Send) -> LiveRequest | None:
        body = await self._body(scope, receive)
        if isinstance(body, int):
            if body:
                await send_answer(send, *build_refusal(body, _REFUSED[body]))
            return None
        self._number += 1
        line = LiveRequest(self, f"{self._run}-{self._number}", send)
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
        except* ClientLeft:
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


def _get_target(scope: Scope) -> tuple[str, str]:
    """Path, as it was encoded, and query."""
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    return path.decode("latin-1"), scope["query_string"].decode("latin-1")
