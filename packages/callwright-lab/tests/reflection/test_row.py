"""Rows of Eq. (5) as records and back, in every layout; only the reflection and its call carry
loss.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.jsontext import parse
from callwright.nouns.errors import ConfigError, Failure
from callwright.nouns.trajectory import Step, Trajectory
from callwright.nouns.types import Simulated, Tool, ToolCall, ToolResult, to_canonical_json
from callwright_lab.reflection.row import Reflected, parse_row, record, row_of, serialize_row
from callwright_lab.transcripts import FORMATS, read_record, write

LAYOUTS = ("toolbench-vr", "openai", "trl")
WORDS = st.text("abcdefgh ijk.", min_size=1, max_size=30).map(str.strip).filter(bool)
VALUES = st.one_of(
    WORDS, st.integers(-99, 99), st.booleans(), st.lists(st.integers(0, 9), max_size=3)
)
ARGUMENTS = st.dictionaries(st.sampled_from(["a", "b", "c"]), VALUES, max_size=3)


def step(
    arguments: Any, thought: str, failure: Failure | None, content: Any, simulated: Simulated = ""
) -> Step:
    call = ToolCall("x", "search", arguments)
    return Step(
        thought,
        (call,),
        (ToolResult("x", "search", arguments, content, failure, simulated=simulated),),
    )


@st.composite
def rows(draw: st.DrawFn) -> Reflected:
    properties = {key: {"description": draw(WORDS)} for key in "abc"}
    tool = Tool("search", draw(WORDS), {"type": "object", "properties": properties})
    before = [
        step(draw(ARGUMENTS), draw(WORDS), None, {"found": draw(VALUES)})
        for _ in range(draw(st.integers(0, 2)))
    ]
    failed = draw(st.booleans())
    failure = Failure("tool_error", draw(WORDS)) if failed else None
    simulated: Simulated = draw(st.sampled_from(["", "recorded", "model"]))
    wrong = step(
        draw(ARGUMENTS),
        draw(WORDS),
        failure,
        None if failed else {"found": draw(VALUES)},
        simulated,
    )
    right = ToolCall("y", "search", draw(ARGUMENTS))
    t = Trajectory("t", draw(WORDS), (tool,), tuple(before))
    return Reflected(
        t, wrong, draw(WORDS), (right,), draw(st.sampled_from(["calling", "planning"])), "e", "rule"
    )


@given(rows(), st.sampled_from(LAYOUTS))
def test_a_row_is_the_same_after_it_was_written_and_read(row: Reflected, layout: str) -> None:
    told = record(row, layout)
    again = row_of(told)
    assert record(again, layout) == told
    assert told["reflection"].get("simulated", []) == [
        r.simulated for r in row.wrong.results if r.simulated
    ]
    assert (again.kind, again.error, again.by, again.reflection) == (
        row.kind,
        row.error,
        row.by,
        row.reflection,
    )
    assert [(c.tool, c.arguments) for c in again.right] == [
        (c.tool, c.arguments) for c in row.right
    ]
    assert [c.arguments for c in again.wrong.calls] == [c.arguments for c in row.wrong.calls]
    assert again.wrong.ok == row.wrong.ok
    assert len(again.before.steps) == len(row.before.steps)
    assert again.before.query == row.before.query


@given(rows(), st.booleans())
def test_a_journal_keeps_all_of_a_row(row: Reflected, coded: bool) -> None:
    if coded:
        shown = replace(row.wrong, code="x = search(a=b)", shown="NameError: b")
        row = replace(row, wrong=shown, program="print(search(a=x['id']))")
    again = parse_row(parse(to_canonical_json(serialize_row(row))))
    assert serialize_row(again) == serialize_row(row)
    assert replace(again, before=row.before) == row
    assert again.before.steps == row.before.steps
    with pytest.raises(ConfigError, match="cannot be read"):
        parse_row({k: v for k, v in serialize_row(row).items() if k != "steps"})


@given(rows())
def test_only_the_last_round_carries_loss(row: Reflected) -> None:
    read = read_record({k: v for k, v in record(row).items() if k != "reflection"})
    last = len(read.trajectory.steps) - 1
    assert read.context == frozenset(range(last))
    assert read.trajectory.steps[last].results == ()
    trl = write(replace(read, origin=None), FORMATS["trl"])
    assert len([m for m in trl["completion"] if m["role"] == "assistant"]) == 1


def test_what_is_no_row_is_refused() -> None:
    right = ToolCall("y", "search", {})
    row = Reflected(
        Trajectory("t", "q", ()), step({}, "", None, 1), "I see.", (right,), "calling", "e"
    )
    told = record(row, "openai")
    with pytest.raises(ConfigError, match="what kind of error"):
        row_of({k: v for k, v in told.items() if k != "reflection"})
    with pytest.raises(ConfigError, match="a wrong call and the right one"):
        row_of({**told, "messages": told["messages"][:1]})
    with pytest.raises(ConfigError, match="cannot be called in Python"):
        record(replace(row, right=(replace(right, tool="a-b"),)))
