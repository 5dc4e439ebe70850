from __future__ import annotations

from callwright.gateway.server.counters import GatewayCounters
from callwright.gateway.session.record import CallOutcome, CallRecord
from callwright.nouns.types import Edit
from callwright.nouns.wire_names import EditRules
from tests.gateway.session.offers import refuse_with

SERVER = {"name": 'a"b', "connections": 2, "tools": 5}


def record(outcome: CallOutcome, reason: str = "", text: str = "") -> CallRecord:
    made = CallRecord("1", "a__x", {"text": text}, "a", "x", outcome=outcome, reason=reason)
    made.seconds = 0.5
    return made


def test_calls_edits_refusals_and_servers_are_counted() -> None:
    counters = GatewayCounters()
    edited = record("edited")
    edited.verdict = refuse_with([Edit("/a", "1", 1, EditRules.TEXT_TO_NUMBER)] * 2)
    for one in (record("passed"), edited, record("refused", "arguments"), record("unknown")):
        counters.add(one)
    failed = record("passed")
    failed.is_error = True
    counters.add(failed)
    assert counters.total == 5
    assert counters.count_outcome("passed") == 2
    text = counters.render(3, 2, [SERVER])
    for line in (
        'callwright_gateway_calls_total{server="a",outcome="unknown"} 1',
        'callwright_gateway_edits_total{rule="text_to_number"} 2',
        'callwright_gateway_refused_total{reason="arguments"} 1',
        'callwright_gateway_errors_total{server="a"} 1',
        "callwright_gateway_call_seconds_total 2.5",
        "callwright_gateway_calls_active 3",
        'callwright_gateway_server_up{server="a\\"b"} 1',
        'callwright_gateway_server_tools{server="a\\"b"} 5',
    ):
        assert line in text.splitlines()


def test_what_is_kept_for_the_page_has_an_end() -> None:
    counters = GatewayCounters()
    for number in range(5_000):
        counters.add(record("passed", text=str(number) * 10_000))
    assert len(counters.records) == 200
    assert sum(map(len, map(str, counters.records))) < 5_000_000
