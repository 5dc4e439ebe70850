"""The suite in its own environment: gold is right, everything else is wrong for the right reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import JsonObject, ToolCall
from callwright_lab.benchmarks.bfcl.endpoints import Endpoint, find_free_port
from callwright_lab.benchmarks.bfcl.gold import Script, build_script, serve_gold
from callwright_lab.benchmarks.bfcl.harness import (
    IMPORTED,
    Harness,
    Inference,
    Unreachable,
    find_requirements,
)

CASES = (
    ("multi_turn_base", "multi_turn_base_13"),
    ("multi_turn_miss_param", "multi_turn_miss_param_116"),
    ("multi_turn_miss_func", "multi_turn_miss_func_77"),
    ("simple_python", "simple_python_63"),
    ("multiple", "multiple_94"),
    ("parallel", "parallel_104"),
    ("parallel_multiple", "parallel_multiple_133"),
)
FILES = ("multi_turn_base", "multi_turn_base_13")
"""Two turns in a file system; the first of them writes a file."""


@pytest.fixture(
    params=[pytest.param(False, marks=pytest.mark.heavy), True], ids=["prompted", "native"]
)
def native(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


class Play:
    """Runs cases with the scripted model, its script changed or not."""

    def __init__(self, python: str, log: Path) -> None:
        self._python, self._log = python, log

    def __call__(
        self,
        *cases: tuple[str, str],
        native: bool = True,
        change: Callable[[Script], Script] = lambda script: script,
    ) -> list[JsonObject]:
        with serve_gold(lambda *case: change(build_script(*case))) as model:
            asked = Inference("gold", native)
            with Harness(self._python, model.endpoint, asked, self._log) as suite:
                found = []
                for case in cases:
                    model.prepare(*case)
                    found.append(suite.run(*case))
        return found


@pytest.fixture
def play(suite_python: str, tmp_path: Path) -> Play:
    return Play(suite_python, tmp_path / "suite.log")


def test_gold_is_right_in_every_category_and_does_no_harm(play: Play, native: bool) -> None:
    found = play(*CASES, native=native)
    assert [row["reason"] for row in found if not row["valid"]] == []
    turns = [row for row in found if "due" in row]
    assert [row["due"] for row in turns] == [2, 6, 3]
    assert [(r["unasked"], r["repeated"], r["silent"]) for r in turns] == [(0, 0, 0)] * 3
    assert [row["questions"] for row in found[3:]] == [1, 1, 1, 1]
    assert all(row["prompt_tokens"] == row["questions"] for row in found)


def test_a_wrong_value_is_wrong_in_every_category(play: Play, native: bool) -> None:
    def spoil(script: Script) -> Script:
        return replace(script, replies=tuple(map(_spoil_turn, script.replies)))

    found = play(*CASES, native=native, change=spoil)
    assert [row["valid"] for row in found] == [False] * len(CASES)
    assert all(row["error_type"] and row["reason"] for row in found)


def _spoil_turn(replies: tuple[tuple[ToolCall, ...], ...]) -> tuple[tuple[ToolCall, ...], ...]:
    return tuple(tuple(replace(call, arguments={}) for call in reply) for reply in replies)


def test_a_model_that_calls_nothing_is_silent_in_every_turn_that_is_due(
    play: Play, native: bool
) -> None:
    (row,) = play(FILES, native=native, change=lambda s: Script(s.requests, ((),) * 9))
    assert not row["valid"]
    assert row["error_type"] == "multi_turn:empty_turn_model_response"
    assert (row["silent"], row["due"]) == (2, 2)
    assert (row["unasked"], row["repeated"]) == (0, 0)


def test_writes_that_nobody_asked_for_and_repeated_ones_are_counted(play: Play) -> None:
    def add(script: Script) -> Script:
        extra = ToolCall("", "mkdir", {"dir_name": "nobody_asked"})
        first = (*script.replies[0], (extra,), (replace(extra, arguments={"dir_name": "twice"}),))
        return replace(script, replies=(first, *script.replies[1:]))

    (row,) = play(FILES, change=add)
    assert not row["valid"]
    assert row["error_type"] == "multi_turn:instance_state_mismatch"
    assert (row["unasked"], row["repeated"], row["silent"]) == (2, 0, 0)


def test_a_case_that_is_run_again_begins_in_new_environments(play: Play) -> None:
    found = play(FILES, FILES)
    assert [row["valid"] for row in found] == [True, True]


def test_an_endpoint_that_is_not_there_is_no_verdict(suite_python: str, tmp_path: Path) -> None:
    nobody = Endpoint(f"http://127.0.0.1:{find_free_port()}/v1")
    asked = Inference("gold", native=True)
    with (
        Harness(suite_python, nobody, asked, tmp_path / "log") as suite,
        pytest.raises(Unreachable),
    ):
        suite.run("simple_python", "simple_python_63")


def test_an_unknown_case_is_a_clear_error(suite_python: str, tmp_path: Path) -> None:
    asked = Inference("gold", native=True)
    with (
        Harness(suite_python, Endpoint("http://127.0.0.1:9/v1"), asked, tmp_path / "log") as suite,
        pytest.raises(ConfigError, match="could not run simple_python_9999"),
    ):
        suite.run("simple_python", "simple_python_9999")


def test_a_process_that_ends_is_a_clear_error(wheel: Path, tmp_path: Path) -> None:
    python, log = tmp_path / "python", tmp_path / "log"
    python.write_text("#!/bin/sh\nexec 0<&-\nexit 3\n")
    python.chmod(0o755)
    asked = Inference("gold", native=True)
    with (
        Harness(python, Endpoint("http://127.0.0.1:9/v1"), asked, log) as suite,
        pytest.raises(ConfigError, match="process ended") as raised,
    ):
        suite.run("simple_python", "simple_python_63")
    assert str(log) in str(raised.value.hint)


def test_only_what_is_imported_is_installed_as_the_suite_pins_it(tmp_path: Path) -> None:
    folder = tmp_path / "bfcl_eval-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(
        "Name: bfcl_eval\nRequires-Dist: numpy==1.26.4\nRequires-Dist: boto3\nRequires-Dist:"
        ' tenacity>=8.5.0\nRequires-Dist: vllm==0.8.5; extra == "oss-eval-vllm"\n\nText\n'
    )
    assert find_requirements(tmp_path) == ["numpy==1.26.4", "tenacity>=8.5.0"]


def test_every_library_that_is_imported_is_a_requirement_of_the_suite(wheel: Path) -> None:
    assert len(find_requirements(wheel)) == len(IMPORTED)
