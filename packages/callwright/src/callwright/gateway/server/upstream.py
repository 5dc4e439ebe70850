"""One server of the configuration: its connections, made when they are needed and closed when they
are idle, and its rest after failures. What goes wrong with it costs its own tools only.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakSet

from callwright.gateway.configuration import ServerEntry
from callwright.gateway.server.caller import ConnectionKey
from callwright.gateway.server.link import Flight, Link, LoginNeeded, refuse_ask
from callwright.gateway.session.catalog import Listing, read_listing
from callwright.gateway.session.commands import Consulted
from callwright.gateway.session.pins import Pins, Reviewed
from callwright.gateway.session.profile import CAPABILITY, KINDS, Kind, Profile, Profiles
from callwright.gateway.session.tasks import TASKS
from callwright.nouns.control_characters import one_line
from callwright.nouns.errors import CallwrightError, CatalogError, Failure
from callwright.nouns.redaction import redact_secrets, select_redactable
from callwright.nouns.types import JsonObject
from callwright.serving.health import Health

_LOG = logging.getLogger("callwright.gateway")
IDLE_SECONDS = 600.0
_SHOWN = 300  # characters of an error
_MOST_TOLD = 20  # of the problems of one list; the page has all
MOST_LINKS = 64  # connections to one server
_PROFILE_SECONDS = 10.0  # for what a server offers beside tools, which can be called without that
_MOST_PROFILES = 1_000  # of users

LinkReady = Callable[[Link], Awaitable[None]]
OpenLink = Callable[[ServerEntry, ConnectionKey, Mapping[str, Any]], Link]
"""Makes a connection, not yet opened, for clients with these capabilities."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """Knowledge of servers that needs no question to them."""

    pins: Pins
    profiles: Profiles


@dataclass(eq=False)
class Upstream:
    """``changed`` is told when what the server offers has changed, ``ready`` of a connection that
    was made; it does not raise.
    """

    entry: ServerEntry
    shelf: Shelf
    open_link: OpenLink
    group: asyncio.TaskGroup
    changed: Callable[[str], None]
    ready: LinkReady
    idle_seconds: float = IDLE_SECONDS
    health: Health = field(default_factory=Health)

    def __post_init__(self) -> None:
        self._links: dict[ConnectionKey, Link] = {}
        self._starting: dict[ConnectionKey, asyncio.Task[Link | Failure]] = {}
        self._checked: set[Link] = set()  # that are being asked whether anything is answered there
        self._ended: WeakSet[Link] = WeakSet()  # that have ended by themselves
        self.listing: Listing | None = None
        self._own: dict[str, Profile] = {}  # by user: what the server offers each by their login
        self._blocked: set[str] = set()  # by their pins, not by the configuration
        self._read_known()

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def links(self) -> tuple[Link, ...]:
        """The connections that are open."""
        return tuple(link for link in self._links.values() if link.is_open)

    def get_profile(self, principal: str = "") -> Profile | None:
        """Return what the server offers a user beside tools ("": what it offers everybody); None
        where that is not known. The lists that it gives to the login of another are not among it.
        """
        return self._own.get(principal) or self.shelf.profiles.get(self.name)

    async def connect(
        self, key: ConnectionKey, capabilities: Mapping[str, Any], seconds: float
    ) -> Link | Failure:
        """The open connection of a key; it is made where there is none. The start of a server goes
        on where nobody waits for it any more.
        """
        link = self._links.get(key)
        if link is not None and link.is_open:
            link.used = _get_time()
            return link
        if self.entry.error:
            return Failure("unavailable", self.entry.error, not_done=True)
        task = self._starting.get(key)
        if task is None:
            if resting := self.health.seconds_of_rest(_get_time()):
                said = f"{self.health.last}; it is tried again in {resting:.0f} s"
                return Failure("unavailable", said, retryable=True, not_done=True)
            if len(self._links) + len(self._starting) >= MOST_LINKS and not await self._make_room():
                said = f"{MOST_LINKS} clients use the server {self.name!r} already"
                return Failure("unavailable", said, retryable=True, not_done=True)
            task = self.group.create_task(self._start(key, capabilities))
            self._starting[key] = task
            task.add_done_callback(lambda _: self._starting.pop(key, None))
        await asyncio.wait({task}, timeout=seconds)
        return self._read_start(task)

    async def consult(
        self, key: ConnectionKey, capabilities: Mapping[str, Any], tool: str, seconds: float
    ) -> Consulted:
        """Find out whether the server is there, and whether a tool is still the one that is
        offered.
        """
        link = await self.connect(key, capabilities, seconds)
        if isinstance(link, Failure):
            return Consulted(failure=link)
        if link.is_outdated or link.listing.locked():
            try:
                async with asyncio.timeout(seconds):
                    await self._list_again(link)
            except CatalogError as error:
                return Consulted(failure=Failure("unavailable", error.message, not_done=True))
            except TimeoutError:
                said = f"the server {self.name!r} says that its tools have changed, and lists none"
                return Consulted(failure=Failure("timeout", said, retryable=True, not_done=True))
        return Consulted(refused=self.find_refusal(tool))

    def find_refusal(self, tool: str) -> str:
        """Return why a tool may not be called now; "" if it is still the one that is offered."""
        listing = self.listing
        if listing is None:
            return ""
        if reason := listing.blocked.get(tool):
            return f"{tool!r} was not called: {reason}"
        if all(raw["name"] != tool for raw, _ in listing.tools):
            return f"{tool!r} was not called: the server {self.name!r} has no such tool any more"
        return ""

    async def discover(self, key: ConnectionKey, capabilities: Mapping[str, Any]) -> None:
        """Make known what the server lists, if that is not known yet. A failure is kept in
        ``health``.
        """
        if self.listing is None:
            server = self.entry.server
            await self.connect(key, capabilities, 60.0 if server is None else server.seconds)

    async def list_kind(self, kind: Kind, link: Link) -> None:
        """Ask an open connection for its prompts, resources or templates."""
        profile = self.get_profile(link.key.principal) or Profile()
        listed = await link.list_all(kind)
        if listed != list(profile.get(kind)):
            self._keep_profile(link, replace(profile, lists={**profile.lists, kind: listed}))
            self.changed(CAPABILITY[kind])

    def _keep_profile(self, link: Link, made: Profile) -> None:
        owner = link.key.principal if link.auth is not None else ""
        if owner:
            self._own[owner], made = made, replace(made, lists={})
            if len(self._own) > _MOST_PROFILES:
                del self._own[next(iter(self._own))]
        self.shelf.profiles.put(self.name, made)

    async def refresh_kind(self, kind: Kind, link: Link, seconds: float) -> None:
        """Ask for a list once more, as far as that takes little time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.list_kind(kind, link)

    async def refresh(self, link: Link) -> None:
        """List the tools of an open connection once more. Where that fails, the next call tries
        it again.
        """
        with suppress(CatalogError):
            await self._list_again(link)

    async def _list_again(self, link: Link) -> None:
        """Take the list of a server that says that it has changed. Whoever comes meanwhile waits
        for it: no call may rest on a definition that does not hold any more. Raises CatalogError.
        """
        async with link.listing:
            if link.is_outdated:
                await self._take_list(link, await link.list_again())

    def note_answer(self) -> None:
        """Its server answers: what failed before is over."""
        self.health.succeed(_get_time())

    def note_end(self, link: Link, why: str) -> None:
        """A connection ended by itself: the next one is made after a rest. It ends once, however
        many calls were under way there.
        """
        if link not in self._ended:
            self._ended.add(link)
            self.health.fail(_get_time(), f"the server {self.name!r} ended: {why}")

    def check(self, link: Link, seconds: float) -> None:
        """A call got no answer in time. One that is slow costs nobody else anything; but where
        nothing else is answered either, for so many seconds more, the connection is ended, and with
        it the server's process: else it would be in the way until the gateway is stopped.
        """
        if link.is_open and link not in self._checked:
            self._checked.add(link)
            self.group.create_task(self._check(link, seconds))

    def explain_absent(self) -> str:
        """Return why its tools are not known."""
        said = self.entry.error or self.health.last
        return one_line(said)[:_SHOWN] or f"the server {self.name!r} has not listed its tools yet"

    @property
    def is_resting(self) -> bool:
        """Return True if the server has failed and is not tried again yet."""
        return bool(self.entry.error) or self.health.seconds_of_rest(_get_time()) > 0

    async def rest(self, seconds: float) -> bool:
        """Wait until the server may be tried again; False where that takes longer than so many
        seconds.
        """
        resting = self.health.seconds_of_rest(_get_time())
        if resting > seconds:
            return False
        if resting:
            await asyncio.sleep(resting)
        return True

    def find_link(self, key: ConnectionKey) -> Link | None:
        """The open connection of a key."""
        link = self._links.get(key)
        return link if link is not None and link.is_open else None

    async def sweep(self, now: float) -> None:
        """Close connections that nobody has used for a while, and forget those that were lost."""
        for key, link in list(self._links.items()):
            is_idle = link.is_open and not link.is_busy and now - link.used > self.idle_seconds
            if is_idle or not link.is_open:
                del self._links[key]
                await link.close()

    async def drop(self, session: str) -> None:
        """Close the connections of a client's session, which has ended."""
        for key, link in list(self._links.items()):
            if key.session == session:
                del self._links[key]
                await link.close()

    async def aclose(self) -> None:
        """Close every connection."""
        for task in list(self._starting.values()):
            task.cancel()
        links, self._links = list(self._links.values()), {}
        async with asyncio.TaskGroup() as group:
            for link in links:
                group.create_task(link.close())

    def to_dict(self) -> JsonObject:
        """The state of the server, JSON-ready."""
        listing, told = self.listing, self.health.to_dict(_get_time())
        state = told["state"]
        if self.entry.error:
            state = "cannot be used"
        elif self.links:
            state = "connected"
        elif state != "fails":
            state = "idle" if listing is not None else "not started"
        return {
            "name": self.name,
            "state": state,
            "connections": len(self.links),
            "tools": len(listing.tools) if listing is not None else 0,
            "blocked": len(listing.blocked) if listing is not None else 0,
            "problems": [*(listing.problems if listing is not None else ())],
            "rests_seconds": told["rests_seconds"],
            "last_failure": self.entry.error or told["last_failure"],
            "asked": told["asked"],
            "failed": told["failed"],
        }

    def _read_known(self) -> None:
        known = self.shelf.pins.get_known(self.name)
        if known is not None:
            self._keep_listing(known)

    async def review_again(self) -> None:
        """Take up what was approved by another process since the tools were listed."""
        known = await asyncio.to_thread(self.shelf.pins.get_known, self.name)
        if known is not None and set(known.blocked) != self._blocked:
            self._keep_listing(known)
            self.changed("tools")

    @property
    def waits(self) -> bool:
        """Return True if a definition waits for approval."""
        return bool(self._blocked)

    def _keep_listing(self, reviewed: Reviewed, left_out: Sequence[str] = ()) -> None:
        self._blocked = set(reviewed.blocked)
        made = read_listing(self.entry.policy, reviewed.approved, reviewed.blocked)
        told = () if self.listing is None else self.listing.problems
        more = [f"{self.name}: {said}" for said in left_out]
        problems = (*made.problems, *reviewed.problems, *more)
        self.listing = Listing(made.policy, made.tools, problems, made.blocked)
        for said in [one for one in problems if one not in told][:_MOST_TOLD]:
            _LOG.warning("%s", said)

    async def _start(self, key: ConnectionKey, capabilities: Mapping[str, Any]) -> Link | Failure:
        """Open a connection, and review what it lists. Never raises: its task is everybody's."""
        link = self.open_link(self.entry, key, capabilities)
        is_ready, is_login = False, False
        try:
            await self._take_list(link, await link.open())
            await self._take_profile(link)
            is_ready = link.is_open
            said = "" if is_ready else f"the server {self.name!r} ended as soon as it was started"
        except CallwrightError as error:
            said, is_login = error.message, isinstance(error, LoginNeeded)
        except Exception as error:
            said = f"the server {self.name!r} cannot be started: {self._describe(error)}"
            _LOG.debug("%s", said, exc_info=True)
        finally:
            if not is_ready:
                await link.close()
        if is_login:  # of one user: the server works, and others go on
            return Failure("auth", said, not_done=True)
        if not is_ready:
            if said != self.health.last:
                _LOG.warning("%s", said)
            self.health.fail(_get_time(), said)
            return Failure("unavailable", said, retryable=True, not_done=True)
        link.used = _get_time()
        self._links[key] = link
        await self.ready(link)
        return link

    def _describe(self, error: Exception) -> str:
        server = self.entry.server
        secrets = select_redactable(server.secrets) if server is not None else ()
        told = str(redact_secrets(str(error), secrets))
        return one_line(f"{type(error).__name__}: {told}")[:_SHOWN]

    def _read_start(self, task: asyncio.Task[Link | Failure]) -> Link | Failure:
        if not task.done():
            said = f"the server {self.name!r} is still being started"
            return Failure("timeout", said, retryable=True, not_done=True)
        if task.cancelled():
            return Failure("cancelled", "the gateway is being stopped", not_done=True)
        return task.result()

    async def _check(self, link: Link, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await link.send("ping", {}, Flight(refuse_ask))  # an error is an answer too
        except TimeoutError:
            if self._links.get(link.key) is link:
                del self._links[link.key]
            self.note_end(link, f"it answered nothing for {seconds:g} seconds")
            await link.close()
        finally:
            self._checked.discard(link)

    async def _take_list(self, link: Link, listed: Sequence[JsonObject]) -> None:
        before = self.listing
        reviewed = await asyncio.to_thread(self.shelf.pins.review, self.name, listed)
        self._keep_listing(reviewed, link.problems)
        if before is None or _get_definitions(before) != _get_definitions(self.listing):
            self.changed("tools")

    async def _take_profile(self, link: Link) -> None:
        names = (*CAPABILITY.values(), "completions", "logging", TASKS)
        found = frozenset(name for name in names if link.has(name))
        before = self.get_profile(link.key.principal)
        lists = {kind: list((before or Profile()).get(kind)) for kind in KINDS}
        with suppress(TimeoutError):
            async with asyncio.timeout(_PROFILE_SECONDS):
                for kind in KINDS:
                    lists[kind] = await link.list_all(kind) if CAPABILITY[kind] in found else []
        self._keep_profile(link, Profile(found, lists, link.instructions))
        for kind in KINDS:
            if before is None or list(before.get(kind)) != lists[kind]:
                self.changed(CAPABILITY[kind])

    async def _make_room(self) -> bool:
        """Close the connection that was idle longest; False where all are in use."""
        idle = [(link.used, key) for key, link in self._links.items() if not link.is_busy]
        if not idle:
            return False
        key = min(idle, key=lambda one: one[0])[1]
        await self._links.pop(key).close()
        return True


def _get_definitions(listing: Listing | None) -> list[JsonObject]:
    return [raw for raw, _ in listing.tools] if listing is not None else []


def _get_time() -> float:
    return asyncio.get_running_loop().time()
