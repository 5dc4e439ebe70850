"""API-Bank in ToolRL's form: tools read out of the prompt, exact match strictly and with numbers as
texts.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Tool, ToolCall
from callwright_lab.benchmarks.refine.api_bank import (
    DECLARED,
    READS,
    ApiBank,
    build_task,
    declare_effects,
    parse_script_calls,
)
from callwright_lab.benchmarks.refine.task import Found
from callwright_lab.datasets.sources import data_root
from callwright_lab.transcripts.gold import parse_prompt_tools

SYSTEM = """You are a helpful assistant.

**Available Tools**
In your response, you can use the following tools:
1. Name: BookTable
Description: Books a table. Give the time.
Parameters: {'guests': {'type': 'int', 'description': 'How many: at least 1.'}, 'names': {'type': 'list(str)', \
'description': 'Who comes.'}, 'note': {'type': 'str', 'description': '[Optional] A note.'}}
2. ListTables: All tables of a place.
Parameters: {}

**Steps for Each Turn**
1. **Think:** …"""
ROW = {
    "system": SYSTEM,
    "user": "**Dialogue Records History**\n<user>A table for 4, Ann and Bo.</user>\n",
    "answer": [{"name": "BookTable", "parameters": {"guests": "4", "names": "['Ann', 'Bo']"}}],
}
EXAM = ApiBank(levels=())
TASK = build_task(1, ROW)


def booked(guests: object, **more: object) -> ToolCall:
    return ToolCall("1", "BookTable", {"guests": guests, "names": "['Ann', 'Bo']", **more})


def test_both_ways_of_listing_tools_are_read() -> None:
    book, tables = parse_prompt_tools(SYSTEM)
    assert (book.name, book.required) == ("BookTable", ("guests", "names"))
    assert book.properties["guests"]["type"] == ["integer", "string"]
    assert [s["type"] for s in book.properties["names"]["anyOf"]] == ["array", "string"]
    assert book.properties["note"]["type"] == "string"
    assert (tables.name, tables.description) == ("ListTables", "All tables of a place.")


def test_a_number_equals_its_text_only_where_that_is_counted() -> None:
    strict = EXAM.score(TASK, Found((booked("4"),)))
    assert strict.right
    assert set(strict.metrics.values()) == {1.0}
    loose = EXAM.score(TASK, Found((booked(4),)))
    assert loose.metrics == {"exact": 0.0, "any": 0.0, "exact_numbers": 1.0, "any_numbers": 1.0}
    assert EXAM.score(TASK, Found((booked(5),))).error == "wrong_value"


def test_gold_among_other_calls_counts_only_as_any() -> None:
    found = EXAM.score(TASK, Found((booked("4"), ToolCall("2", "ListTables", {}))))
    assert (found.metrics["any"], found.metrics["exact"], found.error) == (1.0, 0.0, "extra_call")


def test_an_argument_too_many_is_wrong() -> None:
    assert EXAM.score(TASK, Found((booked("4", note=""),))).error == "ghost_argument"


def test_a_prompt_without_tools_is_refused() -> None:
    with pytest.raises(ConfigError, match="lists no tools"):
        parse_prompt_tools("You are helpful.")


def test_a_task_is_the_same_in_every_part_of_the_set() -> None:
    assert build_task(1, {**ROW, "index": 7}).id == TASK.id
    assert build_task(1, {**ROW, "user": "other"}).id != TASK.id
    assert EXAM.ask(TASK).messages == TASK.messages


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            '<think>x</think>\n<tool_call>\n{"name": "A", "parameters": {"x": 1}}\n</tool_call>',
            ["A"],
        ),
        (
            (
                '<tool_call>{"name": "A", "parameters": {}}</tool_call> or <tool_call>{"name": "B",'
                ' "parameters": {}}'
            ),
            ["B"],
        ),
        (
            (
                '<tool_call>\n{"name": "A", "parameters": {}}\nno JSON\n{"name": "B",'
                ' "parameters": {}}'
            ),
            ["A", "B"],
        ),
        ('```json\n{"name": "A", "parameters": {}}\n```', []),
        ('<tool_call>{"name": "A", "arguments": {}}</tool_call>', []),
        ("", []),
    ],
)
def test_a_raw_reply_is_read_as_the_published_script_reads_it(text: str, names: list[str]) -> None:
    assert [c.tool for c in parse_script_calls(text)] == names


def test_the_raw_reply_is_scored_by_the_same_match_as_every_rule_group() -> None:
    line = json.dumps({"name": "BookTable", "parameters": {"guests": 4, "names": "['Ann', 'Bo']"}})
    raw = EXAM.score(TASK, Found(raw=f"<tool_call>\n{line}\n</tool_call>"))
    refined = EXAM.score(
        TASK, Found((ToolCall("1", "BookTable", {"guests": 4, "names": "['Ann', 'Bo']"}),))
    )
    assert (
        raw.metrics
        == refined.metrics
        == {
            "exact": 0.0,
            "any": 0.0,
            "exact_numbers": 1.0,
            "any_numbers": 1.0,
        }
    )
    assert EXAM.score(TASK, Found(raw=line)).error == "no_call"


def test_effects_are_declared_only_where_that_is_asked_for() -> None:
    reading = replace(TASK, tools=(*TASK.tools, Tool("GetUserToken", "")))
    assert all(t.effects.may_write for t in reading.tools)
    made = declare_effects(reading)
    assert [t.name for t in made.tools if not t.effects.may_write] == ["GetUserToken"]
    assert (made.set, made.id) == ("api_bank" + DECLARED, TASK.id)
    assert not any(
        word in name
        for name in READS
        for word in ("Add", "Delete", "Modify", "Book", "Open", "Cancel")
    )


@pytest.mark.skipif(not (data_root() / "api_bank").is_dir(), reason="needs shared data: API-Bank")
def test_every_published_row_is_read_and_gold_scores_full_marks() -> None:
    exam = ApiBank()
    assert len(exam.tasks()) == 323
    assert len({t.id for t in exam.tasks()}) == 322  # one question stands there twice
    assert all(exam.score(t, Found(t.gold)).right for t in exam.tasks())
