"""Selects the headers that pass the proxy, and builds the upstream path of a request (RFC 9110,
7.6.1).
"""

from __future__ import annotations

from collections.abc import Mapping

from callwright.proxy.session.events import Headers

_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
    }
    | {"transfer-encoding", "upgrade"}
)
_NOT_UPSTREAM = _HOP | {"host", "content-length", "accept-encoding", "expect"}
_NOT_DOWNSTREAM = _HOP | {"content-encoding", "date", "server", "set-cookie"}
SECRET = frozenset(
    {"authorization", "x-api-key", "api-key", "cookie", "set-cookie", "x-callwright-key"}
)


def filter_upstream(headers: Headers) -> Headers:
    """The client's headers for the upstream: all but those of the connection; ours are for us.

    ``accept-encoding`` is not passed on: answers are read on the way.
    """
    named = dict(headers).get("connection", "")
    also = {token.strip().lower() for token in named.split(",")} if named else set()
    return tuple(
        (k, v)
        for k, v in headers
        if k not in _NOT_UPSTREAM and k not in also and not k.startswith("x-callwright-")
    )


def join_repeated(headers: Headers) -> dict[str, str]:
    """One value for each name, as RFC 9110, 5.3 joins repeated ones (cookies: RFC 6265, 5.4)."""
    made: dict[str, list[str]] = {}
    for name, value in headers:
        made.setdefault(name, []).append(value)
    return {
        name: ("; " if name == "cookie" else ", ").join(values) for name, values in made.items()
    }


def filter_downstream(headers: Mapping[str, str], *, length: bool) -> dict[str, str]:
    """The upstream's headers for the client; ``length``: the body is passed as it is, so its length
    holds.
    """
    kept = {k: v for k, v in headers.items() if k not in _NOT_DOWNSTREAM}
    if not length or "content-encoding" in headers:
        kept.pop("content-length", None)
    return kept


def convert_api_key(headers: Headers) -> Headers:
    """With Anthropic's ``x-api-key`` written as OpenAI's servers read it, and Anthropic's own
    headers left out.
    """
    given = dict(headers)
    kept = [(k, v) for k, v in headers if k != "x-api-key" and not k.startswith("anthropic-")]
    if "authorization" not in given and "x-api-key" in given:
        kept.append(("authorization", f"Bearer {given['x-api-key']}"))
    return tuple(kept)
