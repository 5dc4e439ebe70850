from __future__ import annotations

import json
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.trace import JsonlSink, Trace
from callwright.nouns.types import Tool, ToolOutput
from callwright.simulation.recording import Recording, record_call, start_recording
from callwright_lab.datasets.toolbench_recordings import read_toolbench_runs

SPEC = {
    "name": "quiz_for_moodring",
    "description": "Get one quiz.",
    "parameters": {
        "type": "object",
        "properties": {"quizid": {"type": "string"}},
        "required": ["quizid", ""],
        "optional": [],
    },
}
REPLY = '{"error": "", "response": "[1]"}'


def message(name: str, arguments: str, response: str) -> str:
    return str({"name": name, "arguments": arguments, "response": response})


def run(*messages: str) -> dict[str, object]:
    nodes: list[object] = []
    for text in reversed(messages):
        nodes = [{"role": "tool", "message": text, "next": nodes}]
    return {"7": {"query": "?", "available_tools": [SPEC], "answer": {"answer_details": nodes}}}


def saved(folder: Path, document: object) -> Path:
    file = folder / "runs.json"
    file.write_text(json.dumps(document))
    return file


def test_whole_replies_of_runs_are_taken_and_cut_ones_counted(tmp_path: Path) -> None:
    whole = message("quiz_for_moodring", '{"quizid": "1"}', REPLY)
    file = saved(
        tmp_path, run(whole, whole[:40], message("other", "{}", REPLY), message("Finish", "{}", ""))
    )
    runs = read_toolbench_runs(file)
    ((call, tool),) = runs.calls
    assert (call.arguments, call.output.content) == (
        {"quizid": "1"},
        {"error": "", "response": "[1]"},
    )
    assert tool.required == ("quizid",)
    assert [p.split(": ")[1].split(" ")[0] for p in runs.problems("runs.json")] == ["1", "1"]


def test_every_branch_of_an_answer_tree_counts(tmp_path: Path) -> None:
    def action(arguments: str, observation: str) -> dict[str, object]:
        given = {
            "node_type": "Action Input",
            "description": arguments,
            "observation": observation,
            "children": [],
        }
        return {"node_type": "Action", "description": "quiz_for_moodring", "children": [given]}

    tree = {"node_type": "Action Input", "description": "", "children": []}
    tree["children"] = [
        action('{"quizid": "1"}', REPLY),
        action('{"quizid": "2"}', REPLY),
        action('{"q', REPLY),
    ]
    file = saved(tmp_path, {"answer_generation": {"function": [SPEC]}, "tree": {"tree": tree}})
    held = Recording.read(file)
    assert sorted(call.arguments["quizid"] for call in held) == ["1", "2"]
    assert "1 replies left out" in held.problems[0]


def test_other_files_are_not_taken_for_runs(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is no recording"):
        Recording.read(saved(tmp_path, {"paths": {}}))
    (tmp_path / "runs.json").write_text("{")
    with pytest.raises(ConfigError, match="is not JSON"):
        read_toolbench_runs(tmp_path / "runs.json")


def test_what_else_a_folder_holds_is_skipped_and_named_and_a_file_that_was_named_is_not(
    tmp_path: Path,
) -> None:
    saved(tmp_path, run(message("quiz_for_moodring", '{"quizid": "1"}', REPLY), "cut"))
    below = tmp_path / "toolenv"
    below.mkdir()
    shape = {
        "api_list": [{"name": "quiz", "schema": {"id": "str"}}]
    }  # of a reply, as ToolBench has them
    texts = {
        "empty.json": "",
        "shapes.json": json.dumps(shape),
        "odd.json": '{"answer_generation": 5}',
        "x.jsonl": "no",
    }
    for name, text in texts.items():
        (below / name).write_text(text)
    (below / "broken.run").write_text("no journal")
    held = Recording.read(tmp_path)
    assert [call.arguments for call in held] == [{"quizid": "1"}]
    assert held.problems == (
        f"{tmp_path.name}: 1 calls left out: of tools that were not on offer",
        (
            f"{tmp_path.name}: 5 files skipped that hold no recorded reply (toolenv/broken.run,"
            " toolenv/empty.json, toolenv/odd.json, …)"
        ),
    )
    for name in texts:
        if name != "x.jsonl":  # may be a trace whose first line was being written
            with pytest.raises(ConfigError):
                Recording.read(below / name)
    with pytest.raises(ConfigError, match="holds no recording"):
        Recording.read(below)


def test_a_folder_of_traces_is_a_recording_of_all_of_them(tmp_path: Path) -> None:
    for number in (1, 2):
        with JsonlSink(tmp_path / f"{number}.jsonl") as sink:
            trace = Trace(sinks=(sink,))
            start_recording(trace, [Tool("quiz")])
            record_call(trace, Tool("quiz"), {"id": number}, ToolOutput(number), 0.0)
    held = Recording.read(tmp_path)
    assert (len(held), held.problems) == (2, ())


@pytest.mark.parametrize(
    ("folder", "calls"),
    [
        ("stabletoolbench/gpt35_react_runs", 1),
        ("toolbench_example/answer", 89),
        ("toolbench_example", 89),
    ],
)
def test_the_published_files_are_read(folder: str, calls: int) -> None:
    from callwright_lab.datasets.sources import data_root

    path = data_root() / folder
    if not path.exists():
        pytest.skip(f"needs shared data: {folder}")
    held = Recording.read(path)
    assert len(held) == calls
    assert any("cut off" in problem for problem in held.problems)
