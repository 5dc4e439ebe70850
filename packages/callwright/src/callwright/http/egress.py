"""Decides which destinations a request may go to. Pure: no socket is opened here; the client asks
before every hop and every connection.

A URL is taken apart once, strictly, and put together again from the checked parts, so that later
code cannot read it differently. The rules are those of RFC 3986; WHATWG URL's number-like hosts are
refused rather than interpreted.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_network
from urllib.parse import urlsplit

from callwright.http import address as addresses
from callwright.http.address import Address
from callwright.nouns.errors import ConfigError, Failure

_DEFAULT_PORT = {"http": 80, "https": 443}
_HOST = re.compile(
    r"(?=.{1,253}\Z)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*"
)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f-\xa0\\\ufeff\u2028\u2029]")
_REFUSED_IN_QUERY = re.compile(r"[^\x21-\x7e]")


@dataclass(frozen=True, slots=True)
class Target:
    """One checked URL, taken apart. ``host`` is a canonical address or an ASCII name in lower
    case.
    """

    scheme: str
    host: str
    port: int
    path: str  # percent-encoded, begins with "/"
    query: str  # percent-encoded, without "?"
    address: Address | None = None

    @property
    def origin(self) -> str:
        """``scheme://host[:port]``: all of a URL that may be named in errors (paths and queries may
        hold secrets).
        """
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if _DEFAULT_PORT[self.scheme] == self.port else f":{self.port}"
        return f"{self.scheme}://{host}{port}"

    @property
    def url(self) -> str:
        return self.origin + self.path + (f"?{self.query}" if self.query else "")


def build_refusal(message: str, detail: str = "") -> Failure:
    return Failure("egress", message, detail=detail or None, not_done=True)


@lru_cache(256)  # a client asks for the same few addresses over and over
def parse_target(url: str) -> Target | Failure:
    """Take a URL apart, or say why it may not be requested. Spellings that parsers disagree on are
    refused.
    """
    if _FORBIDDEN.search(url):
        return build_refusal(
            "the URL contains blanks, control characters or a backslash: percent-encode them"
        )
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return build_refusal("the URL cannot be read: its host or port is malformed")
    scheme = parts.scheme.lower()
    if scheme not in _DEFAULT_PORT:
        return build_refusal(
            f"only http and https are spoken, not {scheme[:20] or 'a URL without a scheme'!r}"
        )
    if "@" in parts.netloc:
        return build_refusal(
            "the URL carries a user name or password: send credentials as a header instead"
        )
    if port == 0 or parts.netloc.endswith(":"):
        return build_refusal("the URL's port is empty or 0")
    host = _parse_host(parts.hostname or "", bracketed="[" in parts.netloc)
    if isinstance(host, Failure):
        return host
    if _REFUSED_IN_QUERY.search(parts.path + parts.query):
        return build_refusal("the URL's path or query is not percent-encoded")
    name, address = host
    return Target(
        scheme, name, port or _DEFAULT_PORT[scheme], parts.path or "/", parts.query, address
    )


def _parse_host(raw: str, *, bracketed: bool) -> tuple[str, Address | None] | Failure:
    if bracketed or ":" in raw:
        address = addresses.parse(raw)
        if address is None or isinstance(address, IPv4Address) or not bracketed:
            return build_refusal(f"{raw[:60]!r} is not an IPv6 address")
        return str(address), address
    name = _encode_host(raw)
    if name is None:
        return build_refusal(f"{raw[:60]!r} is not a host name")
    if _NUMBER.fullmatch(name.rsplit(".", 1)[-1]):
        # 2130706433, 127.1, 0x7f.1, 0177.0.0.1: socket libraries read these as addresses, each in
        # its own way.
        address = addresses.parse(name)
        if address is None:
            return build_refusal(
                f"{raw[:60]!r} is a number: write IPv4 addresses as four decimal parts"
            )
        return str(address), address
    return name, None


def _encode_host(raw: str) -> str | None:
    """The host in lower-case ASCII (IDNA, UTS 46), without one trailing dot; None when it is no
    host name.
    """
    name = raw
    if not raw.isascii():
        import idna  # comes with aiohttp's yarl; only needed for such hosts

        try:
            name = idna.encode(unicodedata.normalize("NFKC", raw), uts46=True).decode("ascii")
        except (idna.IDNAError, UnicodeError):
            return None
    name = name.lower().removesuffix(".")
    return name if _HOST.fullmatch(name) else None


@dataclass(frozen=True, slots=True)
class Allowed:
    """One entry of ``allow``: a host name, an address or a network, with or without a port."""

    name: str = ""
    network: IPv4Network | IPv6Network | None = None
    port: int | None = None

    @classmethod
    def parse(cls, entry: str) -> Allowed:
        """``localhost``, ``localhost:8080``, ``127.0.0.1:8080``, ``[::1]:80``, ``::1``,
        ``10.0.0.0/8``.
        """
        text = entry.strip()
        host, port = text, None
        match = re.fullmatch(r"(\[[^\]]+\]|[^:]+):(\d{1,5})", text)
        if match:
            host, port = match[1], int(match[2])
        host = host.removeprefix("[").removesuffix("]")
        try:
            return cls(network=ip_network(host), port=port)
        except ValueError:
            pass
        name = _encode_host(host)
        if (
            name is None
            or _NUMBER.fullmatch(name.rsplit(".", 1)[-1])
            or (port is not None and not 0 < port < 65536)
        ):
            raise ConfigError(
                f"{entry!r} cannot be allowed: it is neither a host, an address nor a network",
                hint="write localhost, localhost:8080, 127.0.0.1:8080, [::1]:8080 or 10.0.0.0/8",
            )
        return cls(name=name, port=port)

    def opens(self, host: str, port: int, address: Address) -> bool:
        """Return True if this entry allows connecting to ``host`` at ``address``."""
        if self.port is not None and self.port != port:
            return False
        if self.network is not None:
            return address.version == self.network.version and address in self.network
        if self.name != host:
            return False
        kind = addresses.classify_address(address)
        return kind == "loopback" if host == "localhost" else kind not in addresses.NEVER_BY_NAME


@dataclass(frozen=True, slots=True)
class Egress:
    """Rules for the addresses that may be connected to: by default public unicast only, plus the
    entries of ``allow``.

    The result depends on host, port and address alone. So a kept-alive connection is allowed for
    every caller that requests it again.
    """

    allowed: tuple[Allowed, ...] = ()
    anywhere: bool = False

    @classmethod
    def allow(cls, entries: Iterable[str]) -> Egress:
        """The default rules, plus these hosts, addresses (with or without a port) and networks."""
        return cls(tuple(Allowed.parse(e) for e in entries))

    @classmethod
    def any(cls) -> Egress:
        """Any address: only for a URL that the user typed. Redirects to another origin are then not
        followed.
        """
        return cls(anywhere=True)

    def problem(self, host: str, port: int, address: Address) -> str:
        """Return the reason why ``host`` may not be reached at ``address``, or ""."""
        if self.anywhere or any(entry.opens(host, port, address) for entry in self.allowed):
            return ""
        kind = addresses.classify_address(address)
        if not kind:
            return ""
        entry = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        if host == str(address):
            return f"{address} is a {kind} address; allow it with {entry!r} if that is meant"
        return (
            f"{host} leads to the {kind} address {address}; allow it with {entry!r} if that is"
            " meant"
        )

    def check(self, url: str) -> Target | Failure:
        """Take a URL apart and judge its host if that is an address. Names are judged when they are
        resolved.
        """
        target = parse_target(url)
        if isinstance(target, Failure) or target.address is None:
            return target
        problem = self.problem(target.host, target.port, target.address)
        return build_refusal(f"not allowed: {problem}") if problem else target
