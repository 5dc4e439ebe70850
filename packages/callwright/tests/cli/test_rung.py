"""The model rung behind ``callwright refine --jsonl --model-rung``."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from callwright.cli.refine import refine_row
from callwright.cli.rung import ModelRung, find_prompt
from callwright.nouns.errors import ConfigError
from callwright.repair.result import Settings
from callwright.testing import ScriptedModel
from tests.chat_server import ChatServer

TOOL = {
    "name": "get_weather",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
    "annotations": {"readOnlyHint": True},
}
ROW = {
    "id": 7,
    "tools": [TOOL],
    "query": "Weather in Oslo?",
    "text": "I would call get_weather with Osol.",
}
ANSWER = '<func_call>[{"name": "get_weather", "arguments": {"city": "Oslo"}}]</func_call>'


def test_what_the_rules_cannot_repair_the_model_may() -> None:
    plain = refine_row(ROW, Settings(), ("rules", "sequence"))
    assert plain["tool_calls"] == []
    model = ScriptedModel([ANSWER])
    with ModelRung(model, "short") as rung:
        found = refine_row({**ROW, "messages": []}, Settings(), ("rules", "sequence"), rung)
    assert found["tool_calls"] == [{"name": "get_weather", "arguments": {"city": "Oslo"}}]
    assert [edit["rule"] for edit in found["edits"]] == ["model"]
    assert found["violations"] == []
    assert found["confidence"] < 1
    assert "Call: I would call get_weather with Osol." in model.requests[0].messages[-1].content


def test_an_answer_that_makes_values_up_changes_nothing_and_is_said() -> None:
    with ModelRung(ScriptedModel([ANSWER.replace("Oslo", "Paris")])) as rung:
        found = refine_row(ROW, Settings(), ("rules", "sequence"), rung)
    assert found["tool_calls"] == []
    assert any("model:" in a["reason"] for a in found["abstained"])


def test_a_conversation_and_a_system_prompt_reach_the_model() -> None:
    model = ScriptedModel([ANSWER])
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How is Oslo?"},
    ]
    row = {
        "tools": [TOOL],
        "messages": messages,
        "message": {"content": "Osol", "reasoning_content": "A city."},
    }
    with ModelRung(model) as rung:
        refine_row(row, Settings(), ("rules", "sequence"), rung)
    said = model.requests[0].messages[-1].content
    assert all(part in said for part in ("Be brief.", "How is Oslo?", "<think>A city.</think>"))


def test_the_command_asks_an_endpoint_and_a_line_it_cannot_be_asked_about_is_an_error() -> None:
    def run(url: str, *more: str) -> subprocess.CompletedProcess[str]:
        command = [
            sys.executable,
            "-P",
            "-m",
            "callwright",
            "refine",
            "--jsonl",
            "--model-rung",
            f"{url}#refiner",
        ]
        return subprocess.run(
            [*command, *more], input=json.dumps(ROW), capture_output=True, text=True, check=False
        )

    with ChatServer(ANSWER) as server:
        done = run(server.url)
        gone = server.url
    assert json.loads(done.stdout)["tool_calls"] == [
        {"name": "get_weather", "arguments": {"city": "Oslo"}}
    ]
    assert server.count == 1
    assert "error" in json.loads(run(gone).stdout)
    assert "there is no refiner prompt 'long'" in run(gone, "--prompt", "long").stderr


def test_prompts_are_known_by_name() -> None:
    assert find_prompt("short") == "short"
    with pytest.raises(ConfigError, match="no refiner prompt"):
        find_prompt("")
