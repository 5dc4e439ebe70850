"""What a client, a request and the whole process may cost: every limit of the proxy, stated once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any


def _limit(default: float, unit: str, of: str, over: str) -> Any:
    return field(default=default, metadata={"unit": unit, "of": of, "over": over})


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits in bytes, seconds and counts. ``rows`` lists what each limits and what happens above it."""

    connections: int = _limit(
        1_000, "connections", "open client connections", "the longest idle one is closed, else 503"
    )
    head_bytes: int = _limit(64_000, "bytes", "request line and headers", "431")
    head_seconds: float = _limit(10.0, "seconds", "from the first byte of a head to its end", "408")
    idle_seconds: float = _limit(75.0, "seconds", "a connection without a request", "closed")
    body_bytes: int = _limit(32_000_000, "bytes", "request body", "413")
    body_seconds: float = _limit(60.0, "seconds", "between two pieces of a request body", "408")
    answer_bytes: int = _limit(256_000_000, "bytes", "answer of the upstream", "the answer breaks off")
    waiting_bytes: int = _limit(32_000_000, "bytes", "one answer held back for repair", "passes unread")
    stalled_seconds: float = _limit(60.0, "seconds", "a client takes no byte of its answer", "both ends are closed")
    inline_bytes: int = _limit(256_000, "bytes", "text read on the event loop", "is read beside it")
    items: int = _limit(20_000, "items", "tools, messages, calls and schema parts read", "passes unread")
    cpu_seconds: float = _limit(2.0, "seconds", "computing time for the repair of one request", "passes unread")
    cache_bytes: int = _limit(16_000_000, "bytes", "tool lists remembered between requests", "the oldest are dropped")
    kept_requests: int = _limit(200, "requests", "requests on the requests page", "the oldest are dropped")
    kept_bytes: int = _limit(16_000_000, "bytes", "all requests on the requests page", "the oldest are dropped")
    kept_chars: int = _limit(20_000, "characters", "one text of a request on that page", "shortened")
    page_bytes: int = _limit(
        2_000_000, "bytes", "one page or JSON answer of the proxy itself", "continues on the next"
    )

    @classmethod
    def rows(cls) -> Iterator[tuple[str, str, str, str]]:
        """The table of the documentation: name, default with its unit, what is limited, what happens above it."""
        for one in fields(cls):
            yield one.name, _shown(one.default, one.metadata["unit"]), one.metadata["of"], one.metadata["over"]


def _shown(limit: Any, unit: str) -> str:
    if unit != "bytes":
        return f"{limit:,g} {unit}"
    return f"{limit / 1_000_000:g} MB" if limit >= 1_000_000 else f"{limit / 1_000:g} KB"
