"""Right calls that a gateway changes are counted as harm; spoiled ones by what became of them."""

from __future__ import annotations

from callwright.nouns.types import Message, Tool, ToolCall
from callwright_lab.benchmarks.gateway.bench import (
    AS_TEXT,
    Tally,
    close_schemas,
    measure_class,
    measure_right_calls,
    render_classes,
    render_right_calls,
    spoil_calls,
)
from callwright_lab.benchmarks.harm.gold import GoldCase
from callwright_lab.benchmarks.refine.task import Task

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city", "days"],
}
TOOL = Tool("get_weather", "Weather of a city.", SCHEMA)
CALL = ToolCall("c1", "get_weather", {"city": "Oslo", "days": 3})
ASKED = (Message("user", "Weather in Oslo for 3 days"),)
TASK = Task("t1", "own", "one", ASKED, (TOOL,), (CALL,))


def measure(kind: str) -> tuple[Tally, Tally]:
    return measure_class(spoil_calls([TASK], kind, 1, 0), kind)


def test_what_the_call_itself_tells_is_repaired() -> None:
    for kind in ("number_as_text", AS_TEXT, "trailing_comma"):
        told, lost = measure(kind)
        assert (told.calls, told.repaired, lost.calls) == (1, 1, 0), kind


def test_what_only_the_conversation_tells_is_refused_and_not_sent() -> None:
    told, lost = measure("required_missing")
    assert told.calls == 0
    assert (lost.calls, lost.refused) == (1, 1)


def test_a_wrong_name_is_refused_and_the_right_one_named() -> None:
    _, lost = measure("name_case")
    assert (lost.calls, lost.refused, lost.named) == (1, 1, 1)


def test_a_right_call_is_neither_changed_nor_refused() -> None:
    counts = measure_right_calls([GoldCase("g", "own", "?", (TOOL,), (CALL,))])
    assert (counts.calls, counts.changed, counts.refused) == (1, 0, 0)
    assert "changed 0 (0.000 %), refused 0 (0.000 %)" in render_right_calls(counts)


def test_closed_schemas_take_no_other_key() -> None:
    (tool,) = close_schemas(TASK).tools
    assert tool.input_schema["additionalProperties"] is False


def test_the_table_has_a_line_for_each_class_and_for_all() -> None:
    report = render_classes({"number_as_text": measure("number_as_text")})
    assert [line.split("|")[1].strip() for line in report.splitlines() if "100.0" in line] == [
        "number_as_text",
        "all",
    ]
