"""The proxy's own pages: health, counts, and what was done to the last requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from callwright import __version__
from callwright.errors import MissingExtra
from callwright.proxy.counters import Counters
from callwright.proxy.page import page
from callwright.proxy.sse import json_bytes

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

_STRICT = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}


def pages(counters: Counters, upstream: str) -> Starlette:
    """``/healthz``, ``/metrics``, ``/callwright`` (HTML) and ``/callwright/requests.json``."""
    try:
        from starlette.applications import Starlette
        from starlette.responses import HTMLResponse, PlainTextResponse, Response
        from starlette.routing import Route
    except ImportError:
        raise MissingExtra("the proxy", "proxy") from None

    async def healthz(_: Request) -> Response:
        said = {"status": "ok", "version": __version__, "active": counters.active}
        return Response(json_bytes(said), media_type="application/json")

    async def metrics(_: Request) -> Response:
        return PlainTextResponse(counters.text(), media_type="text/plain; version=0.0.4")

    async def show(_: Request) -> Response:
        return HTMLResponse(page(list(counters.records), upstream), headers=_STRICT)

    async def requests(_: Request) -> Response:
        rows = [r.to_dict() for r in counters.records]
        return Response(json_bytes(rows), media_type="application/json", headers=_STRICT)

    return Starlette(
        routes=[
            Route("/healthz", healthz),
            Route("/metrics", metrics),
            Route("/callwright", show),
            Route("/callwright/requests.json", requests),
        ]
    )
