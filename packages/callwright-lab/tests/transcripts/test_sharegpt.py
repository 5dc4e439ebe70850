"""ShareGPT as LLaMA-Factory, Hermes and ToolBench write it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from callwright_lab.transcripts import FORMATS, Transcript, read_record, write
from tests.transcripts.trajectories import EXAMPLE

TOOLS = (
    '[{"name": "weather", "description": "", "parameters": {"type": "object", "properties": {}}}]'
)


def test_llama_factorys_function_calls_and_observations_are_read() -> None:
    record = {
        "conversations": [
            {"from": "human", "value": "Rome?"},
            {
                "from": "function_call",
                "value": (
                    '<think>\nlook\n</think>\n\n{"name": "weather", "arguments": {"city": "Rome"}}'
                ),
            },
            {"from": "observation", "value": '{"sky": "clear"}'},
            {"from": "gpt", "value": "Clear."},
        ],
        "tools": TOOLS,
    }
    t = read_record(record).trajectory
    assert (t.query, t.steps[0].thought, t.calls[0].arguments) == (
        "Rome?",
        "look",
        {"city": "Rome"},
    )
    assert (t.results[0].content, t.answer, t.tools[0].name) == (
        {"sky": "clear"},
        "Clear.",
        "weather",
    )


@pytest.mark.parametrize("query", ["Begin!", "When does it\nBegin!", "Rome? Begin!"])
def test_a_request_that_ends_as_toolbenchs_do_keeps_its_last_word(query: str) -> None:
    record = write(Transcript(replace(EXAMPLE, query=query)), FORMATS["sharegpt"])
    assert read_record(record).trajectory.query == query


def test_calls_in_the_dialect_of_hermes_are_read_inside_the_text() -> None:
    record = {
        "conversations": [
            {"from": "system", "value": f"You may call functions. <tools> {TOOLS} </tools>"},
            {"from": "human", "value": "Rome?"},
            {
                "from": "gpt",
                "value": (
                    '<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call>'
                ),
            },
            {"from": "tool", "value": '<tool_response>\n{"sky": "clear"}\n</tool_response>'},
            {"from": "gpt", "value": "Clear."},
        ]
    }
    t = read_record(record).trajectory
    assert ([c.tool for c in t.calls], t.results[0].content, t.tools[0].name) == (
        ["weather"],
        {"sky": "clear"},
        "weather",
    )


def test_toolbenchs_words_are_read() -> None:
    system = f"Use tools.\nSpecifically, you have access to the following APIs: {TOOLS}"
    record = {
        "id": "Step 1: Rome?",
        "conversations": [
            {"from": "system", "value": system},
            {"from": "user", "value": "\nRome?\nBegin!\n"},
            {
                "from": "assistant",
                "value": '\nThought: look\nAction: weather\nAction Input: {"city": "Rome"}',
            },
            {"from": "function", "value": '{"error": "no such city", "response": ""}'},
        ],
    }
    t = read_record(record).trajectory
    assert (t.query, t.calls[0].arguments, t.tools[0].name) == (
        "Rome?",
        {"city": "Rome"},
        "weather",
    )
    assert t.results[0].failure is not None


def test_parallel_calls_are_one_list() -> None:
    turns = write(Transcript(EXAMPLE), FORMATS["sharegpt"])["conversations"]
    assert [t["from"] for t in turns] == [
        "human", "function_call", "observation", "function_call", "observation", "observation", "gpt",
    ]  # fmt: skip
    assert turns[3]["value"].startswith('[{"name": "weather"')
