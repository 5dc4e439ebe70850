from __future__ import annotations

import json
from pathlib import Path

import pytest

from callwright.errors import ConfigError
from callwright.execution.recording import Recording
from callwright.execution.recording_toolbench import is_toolbench_runs, read_toolbench_runs

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
    file = saved(tmp_path, run(whole, whole[:40], message("other", "{}", REPLY), message("Finish", "{}", "")))
    runs = read_toolbench_runs(file)
    ((call, tool),) = runs.calls
    assert (call.arguments, call.output.content) == ({"quizid": "1"}, {"error": "", "response": "[1]"})
    assert tool.required == ("quizid",)
    assert [p.split(": ")[1].split(" ")[0] for p in runs.problems] == ["1", "1"]


def test_every_branch_of_an_answer_tree_counts(tmp_path: Path) -> None:
    def action(arguments: str, observation: str) -> dict[str, object]:
        given = {"node_type": "Action Input", "description": arguments, "observation": observation, "children": []}
        return {"node_type": "Action", "description": "quiz_for_moodring", "children": [given]}

    tree = {"node_type": "Action Input", "description": "", "children": []}
    tree["children"] = [action('{"quizid": "1"}', REPLY), action('{"quizid": "2"}', REPLY), action('{"q', REPLY)]
    file = saved(tmp_path, {"answer_generation": {"function": [SPEC]}, "tree": {"tree": tree}})
    held = Recording.read(file)
    assert sorted(call.arguments["quizid"] for call in held) == ["1", "2"]
    assert "1 replies left out" in held.problems[0]


def test_other_files_are_not_taken_for_runs(tmp_path: Path) -> None:
    assert not is_toolbench_runs(saved(tmp_path, {"paths": {}}))
    (tmp_path / "runs.json").write_text("{")
    with pytest.raises(ConfigError, match="is not JSON"):
        read_toolbench_runs(tmp_path / "runs.json")


@pytest.mark.parametrize(
    ("folder", "calls"), [("stabletoolbench/gpt35_react_runs", 1), ("toolbench_example/answer", 89)]
)
def test_the_published_files_are_read(folder: str, calls: int) -> None:
    from callwright.training.sources import data_root

    path = data_root() / folder
    if not path.exists():
        pytest.skip(f"needs shared data: {folder}")
    held = Recording.read(path)
    assert len(held) == calls
    assert any("cut off" in problem for problem in held.problems)
