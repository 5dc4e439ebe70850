"""The same reply through every reader."""

from __future__ import annotations

import pytest

from callwright.nouns.types import JsonObject, Message, Tool
from callwright_lab.benchmarks.refine.read import READERS, gather_native_calls, read_timed
from callwright_lab.benchmarks.refine.task import Recorded, Task

TOOL = Tool("get_weather", "Weather.", {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
})  # fmt: skip
TASK = Task("1", "s", "c", (Message("user", "Weather in Graz for 3 days?"),), (TOOL,))
CALL = '{"name": "get_weather", "arguments": {"city": "Graz", "days": 3}}'
WANTED = [{"name": "get_weather", "arguments": {"city": "Graz", "days": 3}}]


def read(reader: str, text: str) -> list[JsonObject]:
    return READERS[reader](
        Recorded("1", "m", {"role": "assistant", "content": text}), TASK
    ).to_json()


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"```json\n{CALL}\n```",
        f"```\n{CALL}\n```",
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"<think>{{}} which?</think>\n<tool_call>{CALL}</tool_call>",
        f"Here it is:\n{CALL}\nDone.",
        f"```plaintext\n<think>hm</think>\n{CALL}\n<response>Soon.</response>\n```",
        f"[{CALL}]",
        CALL.replace('"arguments"', '"parameters"'),
    ],
)
def test_the_baseline_reads_what_is_right_under_fences_and_tags(text: str) -> None:
    assert read("stripped", text) == WANTED
    assert read("rules", text) == WANTED


@pytest.mark.parametrize(
    "text", ["", "Nothing to do.", CALL.replace('"', "'"), CALL[:-4], '{"city": "Graz"}']
)
def test_the_baseline_reads_nothing_that_is_not_strict(text: str) -> None:
    assert read("stripped", text) == []


def test_json_repair_repairs_quotes_and_also_completes_what_was_cut_off() -> None:
    assert read("json_repair", CALL.replace('"', "'")) == WANTED
    (cut,) = read("json_repair", CALL[:-4])
    assert cut["arguments"] == {"city": "Graz", "days": ""}


def test_a_tool_name_drift_is_repaired_by_the_rules_alone() -> None:
    text = CALL.replace("get_weather", "GetWeather").replace("3", '"3"')
    assert read("parsed", text) == [
        {"name": "GetWeather", "arguments": {"city": "Graz", "days": "3"}}
    ]
    assert read("rules", text) == read("sequence", text) == WANTED


def test_the_server_s_own_calls_come_first_for_everybody() -> None:
    function = {"name": "get_weather", "arguments": '{"city": "Graz", "days": 3}'}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "a", "function": function}],
    }
    for name, reader in READERS.items():
        assert reader(Recorded("1", "m", message), TASK).to_json() == WANTED, name
    assert [c.id for c in gather_native_calls(Recorded("1", "m", message))] == ["a"]
    assert read("server", CALL) == []


def test_only_the_server_hands_the_text_on() -> None:
    kept = {
        name: read_timed(reader, Recorded("1", "m", {"content": CALL}), TASK)
        for name, reader in READERS.items()
    }
    assert {name for name, found in kept.items() if found.raw} == {"server"}
    assert all(found.seconds > 0 for found in kept.values())
    assert not any(found.edits for found in kept.values())


def test_what_nobody_asked_for_is_left_out_of_guided_replies_only() -> None:
    text = '{"calls": [{"name": "get_weather", "arguments": {"city": "Graz", "days": 9}}]}'
    free = READERS["rules"](Recorded("1", "m", {"content": text}), TASK)
    guided = READERS["rules"](Recorded("1", "m", {"content": text}, "guided"), TASK)
    assert free.to_json()[0]["arguments"] == {"city": "Graz", "days": 9}
    assert guided.to_json()[0]["arguments"] == {"city": "Graz"}
