"""HTTP for MCP servers: the SDK's client on a transport under our egress rules. The only module
that imports httpx2.

The SDK (``mcp``) takes an ``httpx2.AsyncClient``; its transport is the last place every request of
the SDK passes, redirects included, whatever the SDK's own rules about them are. Held there:

* Requests go to the origin of the server's URL alone (its https upgrade on the default ports
  included). A redirect elsewhere is not followed. Only a login goes to other origins too: to the
  authorization servers that the server names, which are public ones over TLS, or on loopback where
  the server itself is.
* The host is resolved and judged by the code of :mod:`callwright.http` before every request, and
  the connection goes to the very address that was judged. A host that was typed may be private or
  loopback, as that of a typed OpenAPI URL; a *name* never leads to a metadata, link-local,
  multicast or reserved address.
* Proxies of the environment are not used: they would resolve names themselves.

* A message that fails below HTTP is answered here (:mod:`callwright.tools.mcp.lost`), so that it ends
  no other call.
* An answer that is not a stream of events has at most MAX_ANSWER bytes, and none is compressed: a
  few bytes could become any number. (One event of a stream has as many: the SDK counts
  those.)

Not held: what a stdio server does on the network, which is the server's own affair.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

import httpx2

from callwright.http.connection import CheckedResolver, Lookup, Refused, system_lookup
from callwright.http.egress import Egress, Target, parse_target
from callwright.http.redirect import same_origin
from callwright.nouns.errors import CatalogError, Failure
from callwright.tools.mcp import lost

if TYPE_CHECKING:
    import ssl

SECONDS = 30.0  # to connect and to send
MAX_ANSWER = 32_000_000
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")
IDLE_SECONDS = 300.0  # between two pieces of an answer: a server may hold a stream open


@cache
def get_default_context() -> ssl.SSLContext:
    """The settings of TLS for all connections. Reading the certificates that are trusted takes the
    event loop tens of milliseconds, so it is done once.
    """
    return httpx2.create_ssl_context()


class CheckedTransport(httpx2.AsyncBaseTransport):
    """Sends to one origin, to addresses that were judged. Anything else is an
    ``httpx2.ConnectError``.
    """

    def __init__(
        self,
        target: Target,
        lookup: Lookup = system_lookup,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        host = f"[{target.host}]" if ":" in target.host else target.host
        self._target = target
        self._resolver = CheckedResolver(Egress.allow([f"{host}:{target.port}"]), lookup)
        self._inner = httpx2.AsyncHTTPTransport(verify=ssl_context or get_default_context())

    async def addresses(self, target: Target) -> list[str]:
        """Return the addresses of the host of ``target``. Raises Refused, or OSError where it has
        no address.
        """
        if target.address is not None:
            return [str(target.address)]  # typed as it stands, and no other host passes
        return [found["host"] for found in await self._resolver.resolve(target.host, target.port)]

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            return await self._send(request)
        except httpx2.TransportError as error:
            if request.method != "POST":
                raise
            return _answer_for(request, error)

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        going = parse_target(str(request.url))
        if isinstance(going, Failure):
            raise httpx2.ConnectError(going.message, request=request)
        if not same_origin(self._target, going):
            said = (
                f"{going.origin} is not the origin of the MCP server, {self._target.origin}: not"
                " followed"
            )
            raise httpx2.ConnectError(said, request=request)
        try:
            addresses = await self.addresses(going)
        except (Refused, OSError) as error:
            raise httpx2.ConnectError(str(error), request=request) from error
        for address in addresses[:-1]:
            try:
                return _bound_response(
                    await self._inner.handle_async_request(_pin_address(address, going, request))
                )
            except (
                httpx2.ConnectError,
                httpx2.ConnectTimeout,
            ):  # nothing was sent: the next address may answer
                continue
        return _bound_response(
            await self._inner.handle_async_request(_pin_address(addresses[-1], going, request))
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


class LoginTransport(CheckedTransport):
    """Sends to the server's origin, and what an OAuth login asks of other origins to these."""

    def __init__(
        self,
        target: Target,
        lookup: Lookup = system_lookup,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(target, lookup, ssl_context)
        self._lookup, self._ssl_context = lookup, ssl_context
        self._others: dict[str, _IssuerTransport] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        going = parse_target(str(request.url))
        if isinstance(going, Failure) or same_origin(self._target, going):
            return await super().handle_async_request(request)
        other = self._others.get(going.origin)
        if other is None:
            is_near = self._target.host in LOOPBACK_HOSTS
            other = _IssuerTransport(going, self._lookup, self._ssl_context, is_near=is_near)
            self._others[going.origin] = other
        return await other.handle_async_request(request)

    async def aclose(self) -> None:
        await super().aclose()
        for other in self._others.values():
            await other.aclose()


class _IssuerTransport(CheckedTransport):
    """Sends to one authorization server, which nobody typed. ``is_near``: it may be on loopback."""

    def __init__(
        self,
        target: Target,
        lookup: Lookup,
        ssl_context: ssl.SSLContext | None,
        *,
        is_near: bool,
    ) -> None:
        super().__init__(target, lookup, ssl_context)
        self._egress = Egress.allow(LOOPBACK_HOSTS if is_near else ())
        self._resolver = CheckedResolver(self._egress, lookup)
        self._is_near = is_near

    async def addresses(self, target: Target) -> list[str]:
        if target.address is None:
            return await super().addresses(target)
        problem = self._egress.problem(target.host, target.port, target.address)
        if problem:
            raise OSError(f"not allowed: {problem}")
        return [str(target.address)]

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if self._target.scheme != "https" and not self._is_near:
            said = f"a login at {self._target.origin} would not be encrypted"
            raise httpx2.ConnectError(said, request=request)
        return await self._send(request)


class _BoundedStream(httpx2.AsyncByteStream):
    """The bytes of an answer, at most ``most`` of them. What cannot be read on is an
    ``httpx2.StreamError``, which ends this answer only: other errors end the SDK's connection, and
    with it the calls of others.
    """

    def __init__(self, stream: httpx2.AsyncByteStream, most: int | None, refused: str) -> None:
        self._stream, self._most, self._refused = stream, most, refused

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._refused:
            raise httpx2.StreamError(self._refused)
        seen = 0
        try:
            async for chunk in self._stream:
                seen += len(chunk)
                if self._most is not None and seen > self._most:
                    raise httpx2.StreamError(f"it is longer than {self._most} bytes")
                yield chunk
        except httpx2.TransportError as error:
            raise httpx2.StreamError(f"it broke off: {type(error).__name__}") from error

    async def aclose(self) -> None:
        await self._stream.aclose()


def _answer_for(request: httpx2.Request, error: httpx2.TransportError) -> httpx2.Response:
    """The answer to a message that failed below HTTP, marked as our own."""
    is_sent = not isinstance(
        error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout
    )
    body = lost.build_answer(f"{type(error).__name__}: {error}", is_sent=is_sent)
    return httpx2.Response(
        lost.STATUS,
        headers={"content-type": "application/json"},
        content=body,
        request=request,
        extensions={lost.EXTENSION: True},
    )


def _bound_response(response: httpx2.Response) -> httpx2.Response:
    encoding = response.headers.pop("content-encoding", "").strip().lower()
    refused = f"it is compressed ({encoding[:20]}), which was not asked for" * (
        encoding not in ("", "identity")
    )
    is_events = response.headers.get("content-type", "").lower().startswith("text/event-stream")
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _BoundedStream(response.stream, None if is_events else MAX_ANSWER, refused)
    return response


def _pin_address(address: str, going: Target, request: httpx2.Request) -> httpx2.Request:
    """The same request on a connection to ``address``: its Host header and the name that TLS checks
    stay.
    """
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": going.host},
    )


async def client_for(
    target: Target,
    headers: Mapping[str, str],
    lookup: Lookup = system_lookup,
    ssl_context: ssl.SSLContext | None = None,
    *,
    auth: httpx2.Auth | None = None,
) -> httpx2.AsyncClient:
    """A client for the MCP server at ``target``; with ``auth`` it logs in. Raises CatalogError
    where its host may not be reached.
    """
    kind = CheckedTransport if auth is None else LoginTransport
    transport = kind(target, lookup, ssl_context)
    try:
        await transport.addresses(target)
    except Refused as refused:
        raise CatalogError(refused.failure.message) from None
    except OSError as error:
        raise CatalogError(
            f"the name of {target.origin} cannot be resolved: {error.strerror or error}"
        ) from None
    return httpx2.AsyncClient(
        headers={"accept-encoding": "identity", **headers},
        timeout=httpx2.Timeout(SECONDS, read=IDLE_SECONDS),
        transport=transport,
        trust_env=False,
        auth=auth,
    )
