"""Error cases as files: our own, and the published samples."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import ToolCall
from callwright_lab.benchmarks.recovery.cases import (
    ErrorCase,
    digest_cases,
    read_cases,
    read_published,
    write_cases,
)
from callwright_lab.datasets.sources import data_root
from callwright_lab.recovery import Gold
from tests.benchmarks.trajectory_case import WEATHER, step

CASE = ErrorCase(
    id="t1-name-0",
    part="I3",
    kind="name",
    query="What is the weather in Oslo?",
    tools=(WEATHER,),
    before=(step("h1", {"city": "Rome"}, {"sky": "sun"}, thought="first Rome"),),
    wrong=step("h9", {"town": "Oslo"}, error="unknown parameter town"),
    gold=Gold("weather", {"city": "Oslo"}, {"sky": "rain"}),
)
DOC = {
    "name": "convert_for_units",
    "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}},
}


def published(folder: Path) -> Path:
    """One row of I1 and one of I3, as the samples are laid out."""
    spec = {
        "type": "function",
        "function": {**DOC, "parameters": {**DOC["parameters"], "required": ["", "n"]}},
    }  # type: ignore[dict-item]
    called = {"api_name": "convert_for_units", "parameters": {"n": "many"}}
    action = {
        "thought": "I convert.",
        "json_function_calling": called,
        "observation": "{'error': '', 'response': 7}",
    }
    right = {"api_name": "convert_for_units", "parameters": {"n": 5}}
    row = {
        "query": "Convert 5",
        "action": action,
        "answer": right,
        "api_name": "x",
        "api_doc": spec,
    }
    several = {"query": "Convert 5", "api_docs": [spec], "pre_actions": [action], "action": action}
    (folder / "I1.json").write_text(json.dumps([row]))
    (folder / "I3.json").write_text(
        json.dumps([{**several, "answer": {"json_function_calling": right}}])
    )
    return folder


def test_a_case_is_the_same_after_it_was_written_and_read(tmp_path: Path) -> None:
    write_cases(tmp_path / "cases.jsonl", [CASE])
    (read,) = read_cases(tmp_path / "cases.jsonl")
    assert read.row == CASE.row
    assert (read.call, read.wrong.results[0].failure) == (CASE.call, CASE.wrong.results[0].failure)
    assert digest_cases([read]) == digest_cases([CASE])


def test_what_cannot_be_read_names_the_case(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text('{"id": "x", "part": "I9"}\n')
    with pytest.raises(ConfigError, match="no part 'I9'"):
        read_cases(tmp_path / "cases.jsonl")
    with pytest.raises(ConfigError, match="no error cases"):
        read_cases(tmp_path / "none.jsonl")


def test_two_cases_of_one_id_are_refused_and_the_last_needs_no_line_end(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    write_cases(path, [CASE, replace(CASE, id="another", query="half \ud83d of a sign")])
    path.write_bytes(path.read_bytes().rstrip())
    assert [case.id for case in read_cases(path)] == [CASE.id, "another"]
    write_cases(path, [CASE, CASE])
    with pytest.raises(ConfigError, match=f"2 error cases of .* are called '{CASE.id}'"):
        read_cases(path)


def test_the_wrong_observation_of_single_tool_rows_is_dropped_and_said(tmp_path: Path) -> None:
    single, several = read_published(published(tmp_path))
    assert (single.part, single.wrong.results, several.part) == ("I1", (), "I3")
    assert "the same in every row" in single.note
    assert several.wrong.results[0].content == {"error": "", "response": 7}
    assert single.call == ToolCall("h9", "convert_for_units", {"n": "many"})
    assert single.gold == Gold("convert_for_units", {"n": 5})
    assert single.tools[0].required == ("n",)
    assert several.before[0].thought == "I convert."


def test_a_folder_without_samples_says_where_they_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no RefineToolBench"):
        read_published(tmp_path)


def test_the_published_samples_are_read_whole() -> None:
    folder = data_root() / "refinetoolbench"
    if not folder.is_dir():
        pytest.skip("needs shared data: RefineToolBench")
    cases = read_published(folder)
    assert [case.part for case in cases] == ["I1"] * 3 + ["I2"] * 3 + ["I3"] * 3
    assert all(case.gold.tool in {tool.name for tool in case.tools} for case in cases)
    assert [bool(case.wrong.results) for case in cases] == [False] * 6 + [True] * 3
    assert [case.kind for case in cases[6:]] == ["selection"] * 3
