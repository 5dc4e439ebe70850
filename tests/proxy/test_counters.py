from __future__ import annotations

from callwright.errors import Violation
from callwright.proxy.counters import Counters
from callwright.proxy.record import Record
from callwright.types import Edit, ToolCall


def test_what_was_done_is_counted_and_the_last_requests_are_kept() -> None:
    counters = Counters(2)
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
