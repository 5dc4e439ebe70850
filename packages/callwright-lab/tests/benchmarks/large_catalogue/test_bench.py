"""Prompts do not grow with the catalogue: real MCP servers over stdio, a model that reads what it
is shown.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from callwright.agent.catalog_search import Shortlisting
from callwright.agent.options import Interaction
from callwright.nouns.plan import Plan
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import JsonObject
from callwright.testing import ScriptedModel
from callwright_lab.benchmarks.comparison.rows import append_row
from callwright_lab.benchmarks.large_catalogue.bench import main, measure_size, render_table
from callwright_lab.benchmarks.large_catalogue.many_tools import TASKS

CITY = re.compile(r"\bin (Oslo|Bergen|Lyon|Vienna|Turin|Porto|Malmo|Gdansk|Ghent)")


class OneLayer:
    name = "one"

    def plan(self, query: str, tools: Any) -> Plan:
        return Plan.from_layers([[t.name for t in tools]])


def reader() -> ScriptedModel:
    """Does what a good model would: of the tools that it is shown it calls the task's, for every
    city named.
    """

    def reply(request: ChatRequest) -> Any:
        text = request.messages[-1].content
        task = next(t for t in TASKS if t.query in "".join(m.content for m in request.messages))
        if request.purpose == "select":
            return {"needed": [name for name in task.tools if f"- {name}:" in text]}
        if request.purpose.startswith("answer"):
            facts = [
                {"text": f"It is {fact:,}.", "results": [f"r{n}"]}
                for n, fact in enumerate(task.facts, 1)
            ]
            return {"statements": facts, "missing": []}
        shown = [name for name in dict.fromkeys(task.tools) if f"- {name}(" in text]
        cities = dict.fromkeys(CITY.findall(task.query))
        return {
            "calls": [
                {"tool": name, "arguments": {"city": city}} for name in shown for city in cities
            ]
        }

    return ScriptedModel(reply)


async def rows(size: int, shortlist: int | None = 8, **more: Any) -> list[JsonObject]:
    how = Shortlisting(shortlist, **more) if shortlist else None
    return await measure_size(
        size, TASKS, reader(), how, planner=OneLayer(), interaction=Interaction(mode="schema")
    )


async def test_prompts_are_as_long_over_1000_tools_as_over_10_and_the_tasks_are_done() -> None:
    made = {size: await rows(size) for size in (10, 100, 1000)}
    for found in made.values():
        assert [row["task"] for row in found if not row["success"]] == []
        assert all(row["in_shortlist"] and row["shown"] <= 8 for row in found)
    tokens = {size: sum(row["prompt_tokens"] for row in found) for size, found in made.items()}
    largest = {size: max(row["largest_prompt"] for row in found) for size, found in made.items()}
    assert tokens[1000] <= 1.1 * tokens[10]
    assert tokens[1000] <= 1.05 * tokens[100]
    assert largest[1000] <= 1.15 * largest[10]


async def test_without_a_shortlist_they_do_grow() -> None:
    few, many = await rows(10, None), await rows(100, None)
    grown = sum(row["prompt_tokens"] for row in many) / sum(row["prompt_tokens"] for row in few)
    assert grown > 1.5, "ten tools stand in every question, of a hundred only names in one"


async def test_trials_keep_what_a_run_needs_among_many_tools() -> None:
    found = await rows(100, trials="read-only")
    assert all(row["in_shortlist"] and row["success"] for row in found)


def test_a_bench_goes_on_where_it_was_stopped_and_prints_a_line_a_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {
        "tools": 10, "task": "price", "success": True, "shown": 8, "in_shortlist": True, "prompt_tokens": 900,
        "largest_prompt": 500, "model_calls": 2, "tool_calls": 1,
    }  # fmt: skip
    text = render_table([row, {**row, "task": "stock", "success": False}, {**row, "tools": 1000}])
    assert "| 10 | 8 | 2 of 2 | 1 of 2 | 900 | 500 | 2.0 | 1.0 |" in text
    assert text.splitlines()[-1].startswith("| 1000 |")
    append_row(tmp_path / "rows.jsonl", row | {"config": "another"})
    assert (
        main(
            [
                "--sizes",
                "10",
                "--model",
                "http://127.0.0.1:9/v1#m",
                "--out",
                str(tmp_path / "rows.jsonl"),
            ]
        )
        == 1
    )
    assert "cannot connect" in capsys.readouterr().err
