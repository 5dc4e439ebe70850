from __future__ import annotations

import json

from callwright.proxy.record import MAX_CHARS, Record
from callwright.types import Edit, ToolCall


def test_a_record_is_json_and_long_texts_are_cut() -> None:
    record = Record("1", "/x", raw="a" * 100_000, parsed=(ToolCall("c", "t", {"a": 1}),))
    record.edits.append(Edit("/0/name", "T", "t", "case"))
    made = json.loads(json.dumps(record.to_dict()))
    assert len(made["raw"]) == MAX_CHARS
    assert made["edits"] == [{"path": "/0/name", "before": "T", "after": "t", "rule": "case"}]


def test_headers_say_only_what_is_known() -> None:
    assert Record("7", "/x").marks() == []
    assert Record("7", "/x", tools=("t",)).marks() == [("x-callwright-request", "7")]
    marks = dict(Record("7", "/x", tools=("t",), outcome="edited", dialect="hermes", questions=1).marks())
    assert marks["x-callwright-outcome"] == "edited"
    assert marks["x-callwright-questions"] == "1"
