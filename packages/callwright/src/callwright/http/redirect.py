"""Builds the request that follows a redirect (RFC 9110 section 15.4), without credentials for
another origin. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote, urljoin

from callwright.http.egress import Target, build_refusal, parse_target
from callwright.nouns.errors import Failure

STATUSES = frozenset({301, 302, 303, 307, 308})
_PUBLIC_HEADERS = frozenset({"accept", "accept-language", "user-agent"})
_BODY_HEADERS = frozenset(
    {"content-type", "content-encoding", "content-language", "content-length"}
)
_URL_CHARACTERS = "%/:=&?~#+!$,;'@()*[]\\"


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request about to be sent. Header names are in lower case."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None


def follow_redirect(
    sent: Outgoing, target: Target, status: int, location: str
) -> Outgoing | Failure:
    """The request that follows ``location``.

    Another origin gets no header but Accept, Accept-Language and User-Agent, and never a body;
    https never becomes http. An upgrade of the same host from http to https on the default ports
    counts as the same origin.
    """
    try:
        url = urljoin(
            target.url, quote(location.strip(), safe=_URL_CHARACTERS, errors="surrogateescape")
        )
    except (ValueError, UnicodeError):
        return build_refusal("the server redirects to a URL that cannot be read")
    following = parse_target(url)
    if isinstance(following, Failure):
        return build_refusal(f"redirect not followed: {following.message}")
    if target.scheme == "https" and following.scheme == "http":
        return build_refusal(f"redirect not followed: from https to unencrypted {following.origin}")
    plain = _without_body(sent) if _becomes_get(sent.method, status) else sent
    if same_origin(target, following):
        return replace(plain, url=following.url)
    if plain.body is not None:
        return build_refusal(
            f"redirect not followed: the request's body is not handed on to {following.origin}"
        )
    headers = {k: v for k, v in plain.headers.items() if k in _PUBLIC_HEADERS}
    return replace(plain, url=following.url, headers=headers)


def _becomes_get(method: str, status: int) -> bool:
    return (status == 303 and method != "HEAD") or (status in (301, 302) and method == "POST")


def _without_body(sent: Outgoing) -> Outgoing:
    headers = {k: v for k, v in sent.headers.items() if k not in _BODY_HEADERS}
    return Outgoing("GET", sent.url, headers)


def same_origin(one: Target, other: Target) -> bool:
    """Scheme, host and port are the same, or ``other`` is the https upgrade of ``one`` on the
    default ports.
    """
    if one.host != other.host:
        return False
    upgrade = (one.scheme, one.port, other.scheme, other.port) == ("http", 80, "https", 443)
    return upgrade or (one.scheme, one.port) == (other.scheme, other.port)
