from __future__ import annotations

from callwright.gateway.session.record import OUTCOMES, CallRecord
from callwright.nouns.types import Edit
from callwright.nouns.wire_names import EditRules
from tests.gateway.session.offers import refuse_with


def test_a_record_keeps_the_beginning_of_what_came_back() -> None:
    record = CallRecord("1", "a__x", {})
    record.note_result({"content": [{"type": "text", "text": "y" * 5_000}, {"type": "image"}]})
    assert len(record.reply) == 2_000
    assert record.reply.endswith("…")
    record.note_result({"structuredContent": {"sum": 3}, "isError": True})
    assert record.reply == '{"sum":3}'
    assert record.is_error
    record.note_result({"content": "no list of blocks"})
    assert isinstance(record.reply, str)


def test_a_record_as_json_is_short_and_its_edits_stay_a_list() -> None:
    record = CallRecord("1", "a__x", {"text": "z" * 100_000}, outcome="edited")
    record.verdict = refuse_with(
        [Edit(f"/{n}", "a" * 100, n, EditRules.TEXT_TO_NUMBER) for n in range(99)]
    )
    told = record.shorten(1_000)
    assert isinstance(told["given"], str)
    assert len(told["given"]) == 1_000
    assert 0 < len(told["edits"]) < 99
    assert told["edits"][0]["rule"] == "text_to_number"
    assert told["outcome"] in OUTCOMES
