"""Counts for ``/metrics`` (Prometheus text format 0.0.4), and the last calls for the page."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence

from callwright.gateway.session.record import CallRecord
from callwright.nouns.types import JsonObject, to_canonical_json

_KEPT = 200  # calls
_KEPT_CHARS = 4_000  # of one value of a call
_KEPT_BYTES = 4_000_000
_HELP = {
    "calls_total": "Calls of tools, by server and outcome; unknown: it may have taken effect.",
    "edits_total": "Changes made to the arguments of calls, by rule.",
    "refused_total": "Calls that were not sent, by reason.",
    "errors_total": "Results of servers that say that the tool failed, by server.",
    "call_seconds_total": "Seconds spent on calls.",
    "calls_active": "Calls under way.",
    "sessions": "Sessions of clients of the protocol before 2026-07-28.",
    "server_up": "1 where a server has an open connection, by server.",
    "server_tools": "Tools that a server offers, by server.",
}


class GatewayCounters:
    """All that a running gateway counts; ``records`` are its last calls, newest first, as JSON whose
    secrets are masked when it is shown.
    """

    def __init__(self) -> None:
        self.records: deque[JsonObject] = deque()
        self._sizes: deque[int] = deque()
        self._bytes = 0
        self.calls: Counter[tuple[str, str]] = Counter()
        self.edits: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.seconds = 0.0

    @property
    def total(self) -> int:
        """Return the number of calls."""
        return sum(self.calls.values())

    def count_outcome(self, outcome: str) -> int:
        """Return the number of calls that ended so."""
        return sum(count for (_, ended), count in self.calls.items() if ended == outcome)

    def add(self, record: CallRecord) -> None:
        """Count a call that has ended, and keep it for the page."""
        self.calls[record.server, record.outcome] += 1
        for edit in record.edits:
            self.edits[edit.rule] += 1
        if record.outcome == "refused":
            self.refused[record.reason] += 1
        self.errors[record.server] += record.is_error and record.outcome in ("passed", "edited")
        self.seconds += record.seconds
        self._keep(record.shorten(_KEPT_CHARS))

    def _keep(self, told: JsonObject) -> None:
        self.records.appendleft(told)
        self._sizes.appendleft(len(to_canonical_json(told)))
        self._bytes += self._sizes[0]
        while len(self.records) > _KEPT or self._bytes > _KEPT_BYTES:
            self.records.pop()
            self._bytes -= self._sizes.pop()

    def render(self, active: int, sessions: int, servers: Sequence[JsonObject]) -> str:
        """The exposition text. ``servers``: their states."""
        return "\n".join(self._iter_lines(active, sessions, servers)) + "\n"

    def _iter_lines(
        self, active: int, sessions: int, servers: Sequence[JsonObject]
    ) -> Iterator[str]:
        yield from _iter_head("calls_total", "counter")
        for (server, outcome), count in sorted(self.calls.items()):
            yield f"{_build_name('calls_total')}{_render_labels(server=server, outcome=outcome)} {count}"
        for name, label, counted in (
            ("edits_total", "rule", self.edits),
            ("refused_total", "reason", self.refused),
            ("errors_total", "server", self.errors),
        ):
            yield from _iter_head(name, "counter")
            for key, count in sorted(counted.items()):
                if count:
                    yield f"{_build_name(name)}{_render_labels(**{label: key})} {count}"
        for name, kind, value in (
            ("call_seconds_total", "counter", round(self.seconds, 6)),
            ("calls_active", "gauge", active),
            ("sessions", "gauge", sessions),
        ):
            yield from _iter_head(name, kind)
            yield f"{_build_name(name)} {value}"
        for name, key in (("server_up", "connections"), ("server_tools", "tools")):
            yield from _iter_head(name, "gauge")
            for one in servers:
                value = min(1, one[key]) if name == "server_up" else one[key]
                yield f"{_build_name(name)}{_render_labels(server=one['name'])} {value}"


def _build_name(name: str) -> str:
    return f"callwright_gateway_{name}"


def _iter_head(name: str, kind: str) -> Iterator[str]:
    yield f"# HELP {_build_name(name)} {_HELP[name]}"
    yield f"# TYPE {_build_name(name)} {kind}"


def _render_labels(**given: str) -> str:
    said = ",".join(f'{key}="{_escape_label(value)}"' for key, value in given.items())
    return f"{{{said}}}"


def _escape_label(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
