"""HttpClient: one request, its redirects, its retries, its limits."""

from __future__ import annotations

import asyncio
import json as jsonlib
import random
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from callwright.http.egress import Egress, build_refusal
from callwright.http.redirect import STATUSES, Outgoing, follow_redirect
from callwright.http.response import HttpResponse, retry_after
from callwright.http.retry import NEVER, Retry
from callwright.http.stream import HttpStream, too_large
from callwright.nouns.errors import Failure
from callwright.nouns.protocols import MAY_REPEAT

if TYPE_CHECKING:
    import ssl

    from callwright.http.connection import Connections, Exchange

Params = Mapping[str, Any] | Iterable[tuple[str, Any]]
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BAD_VALUE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")
_METHOD = re.compile(r"[A-Z]{1,20}")


@dataclass(frozen=True, slots=True)
class Timeout:
    """Seconds: to connect, between two pieces of the answer, and for everything (redirects and
    retries included).
    """

    connect: float = 10.0
    idle: float = 60.0
    total: float | None = 120.0


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The inputs that a client takes from outside: name resolution (None: the system's), waiting,
    randomness and wall-clock time. Tests replace them.
    """

    lookup: Callable[[str, int], Awaitable[Sequence[str]]] | None = None
    sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep
    chance: Callable[[], float] = random.random
    now: Callable[[], float] = time.time


class HttpClient:
    """Sends requests under egress rules. Use as an async context manager, or call ``aclose`` when
    done.

    What the world does wrong comes back as a Failure; only misuse raises. ``repeat=True`` says that
    sending the request twice does no harm; without it nothing is ever sent twice, and with it only
    where whoever counts the calls lets it be (:data:`callwright.nouns.protocols.MAY_REPEAT`).
    """

    def __init__(
        self,
        egress: Egress | None = None,
        *,
        timeout: Timeout | None = None,
        max_bytes: int = 10_000_000,
        max_redirects: int = 5,
        retry: Retry | None = None,
        headers: Mapping[str, str] | None = None,
        connections: int = 100,
        ssl_context: ssl.SSLContext | None = None,
        surroundings: Surroundings | None = None,
    ) -> None:
        self.egress = egress or Egress()
        self.timeout = timeout or Timeout()
        self._unlimited = replace(self.timeout, total=None)
        self.max_bytes = max_bytes
        self.max_redirects = max_redirects
        self.retry = retry or Retry()
        self._headers = {"user-agent": "callwright", **_lower_header_names(headers)}
        self._limit = connections
        self._ssl_context = ssl_context
        self.surroundings = surroundings or Surroundings()
        self._connections: Connections | None = None

    async def __aenter__(self) -> HttpClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every connection. The client may be used again afterwards."""
        pool, self._connections = self._connections, None
        if pool is not None:
            await pool.close()

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        params: Params | None = None,
        json: Any = None,
        data: bytes | str | None = None,
        timeout: float | Timeout | None = None,
        max_bytes: int | None = None,
        repeat: bool = False,
    ) -> HttpResponse | Failure:
        """Send a request and read the whole answer, whatever its status (see
        ``failure_for_status``).

        ``timeout`` as a number is the total in seconds; ``max_bytes`` limits the body
        (decompressed).
        """
        outgoing = self._outgoing(method, url, headers, params, json, data)
        if isinstance(outgoing, Failure):
            return outgoing
        limits = _choose_timeout(timeout, self.timeout)
        deadline = _compute_deadline(limits)
        policy = self.retry if repeat else NEVER
        attempt, acted = 0, False
        while True:
            attempt += 1
            result = await self._once(
                outgoing, limits, deadline, self.max_bytes if max_bytes is None else max_bytes
            )
            if acted:
                result = _mark_acted(result)
            acted = not result.not_done
            asked = (
                retry_after(result.headers, self.surroundings.now())
                if isinstance(result, HttpResponse)
                else None
            )
            wait = policy.wait(attempt, result, asked, self.surroundings.chance())
            if wait is None or (
                deadline is not None and asyncio.get_running_loop().time() + wait >= deadline
            ):
                return result
            if not MAY_REPEAT.get()():
                return result
            await self.surroundings.sleep(wait)

    @asynccontextmanager
    async def stream(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        params: Params | None = None,
        json: Any = None,
        data: bytes | str | None = None,
        timeout: float | Timeout | None = None,
        max_bytes: int | None = None,
    ) -> AsyncIterator[HttpStream | Failure]:
        """Send a request and hand out the answer when its headers are there; leaving the block
        closes it.

        Without ``timeout`` there is no total limit, only the client's limits to connect and between
        two pieces.
        """
        outgoing = self._outgoing(method, url, headers, params, json, data)
        if isinstance(outgoing, Failure):
            yield outgoing
            return
        limits = _choose_timeout(timeout, self._unlimited)
        exchange = await self._follow(outgoing, limits, _compute_deadline(limits))
        if isinstance(exchange, Failure):
            yield exchange
            return
        try:
            yield exchange.stream(self.max_bytes if max_bytes is None else max_bytes)
        finally:
            exchange.close()

    async def _once(
        self, outgoing: Outgoing, limits: Timeout, deadline: float | None, max_bytes: int
    ) -> HttpResponse | Failure:
        exchange = await self._follow(outgoing, limits, deadline)
        if isinstance(exchange, Failure):
            return exchange
        try:
            if outgoing.method != "HEAD" and (exchange.announced or 0) > max_bytes:
                return too_large(max_bytes)
            result = await exchange.stream(max_bytes).read()
            return _mark_acted(result) if exchange.redirected else result
        finally:
            exchange.close()

    async def _follow(
        self, outgoing: Outgoing, limits: Timeout, deadline: float | None
    ) -> Exchange | Failure:
        """Send the request and whatever redirects make of it, each hop checked again."""
        for hop in range(self.max_redirects + 1):
            exchange = await self._hop(outgoing, limits, deadline)
            if isinstance(exchange, Failure):
                return replace(exchange, not_done=exchange.not_done and hop == 0)
            exchange.redirected = hop > 0
            if exchange.status not in STATUSES:
                return exchange
            location = exchange.headers.get("location")
            if location is None:
                return exchange
            exchange.close()
            following = follow_redirect(outgoing, exchange.target, exchange.status, location)
            if isinstance(following, Failure):
                return replace(
                    following, not_done=False
                )  # who redirects may have acted first (RFC 9110, 15.4.4)
            if self.egress.anywhere and not following.url.startswith(exchange.target.origin + "/"):
                said = "redirect to another origin not followed: enter that address instead"
                return replace(build_refusal(said), not_done=False)
            outgoing = following
        return replace(build_refusal(f"more than {self.max_redirects} redirects"), not_done=False)

    async def _hop(
        self, outgoing: Outgoing, limits: Timeout, deadline: float | None
    ) -> Exchange | Failure:
        target = self.egress.check(outgoing.url)
        if isinstance(target, Failure):
            return target
        pool = self._pool()
        return await pool.send(
            target, outgoing, connect=limits.connect, idle=limits.idle, deadline=deadline
        )

    def _pool(self) -> Connections:
        """The connections of the running event loop; those of a loop that has ended cannot be used
        any more.
        """
        from callwright.http.connection import Connections, system_lookup

        loop = asyncio.get_running_loop()
        if self._connections is None or self._connections.loop is not loop:
            lookup = self.surroundings.lookup or system_lookup
            self._connections = Connections(self.egress, lookup, self._ssl_context, self._limit)
        return self._connections

    def _outgoing(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None,
        params: Params | None,
        json: Any,
        data: bytes | str | None,
    ) -> Outgoing | Failure:
        if not _METHOD.fullmatch(method.upper()):
            raise ValueError(f"{method!r} is not an HTTP method")
        merged = {**self._headers, **_lower_header_names(headers)}
        if (
            not all(merged)
            or not _TOKEN.fullmatch("".join(merged))
            or _BAD_VALUE.search("".join(merged.values()))
        ):
            wrong = next(
                n for n, v in merged.items() if not _TOKEN.fullmatch(n) or _BAD_VALUE.search(v)
            )
            return Failure(
                "tool_error",
                f"the header {wrong[:60]!r} holds characters that headers cannot carry",
                not_done=True,
            )
        body = data.encode("utf-8", "replace") if isinstance(data, str) else data
        if json is not None:
            body = jsonlib.dumps(json, allow_nan=False, separators=(",", ":")).encode()
            merged.setdefault("content-type", "application/json")
        return Outgoing(method.upper(), with_params(url, params), merged, body)


def _mark_acted(result: HttpResponse | Failure) -> HttpResponse | Failure:
    """A result that does not tell what an earlier sending of the same request did."""
    if isinstance(result, Failure):
        return replace(result, not_done=False)
    return replace(result, acted=True)


def with_params(url: str, params: Params | None) -> str:
    """``url`` with query parameters appended, names and values percent-encoded (RFC 3986)."""
    if not params:
        return url
    pairs = params.items() if isinstance(params, Mapping) else (params or ())
    query = "&".join(
        f"{quote(str(k), safe='', errors='replace')}={quote(_format_param(v), safe='', errors='replace')}"
        for k, v in pairs
    )
    if not query:
        return url
    address, mark, fragment = url.partition("#")
    joint = "&" if "?" in address else "?"
    return f"{address}{joint}{query}{mark}{fragment}"


def _format_param(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _lower_header_names(headers: Mapping[str, str] | None) -> dict[str, str]:
    return {k.lower(): v for k, v in (headers or {}).items()}


def _choose_timeout(asked: float | Timeout | None, default: Timeout) -> Timeout:
    if isinstance(asked, Timeout):
        return asked
    return default if asked is None else replace(default, total=asked)


def _compute_deadline(limits: Timeout) -> float | None:
    return None if limits.total is None else asyncio.get_running_loop().time() + limits.total
