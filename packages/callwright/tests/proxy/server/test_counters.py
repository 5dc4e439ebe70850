from __future__ import annotations

from callwright.agent.safety.held_call import HeldCall
from callwright.nouns.errors import Violation
from callwright.nouns.types import Edit, ToolCall
from callwright.proxy.server.budget import Budget
from callwright.proxy.server.counters import Counters
from callwright.proxy.session.guarding import Guarding
from callwright.proxy.session.record import Led, Record


def test_what_was_done_is_counted_and_the_last_requests_are_kept() -> None:
    counters = Counters(Budget(kept_requests=2))
    for n in range(3):
        record = Record(str(n), "/v1/chat/completions", outcome="edited", dialect="hermes")
        record.edits.append(Edit("/0", None, None, "loop"))
        record.violations.append(Violation("schema", "no"))
        record.sent = (ToolCall("a", "t", {}),)
        counters.add(record)
    assert [r.id for r in counters.records] == ["2", "1"]
    text = counters.text()
    for line in (
        'callwright_requests_total{outcome="edited"} 3',
        'callwright_edits_total{rule="loop"} 3',
        'callwright_violations_total{kind="schema"} 3',
        'callwright_calls_total{dialect="hermes"} 3',
        "callwright_active 0",
    ):
        assert line in text.splitlines()


def test_what_is_remembered_is_bounded_in_bytes_and_the_oldest_goes() -> None:
    counters = Counters(Budget(kept_bytes=100_000, kept_chars=30_000))
    for number in range(20):
        counters.add(Record(str(number), "/x", raw="x" * 8_000_000))
    assert [record.id for record in counters.records] == ["19", "18", "17"]
    assert counters.requests["passed"] == 20
    assert sum(len(record.raw) for record in counters.records) < 100_000


def test_what_the_guard_and_the_engine_did_is_counted() -> None:
    counters = Counters(Budget())
    call = ToolCall("a", "t", {})
    held = [HeldCall(call, "repeated_write", "why") for _ in range(2)]
    counters.add(Record("1", "/x", guarding=Guarding("act", held), led=Led(("select", "layers"))))
    sent = HeldCall(call, "unstated_value", "why", is_sent=True)
    counters.add(Record("2", "/x", guarding=Guarding("report", [sent]), led=Led(("layers",))))
    counters.add(Record("3", "/x"))
    assert {
        'callwright_held_total{rule="repeated_write"} 2',
        'callwright_reported_total{rule="unstated_value"} 1',
        'callwright_guard_total{mode="act"} 1',
        'callwright_guard_total{mode="report"} 1',
        'callwright_led_total{part="layers"} 2',
        'callwright_led_total{part="select"} 1',
    } <= set(counters.text().splitlines())
