from __future__ import annotations

from callwright.proxy.page import page
from callwright.proxy.record import Record
from callwright.types import Edit, ToolCall


def test_the_page_shows_raw_parsed_edits_and_sent_escaped() -> None:
    record = Record("1", "/v1/messages", model="<m>", outcome="edited", raw="<script>alert(1)</script>")
    record.parsed, record.sent = (ToolCall("a", "Get", {"x": 1}),), (ToolCall("a", "get", {"x": 1}),)
    record.edits.append(Edit("/0/name", "Get", "get", "case"))
    record.notes.append("a note")
    made = page([record], "http://h/v1")
    assert "<script>" not in made
    assert "&lt;script&gt;alert(1)" in made
    for said in ("Raw", "Parsed", "Edits", "Sent", "a note", "&lt;m&gt;", "http://h/v1", "case"):
        assert said in made


def test_a_page_without_requests_says_so() -> None:
    assert "No request" in page([], "http://h/v1")
