"""The world of many tools: as many as were asked for, all different, the tasks' own always among
them.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from callwright_lab.benchmarks.large_catalogue.many_tools import (
    COMPANIES,
    TASKS,
    build_server_config,
    compute_value,
    list_tool_names,
    split_tool_count,
)


@pytest.mark.parametrize("count", [10, 100, 1000])
def test_a_catalogue_of_any_size_has_the_tools_of_every_task(count: int) -> None:
    offered = [
        name
        for company, share in split_tool_count(count).items()
        for name in list_tool_names(company, share)
    ]
    assert len(offered) == len(set(offered)) == count
    assert {*offered} >= {name for task in TASKS for name in task.tools}


def test_the_facts_of_a_task_are_what_its_tools_say() -> None:
    assert len({fact for task in TASKS for fact in task.facts}) == sum(
        len(task.facts) for task in TASKS
    )
    assert TASKS[0].facts == (compute_value("forklift_price", " OSLO "),)


def test_a_server_lists_and_answers_over_stdio() -> None:
    made = build_server_config(10)["mcpServers"]
    assert [*made] == [*COMPANIES]
    told = [
        {"id": 1, "method": "tools/list"},
        {
            "id": 2,
            "method": "tools/call",
            "params": {"name": "canoe_stock", "arguments": {"city": "Oslo"}},
        },
        {"method": "notifications/initialized"},
        {"id": 3, "method": "tools/call", "params": {"name": "no_such", "arguments": {}}},
    ]
    lines = "\n".join(map(json.dumps, told)) + "\n"
    command = [sys.executable, *made["marina"]["args"]]
    said = subprocess.run(
        command, input=lines, capture_output=True, text=True, check=True, timeout=60
    ).stdout
    listed, called, unknown = map(json.loads, said.splitlines())
    assert [t["name"] for t in listed["result"]["tools"]] == list_tool_names("marina", 3)
    assert called["result"]["structuredContent"] == {
        "city": "Oslo",
        "pieces": compute_value("canoe_stock", "Oslo"),
    }
    assert "error" in unknown
