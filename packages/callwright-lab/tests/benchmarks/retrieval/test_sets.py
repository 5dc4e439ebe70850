"""The sets of the retrieval bench, each in its published form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.benchmarks.retrieval.sets import SETS, read_api_bank, read_toolret

QUERIES = [
    {
        "id": "apigen_query_5",
        "query": "How many bacteria are there after 45 minutes?",
        "instruction": "Retrieve tools that compute growth.",
        "labels": json.dumps(
            [{"id": "apigen_tool_272", "doc": {}, "relevance": 1}, {"id": "x", "relevance": 0}]
        ),
        "category": "code",
    },
    {
        "id": "q2",
        "query": "A tool nobody has.",
        "labels": json.dumps([{"id": "gone", "relevance": 1}]),
        "category": "web",
    },
]
TOOLS = [
    {
        "id": "apigen_tool_272",
        "documentation": json.dumps(
            {
                "name": "bacterial_growth",
                "description": "The population after a time.",
                "parameters": {"growth_rate": {"description": "per unit time", "type": "float"}},
            }
        ),
    },
    {"id": "hub_1", "documentation": "A model that writes captions, no JSON."},
    {
        "id": "web_1",
        "documentation": json.dumps(
            {
                "api_name": "Songs",
                "api_description": "of an artist",
                "required_parameters": [{"name": "artist"}],
            }
        ),
    },
]


def _lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(map(json.dumps, rows)))


def test_toolret_joins_queries_and_tools_by_id(tmp_path: Path) -> None:
    _lines(tmp_path / "toolret" / "queries" / "apigen" / "queries.jsonl", QUERIES)
    _lines(tmp_path / "toolret" / "tools" / "code" / "tools.jsonl", TOOLS)
    task = read_toolret(tmp_path)
    assert [(q.group, q.relevant) for q in task.queries] == [("code", {"apigen_tool_272"})]
    growth, model, songs = task.tools
    assert growth.description == "bacterial_growth: The population after a time."
    assert growth.properties == {"growth_rate": {"description": "per unit time"}}
    assert (model.name, model.description) == ("hub_1", "A model that writes captions, no JSON.")
    assert list(songs.properties) == ["artist"]


def test_toolret_is_read_as_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="extra 'train' is not installed")
    import pyarrow
    from pyarrow import parquet

    for kind, rows in (("queries", QUERIES[1:] + QUERIES[:1]), ("tools", TOOLS)):
        folder = tmp_path / "toolret" / kind / "code"
        folder.mkdir(parents=True)
        parquet.write_table(
            pyarrow.Table.from_pylist(rows), folder / f"{kind}-00000-of-00001.parquet"
        )
    assert len(read_toolret(tmp_path).tools) == 3


def test_api_bank_asks_what_the_user_said_of_the_tools_of_all_prompts(tmp_path: Path) -> None:
    def row(tools: str, user: str, gold: str) -> dict[str, Any]:
        system = f"you can use the following tools:\n{tools}\n\n**Steps for Each Turn**"
        return {"system": system, "user": user, "answer": [{"name": gold, "parameters": {}}]}

    one = (
        "1. Name: Wiki\nDescription: Looks up.\nParameters: {}\n2. Name: Sum\nDescription:"
        " Adds.\nParameters: {}"
    )
    two = "1. Name: Alarm\nDescription: Wakes.\nParameters: {}"
    said = (
        "<user>Who was Nansen?</user>\n<response>One moment.</response>\n<user>The explorer.</user>"
    )
    folder = tmp_path / "api_bank"
    folder.mkdir()
    for level, rows in (
        (1, [row(one, said, "Wiki")]),
        (2, [row(two, "<user>Wake me.</user>", "Alarm")]),
        (3, []),
    ):
        (folder / f"level-{level}.json").write_text(json.dumps(rows))
    task = read_api_bank(tmp_path)
    assert sorted(t.name for t in task.tools) == ["Alarm", "Sum", "Wiki"]
    assert [(q.group, q.text, q.relevant) for q in task.queries] == [
        ("level-1", "Who was Nansen? The explorer.", {"Wiki"}),
        ("level-2", "Wake me.", {"Alarm"}),
    ]


@pytest.mark.parametrize("name", SETS)
def test_a_set_that_is_absent_says_where_it_is_from(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        SETS[name](tmp_path)
    said = caught.value.hint
    assert any(where in said for where in ("github.com/", "mangopy/"))
