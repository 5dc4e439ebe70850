"""Prose that looks like calls: templates filled with real tools, recorded answers first."""

from __future__ import annotations

import json
from pathlib import Path

from callwright.nouns.types import Tool, ToolCall
from callwright_lab.benchmarks.harm.gold import GoldCase
from callwright_lab.benchmarks.harm.prose import TEMPLATES, prose_replies, recorded_answers

TOOL = Tool("get_weather", "", {"type": "object", "properties": {"city": {"type": "string"}}})
CASE = GoldCase("c", "own", "q", (TOOL,), (ToolCall("1", "get_weather", {"city": "Oslo"}),))


def test_every_template_can_be_filled(tmp_path: Path) -> None:
    found = prose_replies([CASE], tmp_path, len(TEMPLATES))
    assert len({p.text for p in found}) == len(TEMPLATES)
    assert all(p.tools == (TOOL,) for p in found)


def test_recorded_answers_come_first_and_are_at_most_half(tmp_path: Path) -> None:
    folder = tmp_path / "stabletoolbench" / "gpt35_react_runs"
    folder.mkdir(parents=True)
    final = json.dumps({"return_type": "give_answer", "final_answer": "It is 5."})
    runs = {
        "1": {"answer": {"final_answer": final}, "available_tools": [{"name": "t"}]},
        "2": {"answer": {"final_answer": ""}},
    }
    (folder / "G1_tool.json").write_text(json.dumps(runs))
    assert [p.text for p in recorded_answers(tmp_path, 10)] == ["It is 5."]
    found = prose_replies([CASE], tmp_path, 4)
    assert found[0].text == "It is 5."
    assert len(found) == 4
