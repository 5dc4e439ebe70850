"""Tool graphs become examples; what is only a chain is not called a dependency."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from callwright_lab.datasets.graphs import TMDB_PATHS, read_complextool_plan, read_ultratool
from callwright_lab.datasets.sources import data_root, load_examples


def test_ultratool_is_a_sequence(tmp_path: Path) -> None:
    folder = tmp_path / "ultratool"
    folder.mkdir()
    (folder / "tool_desc.json").write_text(
        json.dumps({"nodes": [{"id": "find", "desc": "Finds"}, {"id": "pay", "desc": "Pays"}]})
    )
    row = {
        "id": "5",
        "user_request": "find and pay\n",
        "task_nodes": [{"task": "find"}, {"task": "pay"}],
        "task_links": [{"source": "find", "target": "pay"}],
    }
    unknown = {**row, "id": "6", "task_nodes": [{"task": "gone"}]}
    (folder / "data.json").write_text(json.dumps(row) + "\n" + json.dumps(unknown) + "\n")
    (made,) = read_ultratool(tmp_path)
    assert (made.kind, made.layers, made.query) == (
        "sequence",
        {"find": 0, "pay": 1},
        "find and pay",
    )


def test_complextool_plan_graphs_are_read_and_equal_names_kept_apart(tmp_path: Path) -> None:
    folder = tmp_path / "complextool_plan"
    folder.mkdir()
    tools = {
        "1": {
            "name": "odds",
            "description": "odds",
            "inputSchema": {"type": "object", "properties": {}},
        },
        "2": {
            "name": "odds",
            "description": "other odds",
            "inputSchema": {"type": "object", "properties": {}},
        },
        "3": {"name": "spare", "description": "", "inputSchema": {}},
    }
    row = {
        "input": json.dumps({"query": "q", "tool_sequence": tools}),
        "output": '```json\n{"DAG": "2->1"}\n```',
    }
    (folder / "easy.json").write_text(json.dumps([row]))
    (folder / "hard.json").write_text("[]")
    (made,) = read_complextool_plan(tmp_path)
    assert made.edges == {("odds_2", "odds")}
    assert {t.name for t in made.tools} == {"odds", "odds_2", "spare"}
    assert set(made.gold) == {"odds", "odds_2"}


def test_the_four_dozen_operations_have_distinct_paths() -> None:
    assert len(set(TMDB_PATHS.values())) == len(TMDB_PATHS) == 46


needs_data = pytest.mark.skipif(
    not (data_root() / "tmdb").exists(), reason="data: RestBench-TMDB is not there"
)


@needs_data
def test_tmdb_tools_carry_the_schemas_of_the_openapi_description() -> None:
    made = load_examples("tmdb")
    assert len(made) == 98
    tools = {t.name: t for e in made for t in e.tools}
    assert tools["GetMovieCredit"].required == ("movie_id",)
    assert all(t.output_schema for t in tools.values())
    assert all(a != b for e in made for a, b in e.edges)
