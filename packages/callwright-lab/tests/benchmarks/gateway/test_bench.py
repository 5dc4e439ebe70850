from __future__ import annotations

from dataclasses import replace

import pytest

from callwright.nouns.types import Message, Tool, ToolCall
from callwright_lab.benchmarks.gateway.bench import (
    CLASSES,
    LOST,
    NAMES,
    TEXTS,
    close_schemas,
    measure_class,
    measure_right_calls,
    render_classes,
    render_right_calls,
    spoil_calls,
)
from callwright_lab.benchmarks.harm.gold import GoldCase
from callwright_lab.benchmarks.refine.task import Task

TOOL = Tool(
    "book_room",
    "Books a room.",
    {
        "type": "object",
        "properties": {
            "hotel_name": {"type": "string"},
            "nights": {"type": "integer"},
            "quiet": {"type": "boolean"},
            "guests": {"type": "array", "items": {"type": "string"}},
            "view": {"type": "string", "enum": ["Sea_Side", "Court_Yard"]},
        },
        "required": ["hotel_name", "nights"],
    },
)
ARGUMENTS = {
    "hotel_name": "Grand",
    "nights": 3,
    "quiet": True,
    "guests": ["Ann"],
    "view": "Sea_Side",
}
CALL = ToolCall("c1", "book_room", ARGUMENTS)
QUERY = "Book a quiet room."
TASK = Task("t", "s", "", (Message("user", QUERY),), (TOOL,), (CALL,))


@pytest.mark.parametrize("kind", sorted(set(CLASSES) - {*LOST, *NAMES}))
def test_an_error_after_which_the_call_tells_what_was_meant_is_repaired(kind: str) -> None:
    spoiled = list(spoil_calls([close_schemas(TASK)], kind, 3, 0))
    told, _ = measure_class(spoiled, kind)
    assert told.repaired == told.calls, told.examples


@pytest.mark.parametrize("kind", ["required_missing", "truncated", "missing_closer"])
def test_an_error_that_hides_what_was_meant_is_refused(kind: str) -> None:
    spoiled = list(spoil_calls([TASK], kind, 3, 0))
    assert spoiled
    told, lost = measure_class(spoiled, kind)
    assert told.calls == 0
    assert lost.refused == lost.calls


@pytest.mark.parametrize("kind", ["name_suffix", "name_case", "name_typo"])
def test_a_name_nearby_is_refused_with_the_right_one(kind: str) -> None:
    _, lost = measure_class(list(spoil_calls([TASK], kind, 3, 0)), kind)
    assert lost.calls == lost.refused == lost.named


def test_a_key_that_an_open_schema_takes_is_no_malformed_call() -> None:
    told, _ = measure_class(list(spoil_calls([TASK], "ghost_argument", 3, 0)), "ghost_argument")
    assert told.accepted == told.calls > 0
    said = render_classes({"ghost_argument": (told, told)})
    assert f"| ghost_argument | {told.calls} | {told.calls} | – |" in said


def test_right_calls_are_counted_and_a_change_of_one_would_be_seen() -> None:
    wrong = replace(CALL, arguments={"hotel_name": 7})
    counts = measure_right_calls([GoldCase("g", "s", QUERY, (TOOL,), (CALL, wrong))])
    assert (counts.calls, counts.changed, counts.refused) == (1, 0, 0)
    assert "right calls: 1; changed 0" in render_right_calls(counts)


def test_every_class_of_text_spoils_text() -> None:
    for kind in TEXTS:
        for one in spoil_calls([TASK], kind, 1, 0):
            assert isinstance(one.arguments, str)
