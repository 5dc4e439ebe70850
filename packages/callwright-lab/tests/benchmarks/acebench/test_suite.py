"""The side that runs a suite's own evaluation."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from callwright_lab.benchmarks.acebench import suite
from tests.benchmarks.invented_ace import write_checkout

GOLD = {"id": "normal_atom_enum_0", "ground_truth": {"order": {"item": "x"}}}
PROMPT = {"id": "normal_atom_enum_0", "question": "user: x", "function": []}


def ask(checkout: Path, *texts: str, category: str = "normal_atom_enum") -> list[Any]:
    asked = [
        {"category": category, "prompt": PROMPT, "answer": GOLD, "result": text} for text in texts
    ]
    done = subprocess.run(
        [sys.executable, "-I", str(Path(suite.__file__)), str(checkout)],
        input="".join(json.dumps(one) + "\n" for one in asked),
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_row_is_judged_by_the_suite_alone(tmp_path: Path) -> None:
    checkout = write_checkout(tmp_path)
    assert ask(checkout, "[order(item='x')]", "[order(item='y')]") == [
        {"right": True},
        {"right": False},
    ]
    assert ask(checkout, "There is incorrect", category="special_error_param") == [{"right": True}]


def test_what_the_suite_raises_is_a_verdict(tmp_path: Path) -> None:
    (found,) = ask(write_checkout(tmp_path), "[crash()]", category="normal_multi_turn_user_adjust")
    assert found == {"right": False, "raised": "KeyError: 'crash'"}
