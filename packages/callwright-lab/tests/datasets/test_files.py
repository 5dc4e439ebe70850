"""Files of plans in every published layout are told apart by their keys, and a bad row is named,
not fatal.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Tool
from callwright_lab.datasets.examples import example_from_graph
from callwright_lab.datasets.files import (
    example_from_row,
    gold_plan,
    keep_gold_tools,
    read_plans,
    to_row,
)
from callwright_lab.datasets.sources import load_examples

TEXT = {"type": "string"}


def written(path: Path, rows: list[Any], lines: bool = True) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "\n".join(json.dumps(r) for r in rows) if lines else json.dumps(rows), encoding="utf-8"
    )
    return path


def complextool_row(dag: str = "2->1") -> dict[str, Any]:
    tools = {
        "1": {"name": "pay", "inputSchema": {"properties": {"bill": TEXT}}},
        "2": {"name": "bill"},
    }
    return {
        "instruction": "",
        "input": json.dumps({"query": "q", "tool_sequence": tools}),
        "output": f'{{"DAG": "{dag}"}}',
    }


def test_complextool_plan_is_told_by_its_keys(tmp_path: Path) -> None:
    found, left_out = read_plans(
        written(tmp_path / "mine.json", [complextool_row(), complextool_row("1->2")], lines=False)
    )
    assert [e.edges for e in found] == [{("bill", "pay")}, {("pay", "bill")}]
    assert ([e.id for e in found], found[0].source, left_out) == (["mine-1", "mine-2"], "mine", [])


def test_taskbench_is_read_with_types_parameters_and_both_of_its_vocabularies(
    tmp_path: Path,
) -> None:
    nodes = [
        {
            "id": "Image Stitcher",
            "desc": "joins",
            "input-type": ["image", "image"],
            "output-type": ["image"],
        },
        {"id": "Image-to-Text", "desc": "reads", "input-type": ["image"], "output-type": ["text"]},
        {
            "id": "send_sms",
            "desc": "sends",
            "parameters": [{"name": "content", "type": "string", "desc": "what"}],
        },
    ]
    written(tmp_path / "data_multimedia" / "tool_desc.json", [{"nodes": nodes}])
    first = {
        "id": "1",
        "user_request": "Join two pictures and read them.",
        "task_nodes": [
            {"task": "Image Stitcher", "arguments": ["a.jpg"]},
            {"task": "Image-to-Text"},
        ],
        "task_links": [{"source": "Image Stitcher", "target": "Image-to-Text"}],
    }
    later = {
        "id": "2",
        "instruction": "Read it and send it.",
        "tool_nodes": json.dumps([{"task": "Image-to-Text"}, {"task": "send_sms"}]),
        "tool_links": json.dumps([{"source": "Image-to-Text", "target": "send_sms"}]),
    }
    written(tmp_path / "data_multimedia" / "data.json", [first, later])
    found, left_out = read_plans(tmp_path / "data_multimedia")
    assert left_out == []
    assert [e.query for e in found] == ["Join two pictures and read them.", "Read it and send it."]
    assert found[0].edges == {("Image Stitcher", "Image-to-Text")}
    tools = {t.name: t for e in found for t in e.tools}
    assert tools["Image Stitcher"].required == ("image", "image_2")
    assert list((tools["Image-to-Text"].output_schema or {})["properties"]) == ["text"]
    assert tools["send_sms"].properties == {"content": {"type": "string", "description": "what"}}
    assert {e.source for e in found} == {"data_multimedia"}


def test_nestools_and_seal_tools_are_told_by_their_keys(tmp_path: Path) -> None:
    def api(name: str, takes: str) -> dict[str, Any]:
        return {"api_name": name, "parameters": {takes: {"type": "str"}}, "required": [takes]}

    calls = [
        {"api_name": "find", "parameters": {"word": "pen"}, "responses": ["API_call_0"]},
        {"api_name": "buy", "parameters": {"item": "API_call_0"}, "responses": ["API_call_1"]},
    ]
    row = {
        "task": "buy a pen",
        "api": [api("find", "word"), api("buy", "item"), api("spare", "x")],
        "call": calls,
    }
    (nested,), _ = read_plans(written(tmp_path / "nested.jsonl", [row]))
    assert (nested.edges, len(nested.tools)) == ({("find", "buy")}, 3)
    written(tmp_path / "seal" / "tool.jsonl", [api("find", "word"), api("buy", "item")])
    seal = {"id": 1, "query": "buy a pen", "calling": [{**c, "api": c["api_name"]} for c in calls]}
    (sealed,), _ = read_plans(written(tmp_path / "seal" / "mine.jsonl", [seal]))
    assert sealed.edges == {("find", "buy")}


def test_our_rows_are_written_and_read_back(tmp_path: Path) -> None:
    tools = [
        Tool("a", "first", {"type": "object", "properties": {"x": TEXT}}, {"type": "object"}),
        Tool("b"),
        Tool("c"),
    ]
    example = example_from_graph(
        "row-1", "mine", "do a and b", tools, ["a", "b"], [("a", "b")], "dependency"
    )
    assert example is not None
    back = example_from_row(to_row(example))
    assert back is not None
    assert (back.id, back.query, back.gold, back.edges) == (
        example.id,
        example.query,
        example.gold,
        example.edges,
    )
    assert {t.digest for t in back.tools} == {t.digest for t in example.tools}
    assert gold_plan(back).edges == (("a", "b"),)
    (again,), _ = read_plans(written(tmp_path / "mine.jsonl", [to_row(example)]))
    assert again.edges == example.edges
    assert [t.name for t in keep_gold_tools([again])[0].tools if t.name == "c"] == []


def test_a_row_that_cannot_be_used_is_left_out_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(
        tmp_path / "mine.json",
        [complextool_row(), complextool_row("1->2, 2->1"), {"input": "{}", "output": "x"}],
    )
    found, left_out = read_plans(path)
    assert len(found) == 1
    assert left_out[0] == "row 2 of mine.json: a cycle, no tool, or a tool that is not described"
    assert left_out[1].startswith("row 3 of mine.json: not in the layout of the first")
    assert len(load_examples(str(path))) == 1
    assert "2 of 3 rows are left out; the first: row 2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no rows"),
        ("[1]", "holds int"),
        ("{", "neither a JSON list"),
        ('{"a": 1}', "no layout that is known: a"),
    ],
)
def test_a_file_that_holds_no_plans_is_said(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(ConfigError, match=said):
        read_plans(tmp_path / "x.json")
    with pytest.raises(ConfigError, match="there is no data file"):
        read_plans(tmp_path / "absent.json")
    with pytest.raises(ConfigError, match=r"no row of .* can be used"):
        read_plans(written(tmp_path / "bad.json", [complextool_row("1->2, 2->1")]))


def test_a_name_that_is_no_source_and_no_file_is_said() -> None:
    with pytest.raises(ConfigError, match="no data source 'nothing'") as raised:
        load_examples("nothing")
    assert "file of plans" in raised.value.hint
