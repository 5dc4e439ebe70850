"""aiohttp, held so that it can connect only to addresses that were checked. The only module that
imports it.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from functools import lru_cache
from ipaddress import IPv4Address, ip_address
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from callwright.http.egress import Egress, Target, build_refusal
from callwright.http.redirect import Outgoing
from callwright.http.stream import HttpStream
from callwright.nouns.errors import Failure

if TYPE_CHECKING:
    import ssl

Lookup = Callable[[str, int], Awaitable[Sequence[str]]]
"""Host name and port -> its addresses as text. Raises OSError when there are none."""

_CURRENT: ContextVar[Target] = ContextVar("callwright_http_target")


class Refused(Exception):
    """An egress rule ended the attempt to connect; carries the Failure through aiohttp."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Disconnected(aiohttp.ClientError):
    """The connection broke under a request that aiohttp would otherwise have sent again by
    itself.
    """


async def system_lookup(host: str, port: int) -> Sequence[str]:
    """The addresses that the operating system gives for a name."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(info[4][0]) for info in found]


class CheckedResolver(AbstractResolver):
    """Resolves a name once and hands on the very addresses that the egress rules allowed.

    A name with one forbidden address among its answers is refused as a whole: honest names have
    none.
    """

    def __init__(self, egress: Egress, lookup: Lookup) -> None:
        self._egress = egress
        self._lookup = lookup

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_INET,  # noqa: ARG002 - both kinds are judged
    ) -> list[ResolveResult]:
        results: list[ResolveResult] = []
        for text in dict.fromkeys(await self._lookup(host, port)):
            try:
                address = ip_address(text)
            except ValueError:
                raise OSError(f"{host} was resolved to something that is no address") from None
            problem = self._egress.problem(host, port, address)
            if problem:
                raise Refused(build_refusal(f"not allowed: {problem}"))
            results.append(_build_resolve_result(host, port, address))
        if not results:
            raise OSError(f"{host} has no address")
        return results

    async def close(self) -> None:
        return None


def _build_resolve_result(host: str, port: int, address: Any) -> ResolveResult:
    family = socket.AF_INET if isinstance(address, IPv4Address) else socket.AF_INET6
    return ResolveResult(
        hostname=host,
        host=str(address),
        port=port,
        family=family,
        proto=0,
        flags=socket.AI_NUMERICHOST,
    )


class Connections:
    """The pool of connections of one client."""

    def __init__(
        self, egress: Egress, lookup: Lookup, ssl_context: ssl.SSLContext | None, limit: int
    ) -> None:
        self._egress = egress
        self.loop = asyncio.get_running_loop()
        connector = aiohttp.TCPConnector(
            resolver=CheckedResolver(egress, lookup),
            use_dns_cache=False,
            ssl=ssl_context if ssl_context is not None else True,
            limit=limit,
            socket_factory=self._socket,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            timeout=aiohttp.ClientTimeout(total=None),
        )

    def _socket(self, info: Any) -> socket.socket:
        """Last gate before a connection: whatever led here, this address must be allowed for the
        current target.
        """
        family, kind, proto, _, sockaddr = info
        target = _CURRENT.get(None)
        problem = "no request is under way"
        if target is not None:
            problem = self._egress.problem(target.host, target.port, ip_address(sockaddr[0]))
        if problem or target is None or sockaddr[1] != target.port:
            raise Refused(
                build_refusal(
                    f"not allowed: {problem or 'the port is not the one that was checked'}"
                )
            )
        return socket.socket(family=family, type=kind, proto=proto)

    async def send(
        self,
        target: Target,
        outgoing: Outgoing,
        *,
        connect: float,
        idle: float,
        deadline: float | None,
    ) -> Exchange | Failure:
        """Send one request to a checked target; returns when the headers are there. Redirects are
        not followed.
        """
        token = _CURRENT.set(target)
        try:
            asked = self._session.request(
                outgoing.method,
                URL(target.url, encoded=True),
                headers=dict(outgoing.headers),
                data=outgoing.body,
                allow_redirects=False,
                middlewares=(
                    () if outgoing.method == "POST" else (_send_once,)
                ),  # a POST it never repeats
                timeout=_build_client_timeout(connect, idle),
            )
            if deadline is None:
                response = await asked
            else:
                async with asyncio.timeout_at(deadline):
                    response = await asked
        except WIRE_ERRORS as exc:
            return build_failure(exc, target)
        finally:
            _CURRENT.reset(token)
        return Exchange(target, response, deadline)

    async def close(self) -> None:
        await self._session.close()


class Exchange:
    """A request whose answer's headers are there. ``close`` gives the connection back, or ends it
    if unread.
    """

    def __init__(
        self, target: Target, response: aiohttp.ClientResponse, deadline: float | None
    ) -> None:
        self.target = target
        self.status = response.status
        self.headers = _join_headers(response)
        self.redirected = False  # whether another answer has led here
        self._response = response
        self._deadline = deadline

    @property
    def announced(self) -> int | None:
        """The body's length before decompression, if the server says it."""
        return self._response.content_length

    def stream(self, max_bytes: int) -> HttpStream:
        cookies = tuple(self._response.headers.getall("set-cookie", ()))
        return HttpStream(
            self.status, self.headers, self.target.url, self._read_piece, max_bytes, cookies
        )

    def close(self) -> None:
        self._response.close()

    async def _read_piece(self) -> bytes | Failure:
        try:
            if self._deadline is None:
                return await self._response.content.readany()
            async with asyncio.timeout_at(self._deadline):
                return await self._response.content.readany()
        except WIRE_ERRORS as exc:
            return build_failure(exc, self.target)


async def _send_once(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Keep aiohttp from repeating requests on its own when a kept-alive connection breaks."""
    try:
        return await handler(request)
    except aiohttp.ClientConnectorError:
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as exc:
        raise Disconnected(str(exc)) from exc


WIRE_ERRORS = (Refused, aiohttp.ClientError, OSError, TimeoutError)


def build_failure(exc: Exception, target: Target) -> Failure:
    """The Failure for what went wrong on the way. Names the origin only: paths and queries may hold
    secrets.
    """
    where = target.origin
    if isinstance(exc, Refused):
        return exc.failure
    if isinstance(exc, aiohttp.ConnectionTimeoutError):
        return Failure(
            "timeout", f"{where} did not accept a connection in time", retryable=True, not_done=True
        )
    if isinstance(exc, TimeoutError):
        return Failure(
            "timeout", f"{where} did not answer in time", retryable=True, outcome_unknown=True
        )
    if isinstance(exc, aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorSSLError):
        return Failure(
            "unavailable",
            f"no trusted TLS connection to {where}: {_describe_cause(exc)}",
            not_done=True,
        )
    if isinstance(exc, aiohttp.ClientConnectorDNSError):
        said = f"the name of {where} cannot be resolved: {_describe_cause(exc)}"
        return Failure("unavailable", said, retryable=True, not_done=True)
    if isinstance(exc, aiohttp.ClientConnectorError):
        return Failure(
            "unavailable",
            f"cannot connect to {where}: {_describe_cause(exc)}",
            retryable=True,
            not_done=True,
        )
    if isinstance(exc, aiohttp.ClientResponseError | aiohttp.InvalidURL):
        return Failure("unavailable", f"{where} did not answer in HTTP", outcome_unknown=True)
    return Failure(
        "unavailable", f"the connection to {where} broke", retryable=True, outcome_unknown=True
    )


@lru_cache(16)
def _build_client_timeout(connect: float, idle: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=None, sock_connect=connect, sock_read=idle)


def _join_headers(response: aiohttp.ClientResponse) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in response.headers.items():
        key = name.lower()
        found[key] = f"{found[key]}, {value}" if key in found else value
    return found


def _describe_cause(exc: Exception) -> str:
    cause = (
        getattr(exc, "os_error", None)
        or getattr(exc, "certificate_error", None)
        or exc.__cause__
        or exc
    )
    return getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
