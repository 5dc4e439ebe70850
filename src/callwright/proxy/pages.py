"""The proxy's own pages: health, counts, and what was done to the last requests. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from callwright import __version__
from callwright.proxy import compose
from callwright.proxy.counters import Counters
from callwright.proxy.page import page
from callwright.proxy.sse import json_bytes

Answer = tuple[int, Sequence[tuple[str, str]], bytes]
"""Status, headers and body."""

_JSON, _TEXT, _HTML = "application/json", "text/plain; version=0.0.4; charset=utf-8", "text/html; charset=utf-8"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_POLICY += "; sandbox"  # with it a page that got past all escaping could not even lead elsewhere by <meta refresh>
_STRICT = (
    ("content-security-policy", _POLICY),
    ("x-content-type-options", "nosniff"),
    ("cache-control", "no-store"),
)


def answer(method: str, path: str, counters: Counters, upstream: str) -> Answer:
    """``/healthz``, ``/metrics``, ``/callwright`` (HTML) and ``/callwright/requests.json``."""
    kind, body = _body(path.rstrip("/"), counters, upstream)
    if not kind:
        return 404, (("content-type", _JSON),), compose.error(404, f"the proxy has no page {path}")
    if method not in ("GET", "HEAD"):
        return 405, (("content-type", _JSON), ("allow", "GET, HEAD")), compose.error(405, f"{path} can only be read")
    return 200, (("content-type", kind), *_STRICT), body


def _body(path: str, counters: Counters, upstream: str) -> tuple[str, bytes]:
    match path:
        case "/healthz":
            return _JSON, json_bytes({"status": "ok", "version": __version__, "active": counters.active})
        case "/metrics":
            return _TEXT, counters.text().encode()
        case "/callwright":
            return _HTML, page(list(counters.records), upstream).encode()
        case "/callwright/requests.json":
            return _JSON, json_bytes([r.to_dict() for r in counters.records])
    return "", b""
