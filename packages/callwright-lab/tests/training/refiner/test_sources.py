"""Data sets -> tasks, each in its publisher's own layout."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from callwright.nouns.errors import ConfigError
from callwright_lab.training.refiner.formats import Invocation, is_representable
from callwright_lab.training.refiner.sources import (
    SOURCES,
    iter_tasks,
    load_tasks,
    simplify_to_steps,
)
from tests.training.refiner_case import nested_row, nested_tasks, xlam_tasks

DATA = Path(os.environ.get("CALLWRIGHT_DATA", "../shared/data"))


def one(source: str, row: Any) -> Any:
    found = list(iter_tasks(SOURCES[source], [row]))
    return found[0] if found else None


def test_glaive_takes_the_first_call_and_the_conversation_before_it() -> None:
    row = {
        "system": (
            "SYSTEM: You are a helpful assistant with access to the following functions. Use them"
            ' -\n{\n"name": "get_password",\n"parameters": {"type": "object", "properties":'
            ' {"length": {"type": "integer"}, "title": {"type": "string"}}, "required":'
            ' ["length"]}}\n{"name": "add_task", "parameters": {}}'
        ),
        "chat": (
            "USER: A password, please.\n\n\nASSISTANT: How long? <|endoftext|>\n\n\nUSER:"
            ' 12\n\n\nASSISTANT: <functioncall> {"name": "get_password", "arguments": \'{"length":'
            ' 12, "title": "Ann\'s"}\'} <|endoftext|>\n\n\nFUNCTION RESPONSE: {"password":'
            ' "x"}\n\n\nASSISTANT: Here it is. <|endoftext|>'
        ),
    }
    task = one("glaive", row)
    assert task.gold == (Invocation("get_password", {"length": 12, "title": "Ann's"}),)
    assert [t.name for t in task.tools] == ["get_password", "add_task"]
    assert task.tools[0].required == ("length",)
    assert task.query.startswith("USER: A password")
    assert task.query.endswith("USER: 12")
    assert one("glaive", {**row, "chat": "USER: hello ASSISTANT: hello <|endoftext|>"}) is None


def test_toolace_reads_python_calls_and_leaves_out_names_with_spaces() -> None:
    tools = (
        '[{"name": "Financial.ROA", "description": "d", "parameters": {"type": "dict",'
        ' "properties": {"share": {"type": "int"}}, "required": ["share"]}}, {"name": "Get'
        ' Currencies", "parameters": {}}]'
    )
    row = {
        "system": (
            f"Put calls in the format of [func1(x=1), func2(params)]. The functions: {tools}. Done"
        ),
        "conversations": [
            {"from": "user", "value": "ROA of 6789?"},
            {"from": "assistant", "value": "[Financial.ROA(share=6789)]"},
            {"from": "tool", "value": "{}"},
        ],
    }
    task = one("toolace", row)
    assert task.gold == (Invocation("Financial.ROA", {"share": 6789}),)
    assert task.query == "ROA of 6789?"
    assert task.tools[0].properties["share"]["type"] == "integer"
    assert "<function_list>" in task.system
    spaced = [row["conversations"][0], {"from": "assistant", "value": "[Get Currencies()]"}]
    assert one("toolace", {**row, "conversations": spaced}) is None


def test_xlam_reads_tools_and_answers_out_of_text() -> None:
    task = xlam_tasks()[1]
    assert task.gold == (Invocation("weather", {"city": "town2", "days": 2}),)
    assert task.tools[0].properties["days"]["type"] == "integer"
    assert "<func_call>" in task.system


def test_nestools_keep_labels_and_become_steps_by_what_they_need() -> None:
    task = nested_tasks()[0]
    assert task.gold[2] == Invocation("buy_0", {"item": "API_call_0"}, ("API_call_2",))
    assert [(c.name, c.step) for c in simplify_to_steps(task).gold] == [
        ("find_0", 1),
        ("look_0", 1),
        ("buy_0", 2),
    ]
    assert simplify_to_steps(task).format == "order"


def test_toolrls_mix_is_written_in_three_formats_where_they_can_say_it() -> None:
    row = {
        "instruction": (
            "You use tools.\n**Available Tools**\n1. Name: find_manager\nDescription: Finds"
            ' one\nParameters: {"name": {"type": "string", "description": "who", "default":'
            ' ""}}\n\n**Steps**'
        ),
        "input": "**Dialogue Records History**\n<user> Who is Alex? </user>",
        "output": (
            '<think> Look. </think>\n<tool_call>\n{"name": "find_manager", "parameters": {"name":'
            ' "Alex"}}\n</tool_call>'
        ),
    }
    found = list(iter_tasks(SOURCES["toolrl"], [row] * 3))
    assert [t.format for t in found] == ["xlam", "toolace", "glaive"]
    assert all(t.gold == (Invocation("find_manager", {"name": "Alex"}),) for t in found)
    assert found[0].query == "Who is Alex?"
    assert all(
        ("<func_call>", "<function_list>", "<functioncall>")[i] in t.system
        for i, t in enumerate(found)
    )
    assert one("toolrl", {**row, "output": "<response> Hello </response>"}) is None


def test_a_file_of_ones_own_never_has_the_name_of_a_data_set(tmp_path: Path) -> None:
    for name, source in (("xlam", "xlam.jsonl"), ("mine", "mine")):
        path = tmp_path / f"{name}.jsonl"
        path.write_text(json.dumps(nested_row(1)))
        assert [task.source for task in load_tasks(str(path), tmp_path)] == [source]


def test_broken_rows_are_left_out() -> None:
    gone = {"query": "q", "tools": "[]", "answers": '[{"name": "not_offered", "arguments": {}}]'}
    rows = [{}, None, gone, {"query": 1, "tools": "x", "answers": "["}, *[nested_row(1)]]
    assert list(iter_tasks(SOURCES["xlam"], rows)) == []
    assert len(list(iter_tasks(SOURCES["nestools"], rows))) == 1


def test_a_missing_file_says_where_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"glaive-function-calling-v2\.json"):
        load_tasks("glaive", tmp_path)
    with pytest.raises(ConfigError, match="no tool-calling data set 'nonesuch'"):
        load_tasks("nonesuch", tmp_path)


@pytest.mark.parametrize(("source", "least"), [("toolrl", 300), ("nestools", 700)])
def test_the_published_files_are_read(source: str, least: int) -> None:
    if not (DATA / SOURCES[source].file).is_file():
        pytest.skip(f"needs shared data: {SOURCES[source].file}")
    found = load_tasks(source, DATA)
    assert len(found) >= least
    assert all(
        is_representable(t.gold, t.format)
        and t.query
        and {c.name for c in t.gold} <= {x.name for x in t.tools}
        for t in found
    )


def test_seal_tools_offers_others_and_keeps_labels_only_where_they_are_used(tmp_path: Path) -> None:
    folder = tmp_path / "seal_tools"
    folder.mkdir()
    tools = [
        {
            "api_name": f"tool_{n}",
            "api_description": "",
            "parameters": {"key": {"type": "str", "description": ""}},
            "required": ["key"],
            "responses": {"value": {"type": "str", "description": ""}},
        }
        for n in range(9)
    ]
    (folder / "tool.jsonl").write_text("\n".join(map(json.dumps, tools)))

    def call(number: int, value: str, label: str) -> dict[str, object]:
        return {"api": f"tool_{number}", "parameters": {"key": value}, "responses": [label]}

    plain = [call(0, "a", "API_call_0"), call(1, "b", "API_call_1")]
    chained = [call(0, "a", "API_call_0"), call(1, "API_call_0", "API_call_1")]
    unknown = [{"api": "nowhere", "parameters": {}, "responses": []}]
    rows = [
        {"id": str(n), "query": "do it", "calling": calling}
        for n, calling in enumerate((plain, chained, unknown))
    ]
    for part in ("dev", "test_in_domain"):
        (folder / f"{part}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = load_tasks("seal_tools", tmp_path)
    assert [task.format for task in found] == ["xlam", "nestools"] * 2
    assert all(4 <= len(task.tools) <= 6 for task in found)
    assert found[0].source == "seal_tools"
    assert not found[0].gold[0].labels
    assert found[1].gold[1].arguments == {"key": "API_call_0"}
    assert [tool.name for tool in found[0].tools] == [tool.name for tool in found[2].tools]
    with pytest.raises(ConfigError, match="Seal-Tools"):
        load_tasks("seal_tools", tmp_path / "nowhere")
