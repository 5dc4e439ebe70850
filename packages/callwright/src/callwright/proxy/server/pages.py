"""The proxy's own pages: what it is, health, counts, and what was done to the last requests.
Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile, islice
from typing import Any, TypeVar
from urllib.parse import parse_qs

from callwright import __version__
from callwright.proxy.server.counters import Counters
from callwright.proxy.server.page import (
    Shown,
    render_front,
    render_page,
    render_row,
)
from callwright.proxy.server.route import Routes
from callwright.proxy.session.answers import compose
from callwright.proxy.session.answers.sse import json_bytes
from callwright.proxy.session.record import Record
from callwright.serving.access import LOGIN, Access
from callwright.serving.own_pages import (
    HTML,
    JSON,
    STRICT,
    TEXT,
    Answer,
    build_answer,
    build_login,
    build_safe_headers,
    read_login,
)
from callwright.viewer.document import build_policy
from callwright.viewer.markup import Html

T = TypeVar("T", bytes, Html)
REQUESTS = "/callwright"
_OWN = ("/healthz", "/metrics", REQUESTS)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for one of our pages. ``host`` is what the client calls us; ``tag``: the version of
    the page that it has already.
    """

    method: str
    path: str
    query: str = ""
    html: bool = False
    host: str = ""
    tag: str = ""

    @classmethod
    def read(cls, scope: Mapping[str, Any]) -> Asked:
        """Return the page request in an ASGI scope."""
        given = dict(scope["headers"])
        html = b"text/html" in given.get(b"accept", b"")
        host, query = (
            given.get(b"host", b"").decode("latin-1"),
            scope["query_string"].decode("latin-1"),
        )
        tag = given.get(b"if-none-match", b"").decode("latin-1")
        return cls(scope["method"], scope["path"], query, html, host, tag)

    @property
    def is_update(self) -> bool:
        """Return True if an open page asks for what is new, as it does every second."""
        return self.path.rstrip("/") == REQUESTS and bool(self.tag)

    @property
    def is_own(self) -> bool:
        """Return True if the path is the proxy's own. All others belong to the upstream, also the
        root unless a browser asks for it.
        """
        if self.path == "/":
            return self.html and self.method in ("GET", "HEAD")
        return any(self.path == own or self.path.startswith(f"{own}/") for own in _OWN)


def answer_request(
    asked: Asked, counters: Counters, routes: Routes, most: int, now: float = 0.0
) -> Answer:
    """``/``, ``/healthz``, ``/metrics``, ``/callwright`` (HTML), ``/callwright/upstreams.json``,
    ``/callwright/tools.json`` (those without declared effects) and ``/callwright/requests.json``, of
    at most about ``most`` bytes: what follows has a link, in the JSON's case in the header ``link``
    (RFC 8288). ``now``: seconds since 1970.
    """
    path = asked.path.rstrip("/")
    if path == REQUESTS or path == f"{REQUESTS}/requests.json":
        health = routes.to_dict() if routes.are_several else ()
        shown = Shown(counters, _list_addresses(routes), now, health=health)
        found: Answer | None = _answer_requests(asked, path, counters, shown, most)
    else:
        found = _answer_simple(asked, path, counters, routes)
    if found is None:
        return (
            404,
            (("content-type", JSON),),
            compose.compose_error(404, f"the proxy has no page {asked.path[:200]}"),
        )
    if asked.method not in ("GET", "HEAD"):
        return (
            405,
            (("content-type", JSON), ("allow", "GET, HEAD")),
            compose.compose_error(405, f"{path} can only be read"),
        )
    return found


def _answer_simple(asked: Asked, path: str, counters: Counters, routes: Routes) -> Answer | None:
    match path:
        case "":
            return build_answer(HTML, render_front(asked.host, _list_addresses(routes)).encode())
        case "/callwright/upstreams.json":
            return build_answer(JSON, json_bytes(routes.to_dict()))
        case "/callwright/tools.json":
            return build_answer(JSON, counters.undeclared.to_json())
        case "/healthz":
            return build_answer(
                JSON,
                json_bytes({"status": "ok", "version": __version__, "active": counters.active}),
            )
        case "/metrics":
            told = routes.to_dict() if routes.are_several else ()
            return build_answer(TEXT, counters.text(told).encode())
    return None


def _answer_requests(
    asked: Asked, path: str, counters: Counters, shown: Shown, most: int
) -> Answer:
    """Newest first, from the one behind ``?before=ID`` on."""
    before = parse_qs(asked.query).get("before", [""])[0]
    records: Sequence[Record] = list(counters.records)
    if before:
        records = list(islice(dropwhile(lambda record: record.id != before, records), 1, None))
    if path == REQUESTS:
        return _answer_page(asked, path, records, replace(shown, live=not before), most)
    written, more = _take_fitting(records, lambda record: json_bytes(record.to_dict()), most)
    link = (("link", f'<{path}?before={more}>; rel="next"'),) if more else ()
    return build_answer(JSON, b"[" + b",".join(written) + b"]", link)


def _answer_page(
    asked: Asked, path: str, records: Sequence[Record], shown: Shown, most: int
) -> Answer:
    """The page, or 304 where the browser has it already (RFC 9110, 13.1.2)."""
    headers = build_safe_headers(build_policy(scripts=shown.scripts, live=shown.live))
    tag = (("etag", _make_tag(shown.counters)),)
    if asked.tag == tag[0][1]:
        return 304, (*tag, *headers), b""
    rows, more = _take_fitting(records, lambda record: render_row(record, shown.now), most)
    shown = replace(shown, more=f"{path}?before={more}" if more else "")
    return 200, (("content-type", HTML), *headers, *tag), render_page(rows, shown).encode()


def _make_tag(counters: Counters) -> str:
    """The version of what the page shows: it changes with every request that begins or ends."""
    newest = counters.records[0].id if counters.records else ""
    faults = sum(counters.faults.values())
    return f'"{newest}/{sum(counters.requests.values())}/{counters.active}/{faults}"'


def _list_addresses(routes: Routes) -> str:
    return ", ".join(one.upstream.base for one in routes.destinations)


def _take_fitting(
    records: Sequence[Record], write: Callable[[Record], T], most: int
) -> tuple[list[T], str]:
    """The first records, written, until they are ``most`` long; then the id of the last one, if
    there are others.
    """
    shown: list[T] = []
    size = 0
    for record in records:
        shown.append(write(record))
        size += len(shown[-1])
        if size > most:
            break
    return shown, records[len(shown) - 1].id if len(shown) < len(records) else ""


def build_refusal(status: int, message: str) -> Answer:
    """An error of our own. Where the rest of the request does not come, the connection is of no
    more use.
    """
    close = (("connection", "close"),) if status == 408 else ()
    allow = (("allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"),) if status == 405 else ()
    return status, (("content-type", JSON), *close, *allow), compose.compose_error(status, message)


def ask_for_key(asked: Asked, access: Access, said: str = "") -> Answer:
    """A page that wants the proxy's key: a form for people, an error for programs."""
    if asked.html:
        return build_login(LOGIN, said, access)
    said = said or "this page wants the proxy's key, as a bearer token or x-api-key"
    headers = (("content-type", JSON), *STRICT, ("www-authenticate", "Bearer"))
    return 401, headers, compose.compose_error(401, said)


def logged_in(asked: Asked, body: bytes, access: Access) -> Answer:
    """Return the answer to a login: the cookie for the pages, or the form again."""
    wrong = f"this is not the {access.what}'s key ({access.variable})"
    return read_login(body, access, REQUESTS) or ask_for_key(asked, access, wrong)
