"""The registry of data sources: which there are, what may be passed on, and what to do where a file
is absent.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.datasets.nested import SOURCES as NESTED
from callwright_lab.datasets.sources import data_root, list_sources, load_examples, load_labelled


def test_an_unknown_source_and_an_absent_file_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="sources: nestful"):
        load_examples("nothing")
    for name in (
        "nestools",
        "seal_tools",
        "tmdb",
        "ultratool",
        "complextool_plan",
        "stabletoolbench",
        "dta_tool",
    ):
        with pytest.raises(ConfigError, match="there is no data file") as caught:
            load_examples(name, tmp_path)
        assert len(caught.value.hint) > 20


def test_sources_that_must_not_be_passed_on_are_marked() -> None:
    assert {n for n, s in list_sources().items() if not s.train} == {
        "ultratool", "complextool_plan", "complextool_easy", "complextool_hard", "dta_tool",
    }  # fmt: skip


def test_every_source_stands_under_its_own_name_and_says_its_licence() -> None:
    assert {s.name for s in NESTED} < set(list_sources())
    for name, source in list_sources().items():
        assert source.name == name
        assert source.licence


def test_data_is_looked_for_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLWRIGHT_DATA", str(tmp_path))
    assert data_root() == tmp_path
    with pytest.raises(ConfigError, match="there is no data file") as caught:
        load_examples("nestools")
    assert str(tmp_path) in caught.value.message


def test_what_was_read_once_is_not_read_again(tmp_path: Path) -> None:
    folder = tmp_path / "nestools"
    folder.mkdir()
    file = folder / "test_data.jsonl"
    file.write_text("")
    first = load_examples("nestools", tmp_path)
    file.unlink()
    assert load_examples("nestools", tmp_path) is first


def test_labels_are_those_asked_for_or_refused(tmp_path: Path) -> None:
    row = {"id": "1", "user_request": "do it", "task_nodes": [{"task": "a"}, {"task": "b"}]}
    folder = tmp_path / "ultratool"
    folder.mkdir()
    nodes = {"nodes": [{"id": n, "desc": n} for n in ("a", "b")]}
    (folder / "tool_desc.json").write_text(json.dumps(nodes))
    (folder / "data.json").write_text(
        json.dumps(row | {"task_links": [{"source": "a", "target": "b"}]})
    )
    (chain,) = load_labelled("ultratool", "sequence", tmp_path)
    assert chain.layers == {"a": 0, "b": 1}
    with pytest.raises(ConfigError, match="ultratool holds plain call sequences") as caught:
        load_labelled("ultratool", "dependency", tmp_path)
    assert "--labels sequence" in caught.value.hint


def test_a_source_of_calls_has_both_labels_and_a_source_of_needs_one(tmp_path: Path) -> None:
    api: list[Any] = [{"api_name": n, "parameters": {}} for n in ("one", "two")]
    calls: list[Any] = [{"api_name": n, "parameters": {}, "responses": []} for n in ("two", "one")]
    row = {"test_id": 1, "task": "do both", "api": api, "call": calls}
    (tmp_path / "nestools").mkdir()
    (tmp_path / "nestools" / "test_data.jsonl").write_text(json.dumps(row))
    assert load_labelled("nestools", "dependency", tmp_path)[0].layers == {"one": 0, "two": 0}
    assert load_labelled("nestools", "sequence", tmp_path)[0].layers == {"two": 0, "one": 1}
    _write_complextool_plan(tmp_path)
    assert load_labelled("complextool_plan", "dependency", tmp_path)[0].layers == {
        "one": 0,
        "two": 1,
    }
    with pytest.raises(ConfigError, match="complextool_plan does not say in which order"):
        load_labelled("complextool_plan", "sequence", tmp_path)


def _write_complextool_plan(root: Path) -> None:
    tools = {"t1": {"name": "one"}, "t2": {"name": "two"}}
    row = {
        "input": json.dumps({"query": "q", "tool_sequence": tools}),
        "output": json.dumps({"DAG": "t1 -> t2"}),
    }
    (root / "complextool_plan").mkdir()
    (root / "complextool_plan" / "easy.json").write_text(json.dumps([row]))
    (root / "complextool_plan" / "hard.json").write_text("[]")
