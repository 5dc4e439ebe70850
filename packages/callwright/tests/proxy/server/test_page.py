from __future__ import annotations

from callwright.nouns.types import Edit, ToolCall
from callwright.proxy.server.page import render_front, render_login, render_page, render_row
from callwright.proxy.session.guarding import Guarding, HeldCall
from callwright.proxy.session.record import Led, Record


def test_the_page_shows_raw_parsed_edits_and_sent_escaped() -> None:
    record = Record(
        "1", "/v1/messages", model="<m>", outcome="edited", raw="<script>alert(1)</script>"
    )
    record.parsed, record.sent = (
        (ToolCall("a", "Get", {"x": 1}),),
        (ToolCall("a", "get", {"x": 1}),),
    )
    record.edits.append(Edit("/0/name", "Get", "get", "case"))
    record.notes.append("a note")
    made = render_page([render_row(record)], "http://h/v1")
    assert "<script>" not in made
    assert "&lt;script&gt;alert(1)" in made
    for said in ("Raw", "Parsed", "Edits", "Sent", "a note", "&lt;m&gt;", "http://h/v1", "case"):
        assert said in made


def test_a_page_without_requests_says_so() -> None:
    assert "No request" in render_page([], "http://h/v1")


def test_the_front_page_says_what_to_enter_where() -> None:
    made = render_front("localhost:8787", "http://h/v1")
    assert "http://localhost:8787/v1" in made
    assert 'href="/callwright"' in made


def test_nothing_of_a_request_becomes_markup_wherever_it_stands() -> None:
    hostile = (
        '"><meta http-equiv=refresh content="0;url=http://evil.example/"><script>alert(1)</script>'
    )
    call = ToolCall(hostile, hostile, {hostile: hostile})
    record = Record(hostile, hostile, model=hostile, outcome="edited", raw=hostile, dialect=hostile)
    record.parsed, record.sent = (call,), (call,)
    record.edits.append(Edit(hostile, hostile, hostile, hostile))
    record.notes.append(hostile)
    record.led = Led((hostile,), (hostile,))
    record.guarding = Guarding("act", [HeldCall(call, hostile, hostile)])
    for made in (
        render_page([render_row(record)], hostile, hostile),
        render_front(hostile, hostile),
        render_login(hostile, hostile),
    ):
        assert made.count("<meta") == 4, "ours"
        assert "<script" not in made
        assert "default-src 'none'" in made


def test_the_page_shows_what_the_engine_did_and_what_the_guard_held() -> None:
    order = ToolCall("a", "place_order", {"code": "A-100"})
    record = Record("1", "/x", outcome="edited", guided=True)
    record.led = Led(("select", "layers"), ("chosen: place_order", "offered: a > place_order"))
    record.guarding = Guarding("act", [HeldCall(order, "repeated_write", "It was made already.")])
    made = str(render_row(record))
    for said in (
        "guided: select, layers",
        "guard: act",
        "1 kept back",
        "chosen: place_order",
        "offered: a &gt; place_order",
        "kept back (repeated_write): place_order",
        "It was made already.",
    ):
        assert said in made
    record.guarding = Guarding("report", [HeldCall(order, "repeated_write", "why", is_sent=True)])
    made = str(render_row(record))
    assert "1 reported" in made
    assert "sent, only reported (repeated_write): place_order" in made
    assert "Guard" not in str(render_row(Record("1", "/x")))
