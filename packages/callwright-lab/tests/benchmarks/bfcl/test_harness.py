"""The suite in its own environment, with an endpoint that answers gold, and one that does not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import JsonObject, ToolCall
from callwright_lab.benchmarks.bfcl.endpoints import Endpoint, find_free_port
from callwright_lab.benchmarks.bfcl.harness import (
    Harness,
    Inference,
    Unreachable,
    find_requirements,
)
from tests.benchmarks.bfcl.scripted import Script, build_script, python_of_suite, scripted

RIGHT = (
    ("multi_turn_base", "multi_turn_base_13"),
    ("multi_turn_miss_param", "multi_turn_miss_param_116"),
    ("multi_turn_miss_func", "multi_turn_miss_func_77"),
    ("simple_python", "simple_python_63"),
    ("multiple", "multiple_94"),
    ("parallel", "parallel_104"),
    ("parallel_multiple", "parallel_multiple_133"),
)


@pytest.fixture(scope="module")
def python() -> str:
    return python_of_suite()


@pytest.fixture(params=[False, True], ids=["prompted", "native"])
def native(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_gold_is_right_in_every_category_and_does_no_harm(
    python: str, native: bool, tmp_path: Path
) -> None:
    found = _run(python, RIGHT, [build_script(*case) for case in RIGHT], native, tmp_path)
    assert [row["reason"] for row in found if not row["valid"]] == []
    turns = [row for row in found if "due" in row]
    assert len(turns) == 3
    assert all(row["due"] for row in turns)
    assert [(r["unasked"], r["repeated"], r["silent"]) for r in turns] == [(0, 0, 0)] * 3
    assert all(row["questions"] and row["prompt_tokens"] >= 10 for row in found)
