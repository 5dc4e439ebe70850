from __future__ import annotations

import json

import pytest

from callwright.gateway.server.call_log import CallLines, JsonLines, TextLines
from callwright.gateway.session.record import CallRecord
from callwright.nouns.types import Edit
from callwright.nouns.wire_names import EditRules
from tests.gateway.session.offers import refuse_with


def build_record() -> CallRecord:
    record = CallRecord("call-1", "a__x\x1b[2J", {"to": "secret"}, "a", "x", outcome="edited")
    record.verdict = refuse_with([Edit("/n", "secret", 3, EditRules.TEXT_TO_NUMBER)] * 2)
    record.reply, record.seconds = "secret", 0.0123
    return record


@pytest.mark.parametrize("lines", [TextLines(), JsonLines(lambda: 0.0)])
def test_a_line_says_what_was_called_and_what_came_of_it_and_no_content(lines: CallLines) -> None:
    line = lines.render_call(build_record())
    assert "secret" not in line
    assert line.isprintable()
    assert "text_to_number" in line
    for said in (lines.render_warning("odd\n"), lines.render_start("http://a/mcp", 3, "http://a")):
        assert said.replace("\n", "").isprintable()


def test_the_forms_of_a_line() -> None:
    record = build_record()
    record.name = "a__x"
    assert TextLines().render_call(record) == "a__x 12 ms edited: text_to_number 2"
    record.outcome, record.is_error, record.verdict = "passed", True, None
    assert TextLines().render_call(record) == "a__x 12 ms passed, the tool failed"
    record.outcome, record.is_error, record.reason = "unknown", True, "timeout"
    assert TextLines().render_call(record) == "a__x 12 ms unknown: timeout"
    told = json.loads(JsonLines(lambda: 0.0).render_call(record))
    assert (told["event"], told["level"], told["outcome"]) == ("call", "warning", "unknown")
    assert told["seconds"] == 0.0123


def test_a_call_by_way_of_call_tool_names_the_tool() -> None:
    record = build_record()
    record.name = "call_tool"
    assert TextLines().render_call(record).startswith("call_tool a:x 12 ms edited")
