"""Verified trajectories of sources that may be learned from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Tool
from callwright_lab.training.toolmvr.sources import (
    MOST_SHOWN,
    SOURCES,
    nested_trajectory,
    read_source,
    resolve_references,
)


def _spec(name: str, takes: str, gives: str) -> dict[str, object]:
    parameters, responses = {takes: {"type": "str"}}, {gives: {"type": "str"}}
    told = {"api_name": name, "api_description": "Does it.", "required": [takes]}
    return {**told, "parameters": parameters, "responses": responses}


ROW = {
    "test_id": 1,
    "api": [_spec("find", "name", "id"), _spec("price", "id", "price")],
    "task": "What does ink cost?",
    "call": [
        {"api_name": "find", "parameters": {"name": "ink"}, "responses": ["API_call_0"]},
        {"api_name": "price", "parameters": {"id": "API_call_0"}, "responses": ["API_call_1"]},
    ],
}
BROKEN = {**ROW, "test_id": 2, "task": 'Find "ink.'}


def test_gold_calls_get_their_labels_as_replies_a_thought_each_and_defects_are_left_out(
    tmp_path: Path,
) -> None:
    (tmp_path / "nestools").mkdir()
    rows = "\n".join(json.dumps(r) for r in (ROW, BROKEN))
    (tmp_path / "nestools" / "test_data.jsonl").write_text(rows, encoding="utf-8")
    (found,) = read_source("nestools", tmp_path)
    assert [s.results[0].content for s in found.steps] == [
        {"id": "API_call_0"},
        {"price": "API_call_1"},
    ]
    assert "`id` came back from `find`" in found.steps[1].thought
    assert found.answer is None


def test_references_are_resolved_and_a_trajectory_ends_where_a_value_is_not_shown() -> None:
    tools = {
        n: Tool(n, "", {"type": "object", "properties": {"q": {}, "place": {}}})
        for n in ("find", "rent")
    }
    reply = [{"id": "PLACE-77", "name": "Bari"}]
    calls = [
        {"name": "find", "arguments": {"q": "Bari"}, "label": "var1", "response": reply},
        {
            "name": "rent",
            "arguments": {"place": "$var1.id$"},
            "label": "var2",
            "response": {"cars": ["x" * 50] * 40},
        },
        {"name": "rent", "arguments": {"place": "HIDDEN-99"}, "label": "var3", "response": {}},
    ]
    made = nested_trajectory("t", {"input": " A car in Bari? ", "output": calls}, tools)
    assert made is not None
    assert [c.arguments for c in made.calls] == [{"q": "Bari"}, {"place": "PLACE-77"}]
    assert len(str(made.results[1].content)) <= MOST_SHOWN + 60
    assert (
        nested_trajectory("t", {"input": "q", "output": [{"name": "no", "arguments": {}}]}, tools)
        is None
    )


def test_paths_into_replies() -> None:
    replies = {"var1": {"a": [{"b": 1}, {"b": 2}]}}
    assert resolve_references(
        {"x": ["$var1.a[1].b$", "$var1.a.b$", "$var9.a$", "plain"]}, replies
    ) == {"x": [2, 1, "$var9.a$", "plain"]}
    assert resolve_references("$var1$", replies) == replies["var1"]


def test_an_unknown_source_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no source"):
        list(read_source("toolbench_vr", tmp_path))
    assert "toolbench_vr" not in SOURCES, "published without a licence: read, never learned from"
