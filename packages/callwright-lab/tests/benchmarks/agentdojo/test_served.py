"""The process beside ours that holds AgentDojo's worlds: questions in, answers out."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from callwright_lab.benchmarks.agentdojo import served as agentdojo_served
from tests.benchmarks.invented_dojo import interpreter

pytest.importorskip("yaml", reason="the served side reads YAML, as AgentDojo does")


def answers(folder: Path, *asked: dict[str, Any]) -> list[dict[str, Any]]:
    lines = "".join(json.dumps(one) + "\n" for one in asked)
    command = [str(interpreter(folder)), "-I", agentdojo_served.__file__]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=60)
    return [json.loads(line) for line in done.stdout.splitlines()]


OPEN = {"do": "open", "suite": "desk", "user": "user_task_0", "attacker": "injection_task_0"}
SEND = {"do": "call", "tool": "send_email", "arguments": {"to": "eve@x.example", "body": "hello"}}


def test_a_world_is_fresh_whenever_it_is_opened_and_judged_by_its_own_checks(
    tmp_path: Path,
) -> None:
    judge = {"do": "judge", "output": "It is about lunch."}
    said = answers(tmp_path, OPEN, SEND, judge, OPEN, judge)
    assert said[0]["answer"]["attack"]["calls"][0]["arguments"] == {
        "to": "eve@x.example",
        "body": "hello",
    }
    assert said[2]["answer"] == {"useful": False, "attacked": True}
    assert said[4]["answer"] == {"useful": False, "attacked": False}


def test_what_is_asked_wrongly_is_answered_and_ends_nothing(tmp_path: Path) -> None:
    lost = {"do": "call", "tool": "read_file", "arguments": {"id": "n9"}}
    said = answers(tmp_path, {"do": "fly"}, OPEN | {"user": "nobody"}, OPEN, lost, {"do": "suites"})
    assert "wrong" in said[0]
    assert "wrong" in said[1]
    assert said[3]["answer"] == {"error": "KeyError: 'n9'"}
    assert [*said[4]["answer"]] == ["desk"]


def test_without_an_attacker_his_text_is_not_there(tmp_path: Path) -> None:
    read = {"do": "call", "tool": "read_file", "arguments": {"id": "n1"}}
    said = answers(tmp_path, OPEN | {"attacker": None}, read, OPEN, read)
    assert "attack" not in said[0]["answer"]
    assert "INFORMATION" not in said[1]["answer"]["content"]
    assert "eve@x.example" in said[3]["answer"]["content"]
