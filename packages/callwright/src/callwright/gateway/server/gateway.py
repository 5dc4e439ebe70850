"""The gateway between its doors and its servers: it leads calls, forwards the rest, and tells
clients what has changed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from callwright.agent.safety.consent import Consent
from callwright.gateway.configuration import ServerEntry
from callwright.gateway.server.caller import Caller, ConnectionKey
from callwright.gateway.server.conversation import Conversation
from callwright.gateway.server.flights import Flights
from callwright.gateway.server.forwarding import Forwarding
from callwright.gateway.server.link import Link, Logins, McpLink, NoLogins, build_error
from callwright.gateway.server.notifications import take_notification
from callwright.gateway.server.refiner import Refiner
from callwright.gateway.server.sessions import Sessions
from callwright.gateway.server.source_link import SourceLink
from callwright.gateway.server.upstream import IDLE_SECONDS, Shelf, Upstream
from callwright.gateway.session.call import CallEnd, CallFacts, CallRequest, run_call
from callwright.gateway.session.catalog import GatewayCatalog, build_catalog
from callwright.gateway.session.exposure import Answer, ExposeAll, Exposure, Resolved
from callwright.gateway.session.hourly_budget import HourlyBudget
from callwright.gateway.session.instructions import render_instructions
from callwright.gateway.session.names import Claim, build_name
from callwright.gateway.session.pins import Pins, ProcessPins
from callwright.gateway.session.profile import ProcessProfiles, Profiles
from callwright.gateway.session.record import CallRecord
from callwright.gateway.session.round_state import read_round_state
from callwright.gateway.session.routes import SeenLinks
from callwright.gateway.session.tasks import TASKS, name_tasks
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import JsonObject

_LOG = logging.getLogger("callwright.gateway")
LIST_SECONDS = 10.0  # for servers whose tools are not known yet; the others' come later
_SWEEP_SECONDS = 15.0
_MOST_NAMES = 100_000  # that are remembered: a server may think of new ones all day
_MOST_STARTS = 16  # servers that are started at once to be listed
ConsentMode = Literal["ask", "client"]


@dataclass(frozen=True, kw_only=True)
class GatewaySetup:
    """The settings of a gateway. ``consent``: "ask" has calls that may write approved by the client's
    user, "client" leaves that to the client itself. ``allow``: patterns of tools that need no
    approval. ``refiner`` is asked about calls that their schemas refuse. ``record`` is given every
    call that has ended, with its end where it had one.
    """

    entries: Sequence[ServerEntry]
    consent: ConsentMode = "ask"
    allow: Sequence[str] = ()
    pins: Pins = field(default_factory=ProcessPins)
    profiles: Profiles = field(default_factory=ProcessProfiles)
    exposure: Exposure = field(default_factory=ExposeAll)
    logins: Logins = field(default_factory=NoLogins)
    refiner: Refiner | None = None
    record: Callable[[CallRecord, CallEnd | None], None] = lambda *_: None
    idle_seconds: float = IDLE_SECONDS
    list_seconds: float = LIST_SECONDS


class Gateway:
    """Usable inside :meth:`running`."""

    def __init__(self, setup: GatewaySetup) -> None:
        self.setup = setup
        self.upstreams: dict[str, Upstream] = {}
        self.sessions = Sessions()
        self.catalog = GatewayCatalog()
        self.problems: list[str] = []
        self.links = SeenLinks()
        self.forwarding = Forwarding(self)
        self._consent: Consent | None = None
        self._budget = HourlyBudget()
        self._starts = asyncio.Semaphore(_MOST_STARTS)
        self._finding: dict[str, asyncio.Task[None]] = {}  # lists that are on their way, by server
        self._late: set[str] = set()  # servers whose list did not come in time
        self._is_stale = True
        self._number = 0
        self._names: dict[Claim, str] = {}  # of tools: none passes to another while this runs
        self.active = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Gateway]:
        """Serve while the block lasts; then every connection and server process is ended."""
        async with asyncio.TaskGroup() as group:
            self._group, self.flights = group, Flights(group)
            shelf = Shelf(self.setup.pins, self.setup.profiles)
            self.upstreams = {
                entry.name: Upstream(
                    entry,
                    shelf,
                    self._open_link,
                    group,
                    self._note_change,
                    self._prepare_link,
                    self.setup.idle_seconds,
                )
                for entry in self.setup.entries
            }
            sweeper = group.create_task(self._sweep())
            try:
                yield self
            finally:
                sweeper.cancel()
                async with asyncio.TaskGroup() as closing:
                    for upstream in self.upstreams.values():
                        closing.create_task(upstream.aclose())
                self.flights.cancel_all()

    # ------------------------------------------------------------ tools

    async def list_tools(self, caller: Caller) -> Sequence[JsonObject]:
        """The definitions that a client sees. Servers that nobody knows yet are started first, as
        far as that takes little time.
        """
        await self.discover(caller)
        return self.setup.exposure.list_tools(self.get_catalog())

    async def discover(self, caller: Caller) -> None:
        """Make known what servers offer that have never been listed. One that took too long once is
        waited for no more: clients are told when its list comes.
        """
        unknown = [one for one in self.upstreams.values() if one.listing is None]
        if not unknown:
            return

        async def start(upstream: Upstream) -> None:
            async with self._starts:
                await self._guard(upstream.discover(caller.key, caller.declared))

        for one in unknown:
            if one.name not in self._finding and not one.is_resting:
                task = self._group.create_task(start(one), name=one.name)
                self._finding[one.name] = task
                task.add_done_callback(lambda task: self._finding.pop(task.get_name(), None))
        waited = {task for name, task in self._finding.items() if name not in self._late}
        if waited:
            _, late = await asyncio.wait(waited, timeout=self.setup.list_seconds)
            self._late.update(task.get_name() for task in late)

    def get_input_schema(self, name: str) -> JsonObject | None:
        """The schema that a tool's server gave, by the name that clients know."""
        offer = self.get_catalog().find(name)
        return offer.definition.get("inputSchema") if offer is not None else None

    @property
    def has_tasks(self) -> bool:
        """Return True if a server is known to have tasks."""
        profiles = (one.get_profile() for one in self.upstreams.values())
        return any(one is not None and TASKS in one.capabilities for one in profiles)

    def describe(self) -> str:
        """Return what models are told of the gateway: its servers, what is not listed, and what the
        servers that are trusted tell.
        """
        policies = [one.entry.policy for one in self.upstreams.values()]
        said = {
            one.name: profile.instructions
            for one in self.upstreams.values()
            if one.entry.policy.trusted and (profile := one.get_profile()) is not None
        }
        return render_instructions(policies, self.setup.exposure.describe(self.get_catalog()), said)

    def get_catalog(self) -> GatewayCatalog:
        """All tools that are known now."""
        if self._is_stale:
            listings = [one.listing for one in self.upstreams.values() if one.listing is not None]
            self.catalog = build_catalog(listings, kept=self._names)
            kept = self._names if len(self._names) < _MOST_NAMES else {}
            self._names = {**kept, **self.catalog.names}
            self._consent = self._build_consent(self.catalog)
            self._is_stale = False
            if self.upstreams:  # it runs
                prepare = self.setup.exposure.prepare
                self._group.create_task(asyncio.to_thread(prepare, self.catalog))
        return self.catalog

    async def call_tool(
        self,
        caller: Caller,
        name: str,
        arguments: Any,
        *,
        responses: dict[str, JsonObject] | None = None,
        state: str | None = None,
    ) -> CallEnd | JsonObject:
        """Lead a call to its end, or to the question that its client has to answer first."""
        began = time.monotonic()
        catalog = self.get_catalog()
        if catalog.find(name) is None:  # perhaps of a server that nobody has listed yet
            await self.discover(caller)
            await self._review_blocked()
            catalog = self.get_catalog()
        resumed = read_round_state(state)
        self._number += 1
        record = CallRecord(f"call-{self._number}", name, arguments)
        meant = await self._resolve(name, arguments, catalog)
        if isinstance(meant, Answer):
            record.outcome = "passed"
            record.note_result(meant.result)
            answered = CallEnd(meant.result, record)
            self._record(record, answered, began)
            return answered
        request = CallRequest(
            name=meant.name,
            arguments=meant.arguments,
            responses=responses if resumed.server is not None else None,
            state=resumed.server or None,  # a server may ask without a state of its own
        )
        refiner = self.setup.refiner
        facts = CallFacts(
            catalog=catalog,
            consent=self._consent,
            absent=self._explain_absent(meant.name),
            refiner=None if refiner is None else refiner.settings,
            over_budget="" if state else self._spend(caller, catalog, meant.name),
        )
        conversation = Conversation(self, caller, resumed, responses or {})
        self.active += 1
        ended: CallEnd | JsonObject | None = None
        try:
            ended = end = await conversation.lead(run_call(request, facts, record))
            if isinstance(end, CallEnd) and isinstance(end.answer, dict):
                self.links.note_result(record.server, end.answer)
                return replace(end, answer=name_tasks(record.server, end.answer))
            return end
        finally:
            self.active -= 1
            if not isinstance(ended, dict):  # else the call goes on when its client comes back
                if record.sent is None and not facts.over_budget:
                    self._budget.give_back(caller.budget_key, record.server)
                self._record(record, ended, began)

    async def _resolve(self, name: str, arguments: Any, catalog: GatewayCatalog) -> Resolved:
        """The meaning of a call. A search may take longer than others should wait."""
        resolve = self.setup.exposure.resolve
        if catalog.find(name) is not None:
            return resolve(name, arguments, catalog)
        return await asyncio.to_thread(resolve, name, arguments, catalog)

    def _explain_absent(self, name: str) -> str:
        """Return why the server whose tool a name speaks of has none; "" where it has."""
        for one in self.upstreams.values():
            begins = build_name(one.entry.policy.prefix, "")
            if one.listing is None and begins and name.startswith(begins):
                return one.explain_absent()
        return ""

    def _spend(self, caller: Caller, catalog: GatewayCatalog, name: str) -> str:
        """Take one call from the client's budget; returns why there is none left."""
        offer = catalog.find(name)
        if offer is None or offer.policy.calls is None:
            return ""
        now, key, most = time.monotonic(), caller.budget_key, offer.policy.calls
        if self._budget.take(key, offer.server, most, now):
            return ""
        minutes = self._budget.count_seconds(key, offer.server, now) / 60
        return (
            f"'{name}' was not called: {most} calls of the server {offer.server!r} were made in the"
            f" last hour, and no more are allowed. The next one is possible in {minutes:.0f} minutes."
        )

    def _record(self, record: CallRecord, end: CallEnd | None, began: float) -> None:
        record.seconds = time.monotonic() - began
        record.created = time.time()
        self.setup.record(record, end)

    def _build_consent(self, catalog: GatewayCatalog) -> Consent | None:
        if self.setup.consent == "client":
            return None
        patterns = [*self.setup.allow]
        for upstream in self.upstreams.values():
            patterns += [f"{upstream.name}:{one}" for one in upstream.entry.policy.approve]
        offers = catalog.as_offered()
        try:
            made = Consent(None, patterns).bound(offers)
        except ConfigError as error:
            self._note_problems([error.message])
            return Consent().bound(offers)
        is_whole = all(one.listing is not None for one in self.upstreams.values())
        idle = {*made.idle} & {*self.setup.allow} if is_whole else ()
        self._note_problems([f"--allow {one}: no server has such a tool" for one in sorted(idle)])
        return made

    def _note_problems(self, problems: Sequence[str]) -> None:
        for said in problems:
            if said not in self.problems:
                _LOG.warning("%s", said)
        self.problems = [*problems]

    def describe_servers(self) -> list[JsonObject]:
        """The state of each server, JSON-ready."""
        return [one.to_dict() for one in self.upstreams.values()]

    # ------------------------------------------------------------ connections

    def _open_link(self, entry: ServerEntry, key: ConnectionKey, capabilities: Any) -> Link:
        if entry.server is None:
            return SourceLink(entry, key)
        auth = self.setup.logins.find_auth(entry.server, key.principal)
        return McpLink(entry.server, key, self, self._group, capabilities, auth)

    def _note_change(self, what: str) -> None:
        """Take note that what a server offers has changed."""
        if what == "tools":
            self._is_stale = True
        self._group.create_task(self._guard(self.sessions.announce(what)))

    async def _prepare_link(self, link: Link) -> None:
        """A connection was made: what its clients have asked for holds for it too."""
        await link.set_level(self.sessions.get_level(link.key))

    async def take_notification(self, link: McpLink, notification: Any) -> None:
        """A server says something by itself."""
        await take_notification(self, link, notification)

    async def ask_owner(self, key: ConnectionKey, request: Any) -> Any:
        """Ask the client of a session, where no request of it is under way."""
        channel = self.sessions.find_channel(key.session) if key.session else None
        if channel is None:
            return build_error(
                f"{request.method} cannot be answered: it is not certain which of the calls under"
                " way it belongs to"
            )
        return await channel.ask(request)

    async def _guard(self, work: Awaitable[None]) -> None:
        """Do something that nobody waits for: what goes wrong with it ends nothing else."""
        try:
            await work
        except Exception:
            _LOG.exception("the gateway goes on")

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            now = asyncio.get_running_loop().time()
            for upstream in self.upstreams.values():
                await self._guard(upstream.sweep(now))
            await self._guard(self._review_blocked())
            for session in self.sessions.list_ended(now):
                await self._guard(self.end_session(session))

    async def _review_blocked(self) -> None:
        """Take up what the user has approved since."""
        for upstream in self.upstreams.values():
            if upstream.waits:
                await upstream.review_again()

    async def end_session(self, session: str) -> None:
        """Close what a client's session has open."""
        self.sessions.forget(session)
        for upstream in self.upstreams.values():
            await upstream.drop(session)
