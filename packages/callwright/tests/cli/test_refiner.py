"""The refiner behind ``callwright refine --jsonl --refiner``."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from callwright.cli.refine import refine_row
from callwright.cli.refiner import BlockingRefiner, RefinerSetup, find_prompt, list_warnings
from callwright.models import LocalModel
from callwright.nouns.errors import ConfigError, ModelError
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Message
from callwright.repair.by_model.harm_bound import Cut, HarmBound, Measured, serialize_bound
from callwright.repair.by_model.harm_score import HarmScore
from callwright.repair.by_model.refiner_settings import RefinerSettings
from callwright.repair.result import Settings
from callwright.testing import ScriptedModel
from tests.chat_server import ChatServer
from tests.cli.endpoint import keyed

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
    with BlockingRefiner(model, RefinerSettings("short")) as refiner:
        found = refine_row({**ROW, "messages": []}, Settings(), ("rules", "sequence"), refiner)
    assert found["tool_calls"] == [{"name": "get_weather", "arguments": {"city": "Oslo"}}]
    assert [edit["rule"] for edit in found["edits"]] == ["model"]
    assert found["violations"] == []
    assert found["confidence"] < 1
    assert "Call: I would call get_weather with Osol." in model.requests[0].messages[-1].content


def test_an_answer_that_makes_values_up_changes_nothing_and_is_said() -> None:
    with BlockingRefiner(ScriptedModel([ANSWER.replace("Oslo", "Paris")])) as refiner:
        found = refine_row(ROW, Settings(), ("rules", "sequence"), refiner)
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
    with BlockingRefiner(model) as refiner:
        refine_row(row, Settings(), ("rules", "sequence"), refiner)
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
            "--refiner",
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
    assert "there is no refiner prompt 'long'" in run(gone, "--refiner-prompt", "long").stderr


def test_prompts_are_known_by_name() -> None:
    assert find_prompt("short") == "short"
    with pytest.raises(ConfigError, match="no refiner prompt"):
        find_prompt("")


# ---------------------------------------------------------------- setups

MEASURED = Measured("refiner", "qwen3-8b", "paper", 768)
CUT = Cut(HarmScore(-3.0, {"lost": 9.0}), 0.5, 1600, 0, 0.0019, 5, 9, "rows")


def write_bound(folder: Path, **changed: Any) -> Path:
    path = folder / "bound.json"
    made = HarmBound(replace(MEASURED, **changed), 0.002, 0.95, "sha256:0", {"plain": CUT})
    path.write_text(serialize_bound(made), encoding="utf-8")
    return path


def test_what_is_not_kept_is_said(tmp_path: Path) -> None:
    path = write_bound(tmp_path)
    unguarded = RefinerSetup("http://h/v1#refiner", is_guarded=False).build_settings()
    assert "it may add writes" in list_warnings(unguarded)[0]
    bounded = RefinerSetup("http://h/v1#refiner", bound=str(path))
    (said,) = list_warnings(bounded.build_settings())
    assert "upstream 'qwen3-8b', and not 'unnamed'" in said
    assert list_warnings(bounded.build_settings(), knows_upstream=True) == []
    other = replace(bounded, model="http://h/v1#other").build_settings()
    (said,) = list_warnings(other, knows_upstream=True)
    assert "refiner 'refiner', and not 'other'" in said
    assert list_warnings(None) == []


def test_a_long_answer_has_room_in_an_embedded_model() -> None:
    model = RefinerSetup("local", max_tokens=4096).open_model()
    assert asyncio.run(model.capabilities()).context == 8192 + 4096
    assert asyncio.run(RefinerSetup("local").open_model().capabilities()).context == 8192


def test_a_served_refiner_is_asked_once_with_a_key_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CALLWRIGHT_API_KEY", "of-the-upstream")
    monkeypatch.setenv("CALLWRIGHT_REFINER_KEY", "of-the-refiner")
    keys = list[str]()

    async def ask(setup: RefinerSetup) -> str:
        model = setup.open_served()
        try:
            return (await model.complete(ChatRequest((Message("user", "Hi."),)))).text
        finally:
            await model.aclose()

    with keyed(["hello"], keys) as url:
        setup = RefinerSetup(f"{url}#mine", max_tokens=4096)
        assert asyncio.run(ask(setup)) == "hello"
    assert keys == ["Bearer of-the-refiner"]
    with pytest.raises(ModelError):
        asyncio.run(ask(setup))
    assert isinstance(RefinerSetup("local").open_served(), LocalModel)


def test_the_command_takes_changes_by_a_bound_and_without_a_guard(tmp_path: Path) -> None:
    path = write_bound(tmp_path)

    def run(url: str, *more: str) -> tuple[Any, str]:
        command = [sys.executable, "-P", "-m", "callwright", "refine", "--jsonl"]
        done = subprocess.run(
            [*command, "--refiner", f"{url}#refiner", *more],
            input=json.dumps(ROW), capture_output=True, text=True, check=False,
        )  # fmt: skip
        return json.loads(done.stdout), done.stderr

    bound = ["--harm-bound", str(path)]
    with ChatServer(ANSWER.replace("Oslo", "Paris")) as server:
        taken, said = run(server.url, *bound, "--upstream-model", "qwen3-8b")
        assert [call["arguments"] for call in taken["tool_calls"]] == [{"city": "Paris"}]
        assert "warning" not in said
        left, said = run(server.url, *bound, "--upstream-model", "another")
        assert left["tool_calls"] == []
        assert "warning: The harm bound is not used" in said
        assert any("The harm bound is not used" in a["reason"] for a in left["abstained"])
        taken, said = run(server.url, "--no-guard")
        assert [call["arguments"] for call in taken["tool_calls"]] == [{"city": "Paris"}]
        assert "warning: the refiner has no guard" in said
