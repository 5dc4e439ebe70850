"""Defines every limit of the proxy in one place: for a client, a request and the whole process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any


def _make_limit_field(default: float, unit: str, of: str, over: str) -> Any:
    return field(default=default, metadata={"unit": unit, "of": of, "over": over})


@dataclass(frozen=True, slots=True)
class ConnectionBudget:
    """Limits of a client's connection, its requests and their answers."""

    connections: int = _make_limit_field(
        1_000, "connections", "open client connections", "the longest idle one is closed, else 503"
    )
    head_bytes: int = _make_limit_field(64_000, "bytes", "request line and headers", "431")
    head_seconds: float = _make_limit_field(
        10.0, "seconds", "from the first byte of a head to its end", "408"
    )
    idle_seconds: float = _make_limit_field(
        75.0, "seconds", "a connection without a request", "closed"
    )
    body_bytes: int = _make_limit_field(32_000_000, "bytes", "request body", "413")
    body_seconds: float = _make_limit_field(
        60.0,
        "seconds",
        "between two pieces of a request body, and of all of it beyond 10 KB a second",
        "408",
    )
    answer_bytes: int = _make_limit_field(
        256_000_000, "bytes", "answer of the upstream", "the answer breaks off"
    )
    waiting_bytes: int = _make_limit_field(
        32_000_000, "bytes", "a streamed answer held back for repair", "passes untouched"
    )
    stalled_seconds: float = _make_limit_field(
        60.0, "seconds", "a client takes no byte of its answer", "both ends are closed"
    )


@dataclass(frozen=True, slots=True)
class ReadingBudget(ConnectionBudget):
    """Limits of reading requests and answers, on the event loop and in the worker process."""

    inline_bytes: int = _make_limit_field(
        128_000, "bytes", "request read on the event loop", "goes to the worker process"
    )
    inline_items: int = _make_limit_field(
        2_000,
        "items",
        "tools, messages, calls and parts read on the event loop",
        "goes to the worker process",
    )
    inline_seconds: float = _make_limit_field(
        0.1,
        "seconds",
        "processor time of one step on the event loop",
        "goes on in the worker process",
    )
    worker_bytes: int = _make_limit_field(
        4_000_000, "bytes", "request read by the worker process", "passes untouched"
    )
    worker_items: int = _make_limit_field(
        20_000,
        "items",
        "tools, messages, calls and parts read by the worker process",
        "passes untouched",
    )
    worker_seconds: float = _make_limit_field(
        5.0, "seconds", "processor time of one step in the worker process", "passes untouched"
    )
    worker_wait_seconds: float = _make_limit_field(
        15.0, "seconds", "a request waits for the worker process", "passes untouched"
    )
    worker_load_bytes: int = _make_limit_field(
        32_000_000,
        "bytes",
        "requests in the worker process at one time",
        "the next one passes untouched",
    )
    calls: int = _make_limit_field(200, "calls", "calls in one answer", "passes untouched")
    read_bytes: int = _make_limit_field(
        1_000_000, "bytes", "answer that is not streamed", "passes untouched"
    )
    probe_wait_seconds: float = _make_limit_field(
        15.0,
        "seconds",
        "a request waits until it is known what its model can do",
        "goes on without guided mode",
    )


@dataclass(frozen=True, slots=True)
class Budget(ReadingBudget):
    """Limits in bytes, seconds and counts. ``rows`` lists what each limits and what happens above
    it.
    """

    cache_bytes: int = _make_limit_field(
        4_000_000,
        "bytes",
        "tool lists remembered between requests, as JSON",
        "the oldest are dropped",
    )
    kept_requests: int = _make_limit_field(
        200, "requests", "requests on the requests page", "the oldest are dropped"
    )
    kept_bytes: int = _make_limit_field(
        16_000_000, "bytes", "all requests on the requests page", "the oldest are dropped"
    )
    kept_chars: int = _make_limit_field(
        20_000, "characters", "one text of a request on that page", "shortened"
    )
    page_bytes: int = _make_limit_field(
        2_000_000, "bytes", "one page or JSON answer of the proxy itself", "continues on the next"
    )

    @classmethod
    def rows(cls) -> Iterator[tuple[str, str, str, str]]:
        """The table of the documentation: name, default with its unit, what is limited, what
        happens above it.
        """
        for one in fields(cls):
            yield (
                one.name,
                _format_limit(one.default, one.metadata["unit"]),
                one.metadata["of"],
                one.metadata["over"],
            )


def _format_limit(limit: Any, unit: str) -> str:
    if unit != "bytes":
        return f"{limit:,g} {unit}"
    return f"{limit / 1_000_000:g} MB" if limit >= 1_000_000 else f"{limit / 1_000:g} KB"


@dataclass(frozen=True, slots=True)
class Allowance:
    """Limits for reading one request in one process. ``final``: a larger request passes untouched.
    Otherwise it goes to the worker process, unless its answer has begun.
    """

    items: int
    seconds: float
    final: bool

    @classmethod
    def inline(cls, budget: Budget) -> Allowance:
        """On the event loop that serves everybody."""
        return cls(budget.inline_items, budget.inline_seconds, final=False)

    @classmethod
    def worker(cls, budget: Budget) -> Allowance:
        """In the worker process."""
        return cls(budget.worker_items, budget.worker_seconds, final=True)


def count_items(body: Mapping[str, Any]) -> int:
    """The tools, messages, calls and content parts of a chat request."""
    tools, messages = body.get("tools"), body.get("messages")
    messages = messages if isinstance(messages, list) else []
    parts = (
        m.get(key) for m in messages if isinstance(m, dict) for key in ("tool_calls", "content")
    )
    return len(messages) + sum(len(found) for found in (tools, *parts) if isinstance(found, list))
