"""The way of each request to one of several upstreams: the first that answers. No upstream is asked
again once a byte of its answer has gone out; that is for the caller to know.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from callwright.http import HttpStream, retry_after
from callwright.nouns.errors import Failure
from callwright.nouns.types import JsonObject
from callwright.proxy.server.destination import Destination
from callwright.proxy.session.answers.sse import json_object
from callwright.serving.health import Health

_LISTS = frozenset({"/v1/models", "/models", "/api/tags"})
_GENERATES = frozenset(
    {
        "/v1/chat/completions",
        "/v1/completions",
        "/v1/embeddings",
        "/v1/messages",
        "/v1/responses",
        "/v1/rerank",
        "/v1/score",
        "/chat/completions",
        "/completions",
        "/embeddings",
        "/responses",
        "/api/chat",
        "/api/generate",
        "/api/embed",
        "/api/embeddings",
    }
)
LONGEST_WAIT = 10.0  # seconds for an upstream that asked for rest, where all do
_NOT_SUPPORTED = 501  # an answer: another request may be served


@dataclass(frozen=True, slots=True)
class Exhausted:
    """No upstream can answer now: the status and the seconds for ``Retry-After``."""

    status: int
    seconds: int
    message: str


@dataclass(slots=True)
class _Member:
    destination: Destination
    health: Health = field(default_factory=Health)


class Routes:
    """The upstreams in the order in which they are asked, with their health.

    ``clock``, ``now`` and ``sleep``: monotonic time, the time of day (for HTTP dates) and waiting.
    """

    def __init__(
        self,
        destinations: Sequence[Destination],
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep,
        longest_wait: float = LONGEST_WAIT,
    ) -> None:
        self.members = [_Member(one) for one in destinations]
        self.clock, self.now, self.sleep = clock, now, sleep
        self.longest_wait = longest_wait

    @property
    def are_several(self) -> bool:
        """Return True if a request can go to another upstream than the first."""
        return len(self.members) > 1

    @property
    def destinations(self) -> tuple[Destination, ...]:
        return tuple(member.destination for member in self.members)

    def to_dict(self) -> list[JsonObject]:
        """The upstreams with their health, JSON-ready."""
        now = self.clock()
        return [
            {
                "name": one.destination.name,
                "address": one.destination.upstream.base,
                **one.health.to_dict(now),
            }
            for one in self.members
        ]

    def begin(self, method: str, path: str) -> Route:
        """Return the way of one request."""
        is_list = method in ("GET", "HEAD") and path in _LISTS
        return Route(self, is_free=is_list or (method == "POST" and path in _GENERATES))


class Route:
    """The way of one request. ``chosen`` is asked now, None if nobody can be.

    ``is_free``: any upstream can answer. Other requests (files, batches, stored answers) belong to
    the first, which alone knows what they name, and say nothing of its health. ``is_movable``: the
    request may go to another upstream.
    """

    def __init__(self, routes: Routes, *, is_free: bool) -> None:
        self._routes = routes
        self._is_free = is_free
        self.is_movable = is_free and routes.are_several
        self._chosen: _Member | None = routes.members[0]
        self._tried: list[_Member] = []
        self._sent_again: list[_Member] = []
        self._patience = routes.longest_wait
        self.notes: list[str] = []

    @property
    def chosen(self) -> Destination | None:
        return None if self._chosen is None else self._chosen.destination

    async def choose(self) -> None:
        """Choose the upstream that is asked next, of those that were not asked yet. Where all of
        them rest, the one is waited for whose rest ends first, if that is soon.
        """
        if not self.is_movable:
            return
        routes = self._routes
        left = [one for one in routes.members if one not in self._tried]
        limited = [one for one in routes.members if one.health.state == "limited"]
        self._chosen = min(left, key=self._rank, default=None)
        if self._chosen is not None and self._rank(self._chosen)[0] < 2:
            return
        soonest = min(limited, key=self._seconds_of_rest, default=None)
        wait = self._seconds_of_rest(soonest) if soonest is not None else math.inf
        self._chosen = soonest if wait <= self._patience else None
        if self._chosen is not None:
            self._patience -= max(
                wait, 1.0
            )  # also of one that limits requests and asks for no rest
            self.notes.append(f"waited {wait:.1f} s for {self._chosen.destination.name}")
            await routes.sleep(wait)

    def judge(self, answer: HttpStream | Failure) -> str:
        """Note how the chosen upstream answered. Return "" for an answer that the client gets, else
        what went wrong.
        """
        assert self._chosen is not None
        health = self._chosen.health if self._is_free else Health()
        now = self._routes.clock()
        if isinstance(answer, Failure):
            health.fail(now, answer.message)
            return answer.message
        asked = retry_after(answer.headers, self._routes.now())
        said = f"HTTP {answer.status}"
        if answer.status == 429:
            health.limit(now, said, asked)
        elif answer.status >= 500 and answer.status != _NOT_SUPPORTED:
            health.fail(now, said, asked)
        else:
            health.succeed(now)
            return ""
        return said

    def note_break(self, failure: Failure) -> None:
        """Note that the answer of the chosen upstream broke off."""
        if self._chosen is not None and self._is_free:
            self._chosen.health.fail(self._routes.clock(), failure.message)

    def may_send_again(self, answer: HttpStream | Failure) -> bool:
        """Return True, once an upstream, if its connection broke: most likely it had closed that
        after the answer before.
        """
        chosen = self._chosen
        is_broken = isinstance(answer, Failure) and answer.kind == "unavailable"
        is_broken = is_broken and isinstance(answer, Failure) and answer.outcome_unknown
        if not is_broken or not self.is_movable or chosen is None or chosen in self._sent_again:
            return False
        self._sent_again.append(chosen)
        return True

    def give_up(self, answer: HttpStream | Failure, said: str, body: bytes) -> None:
        """Note that the chosen upstream is left for another one."""
        assert self._chosen is not None
        self._tried.append(self._chosen)
        name = self._chosen.destination.name
        self.notes.append(f"{name} did not answer: {said}")
        is_done = isinstance(answer, Failure) and answer.not_done
        is_refused = not isinstance(answer, Failure) and answer.status == 429
        if not is_done and not is_refused and _may_have_effects(body):
            self.notes.append(f"{name} may have stored or started this request as well")

    def refuse(self) -> Exhausted:
        """Return the answer to a request that no upstream can answer now."""
        members = self._routes.members
        rest = min(self._seconds_of_rest(one) for one in members)
        states = "; ".join(f"{one.destination.name}: {one.health.last}" for one in members)
        is_limited = all(one.health.state == "limited" for one in members)
        message = "all upstreams limit requests now" if is_limited else "no upstream answers now"
        seconds = max(1, math.ceil(rest))
        said = f"{message} ({states}); try again in {seconds} s"
        return Exhausted(429 if is_limited else 503, seconds, said)

    def _rank(self, member: _Member) -> tuple[int, float]:
        """0 for those that may be asked, 1 for those that failed lately, 2 for those that must not
        be asked yet. ``min`` keeps the order of the upstreams among equal ones.
        """
        rest = self._seconds_of_rest(member)
        if not rest:
            return 0, 0.0
        return (2 if member.health.state == "limited" else 1), rest

    def _seconds_of_rest(self, member: _Member) -> float:
        return member.health.seconds_of_rest(self._routes.clock())


def _may_have_effects(body: bytes) -> bool:
    """Return True if a request asks its upstream to keep it, or to go on without the client."""
    asked = json_object(body) or {}
    return asked.get("store") is True or asked.get("background") is True
