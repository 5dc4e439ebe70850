"""Counts for ``/metrics`` (Prometheus text format 0.0.4) and the last requests for the page."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence

from callwright.nouns.types import JsonObject
from callwright.proxy.server.budget import Budget
from callwright.proxy.server.undeclared_tools import UndeclaredTools
from callwright.proxy.session.answers.sse import json_bytes
from callwright.proxy.session.record import Record

_HELP = {
    "requests_total": "Requests by outcome; those without tools are not read and count as passed.",
    "edits_total": "Changes made to answers and histories, by rule.",
    "violations_total": "What the gate refused or warned of, by kind.",
    "questions_total": "Upstream requests beyond the client's own.",
    "calls_total": "Tool calls sent to clients, by the format they were read from.",
    "held_total": "Calls that the guard kept back, by rule.",
    "reported_total": "Calls that the guard spoke against and that were sent, by rule.",
    "guard_total": "Requests by what the guard did: act, report or off.",
    "led_total": "Requests that our engine led, by the parts of guided mode that were in force.",
    "faults_total": (
        "Requests over which the proxy itself failed, and which passed untouched, by kind."
    ),
    "active": "Requests under way.",
    "upstream_requests_total": "Requests to each of several upstreams, by how it answered.",
    "seconds_total": "Seconds spent on finished requests that offered tools.",
}


class Counters:
    """All that a running proxy counts; ``records`` are its last requests, newest first."""

    def __init__(self, budget: Budget) -> None:
        self.records: deque[Record] = deque()
        self._sizes: deque[int] = deque()  # bytes of each of them as JSON
        self._budget = budget
        self.requests: Counter[str] = Counter()
        self.edits: Counter[str] = Counter()
        self.violations: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.held: Counter[str] = Counter()
        self.reported: Counter[str] = Counter()
        self.guard: Counter[str] = Counter()
        self.led: Counter[str] = Counter()
        self.undeclared = UndeclaredTools(budget.kept_bytes)
        self.questions = 0
        self.active = 0
        self.seconds = 0.0

    def add(self, record: Record, secrets: Sequence[str] = ()) -> None:
        """Count a finished request and keep it for the page, without these secrets."""
        self._keep(record.shortened(self._budget.kept_chars, secrets))
        self.requests[record.outcome] += 1
        for edit in record.edits:
            self.edits[edit.rule] += 1
        for violation in record.violations:
            self.violations[violation.kind] += 1
        if record.sent:
            self.calls[record.dialect or "native"] += len(record.sent)
        self.held.update(one.rule for one in record.guarding.kept_back)
        self.reported.update(one.rule for one in record.guarding.reported)
        if record.guarding.mode is not None:
            self.guard[record.guarding.mode] += 1
        if record.led is not None:
            self.led.update(record.led.parts)
        self.questions += record.questions
        self.seconds += record.seconds

    def _keep(self, record: Record) -> None:
        self.records.appendleft(record)
        self._sizes.appendleft(len(json_bytes(record.to_dict())))
        while (
            len(self.records) > self._budget.kept_requests
            or sum(self._sizes) > self._budget.kept_bytes
        ):
            self.records.pop()
            self._sizes.pop()

    def text(self, upstreams: Sequence[JsonObject] = ()) -> str:
        """The exposition text. ``upstreams``: their health, where there are several."""
        return "\n".join((*self._lines(), *_iter_upstream_lines(upstreams))) + "\n"

    def _lines(self) -> Iterator[str]:
        for name, label, counted in (
            ("requests_total", "outcome", self.requests),
            ("edits_total", "rule", self.edits),
            ("violations_total", "kind", self.violations),
            ("calls_total", "dialect", self.calls),
            ("held_total", "rule", self.held),
            ("reported_total", "rule", self.reported),
            ("guard_total", "mode", self.guard),
            ("led_total", "part", self.led),
            ("faults_total", "kind", self.faults),
        ):
            yield from _iter_header_lines(name, "counter")
            for key, count in sorted(counted.items()):
                yield f'callwright_{name}{{{label}="{key}"}} {count}'
        for name, kind, value in (
            ("questions_total", "counter", self.questions),
            ("active", "gauge", self.active),
            ("seconds_total", "counter", round(self.seconds, 6)),
        ):
            yield from _iter_header_lines(name, kind)
            yield f"callwright_{name} {value}"


def _iter_upstream_lines(upstreams: Sequence[JsonObject]) -> Iterator[str]:
    if not upstreams:
        return
    yield from _iter_header_lines("upstream_requests_total", "counter")
    for one in upstreams:
        answered = one["asked"] - one["failed"] - one["limited"]
        for label, count in (("answered", answered), *((k, one[k]) for k in ("failed", "limited"))):
            labels = f'upstream="{one["name"]}",outcome="{label}"'
            yield f"callwright_upstream_requests_total{{{labels}}} {count}"


def _iter_header_lines(name: str, kind: str) -> Iterator[str]:
    yield f"# HELP callwright_{name} {_HELP[name]}"
    yield f"# TYPE callwright_{name} {kind}"
