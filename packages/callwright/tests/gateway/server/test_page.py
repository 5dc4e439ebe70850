from __future__ import annotations

from callwright.gateway.server.counters import GatewayCounters
from callwright.gateway.server.page import Shown, render_front, render_page
from callwright.gateway.session.record import CallRecord
from callwright.nouns.types import Edit
from callwright.nouns.wire_names import EditRules
from tests.gateway.session.offers import refuse_with

SERVER = {
    "name": "a",
    "state": "fails",
    "connections": 0,
    "tools": 5,
    "blocked": 1,
    "problems": ["a: odd left out"],
    "rests_seconds": 4.0,
    "last_failure": "it died",
}


def test_every_text_of_others_is_escaped_and_every_secret_masked() -> None:
    hostile = "<script>alert(1)</script>"
    counters = GatewayCounters()
    record = CallRecord("1", hostile, {hostile: "abcdef123456"}, hostile, hostile)
    record.verdict = refuse_with([Edit(hostile, hostile, hostile, EditRules.TRIM)])
    record.reply = record.reason = record.asked = hostile
    record.sent = {"a": hostile}
    counters.add(record)
    page = render_page(
        Shown(counters, [{**SERVER, "name": hostile}], 1, 0.0, [hostile], ("abcdef123456",))
    )
    assert page.count("<script") == 1, "ours"
    assert "abcdef123456" not in page
    assert "default-src 'none'" in page
    assert "<script" not in render_front(hostile)


def test_servers_and_calls_are_shown_with_what_was_done() -> None:
    counters = GatewayCounters()
    record = CallRecord("call-7", "a__x", {"n": "3"}, "a", "x", {"n": 3}, outcome="edited")
    record.verdict = refuse_with([Edit("/n", "3", 3, EditRules.TEXT_TO_NUMBER)])
    counters.add(record)
    page = render_page(Shown(counters, [SERVER], 0, 0.0))
    for said in (
        "a: fails (it died), 5 tools, 1 blocked, tried again in 4 s",
        "a: odd left out",
        "call-7",
        "text_to_number /n",
    ):
        assert said in page
    assert "No call yet" in render_page(Shown(GatewayCounters(), [], 0, 0.0))
