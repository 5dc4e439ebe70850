"""OpenAI's fine-tuning records and TRL's prompt and completion, as they are found."""

from __future__ import annotations

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.transcripts import FORMATS, Transcript, read_record, write
from tests.transcripts.trajectories import EXAMPLE

CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city": "Rome"}'},
}
RECORD = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Weather in Rome?"}]},
        {"role": "assistant", "content": None, "tool_calls": [CALL], "weight": 0},
        {"role": "tool", "tool_call_id": "c1", "content": '{"sky": "clear"}'},
        {"role": "assistant", "content": "Clear."},
    ],
    "tools": [
        {
            "type": "function",
            "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}},
        }
    ],
    "parallel_tool_calls": False,
}


def test_a_fine_tuning_record_is_read() -> None:
    found = read_record(RECORD, id="r")
    t = found.trajectory
    assert (found.format, t.id, t.query, t.answer) == ("openai", "r", "Weather in Rome?", "Clear.")
    assert (t.calls[0].arguments, t.results[0].content) == ({"city": "Rome"}, {"sky": "clear"})
    assert found.context == frozenset({0})


def test_old_function_calls_are_read() -> None:
    record = {
        "messages": [
            {"role": "user", "content": "q"},
            {
                "role": "assistant",
                "content": None,
                "function_call": {"name": "f", "arguments": "{}"},
            },
            {"role": "function", "name": "f", "content": "3"},
        ],
        "functions": [{"name": "f", "parameters": {"type": "object", "properties": {}}}],
    }
    t = read_record(record).trajectory
    assert ([c.tool for c in t.calls], [r.content for r in t.results], t.tools[0].name) == (
        ["f"],
        [3],
        "f",
    )


def test_trl_records_have_loss_on_the_completion_only() -> None:
    record = write(Transcript(EXAMPLE, context=frozenset({0})), FORMATS["trl"])
    assert [m["role"] for m in record["prompt"]] == ["user", "assistant", "tool"]
    assert record["completion"][0]["tool_calls"][0]["function"]["arguments"] == {
        "city": "Rome",
        "day": "today",
    }
    assert record["tools"][0]["function"]["name"] == "weather"
    assert read_record(record).context == frozenset({0})


def test_loss_that_ends_and_begins_again_cannot_be_said_in_trl() -> None:
    with pytest.raises(ConfigError, match="without loss after one that has it"):
        write(Transcript(EXAMPLE, context=frozenset({1})), FORMATS["trl"])


def test_the_system_message_stays_where_the_request_changes() -> None:
    from dataclasses import replace

    found = read_record(RECORD)
    written = write(
        replace(found, trajectory=replace(found.trajectory, query="And in Bari?")),
        FORMATS["openai"],
    )
    assert [m["content"] for m in written["messages"][:2]] == ["Be brief.", "And in Bari?"]
    assert written["messages"][2:] == RECORD["messages"][2:]
    assert written["parallel_tool_calls"] is False
