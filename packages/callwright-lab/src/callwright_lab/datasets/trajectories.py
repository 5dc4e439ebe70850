"""Sources that record what an agent called, in order: StableToolBench runs, ToolBench answers and
DTA-Tool.

What was called later need not have used what came earlier, so these examples are of kind
``sequence``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from callwright.jsontext import JsonError, parse_literal
from callwright.nouns.types import Json, JsonObject, Tool
from callwright_lab.datasets.examples import PlanExample, Source, example_from_calls, read_json

RUNS_WHERE = (
    "the GPT-3.5 ReAct runs of ToolEval (github.com/OpenBMB/ToolBench), in <data>/stabletoolbench/"
)
DTA_WHERE = (
    "DTA-Tool (dataset dongsheng/DTA-Tool, arXiv 2501.12432) saved as <data>/dta_tool/dta_tool.json"
)

_NAME = re.compile(r"^\{'name': '([^']+)'")
_FINISH = "Finish"


def toolbench_tool(spec: JsonObject, source: str) -> Tool:
    """A tool as ToolBench shows it to a model; empty and unknown names in ``required`` are
    dropped.
    """
    schema = dict(spec.get("parameters") or {})
    properties = schema.get("properties") or {}
    schema["required"] = [n for n in schema.get("required") or () if n in properties]
    schema.pop("optional", None)
    return Tool(spec["name"], spec.get("description") or "", schema, source=source)


def steps_example(
    id: str, source: str, query: str, tools: list[Tool], steps: list[list[str]]
) -> PlanExample | None:
    """An example of kind ``sequence`` from steps of parallel calls; Finish and unknown tools are
    not calls.
    """
    names = {t.name for t in tools} - {_FINISH}
    kept = [[n for n in step if n in names] for step in steps]
    calls: list[str] = []
    needs: dict[int, list[int]] = {}
    before: list[int] = []
    for step in (s for s in kept if s):
        here = list(range(len(calls), len(calls) + len(step)))
        needs.update(dict.fromkeys(here, before))
        calls += step
        before = here
    if not calls:
        return None
    offered = [t for t in tools if t.name != _FINISH]
    return example_from_calls(id, source, query, offered, calls, needs, "sequence")


def read_stabletoolbench_runs(root: Path) -> Iterator[PlanExample]:
    """GPT-3.5's ReAct runs: the order in which tools were called; those never called stay as
    distractors.
    """
    for part in ("G1_category", "G1_instruction", "G1_tool", "G2_instruction"):
        rows = read_json(root / "stabletoolbench" / "gpt35_react_runs" / f"{part}.json", RUNS_WHERE)
        for key, row in rows.items():
            tools = [toolbench_tool(spec, "stabletoolbench") for spec in row["available_tools"]]
            steps = [[name] for name in _iter_called_tools(row["answer"]["answer_details"])]
            made = steps_example(
                f"stabletoolbench-{part}-{key}", "stabletoolbench", row["query"], tools, steps
            )
            if made:
                yield made


def _iter_called_tools(nodes: list[JsonObject]) -> Iterator[str]:
    while nodes:
        node = nodes[0]
        if node["role"] == "tool" and (match := _NAME.match(str(node["message"]))):
            yield match[1]
        nodes = node["next"]


def read_dta_tool(root: Path) -> Iterator[PlanExample]:
    """DTA-Tool: every assistant turn is one layer of parallel calls (RETO, A.1: mapped to layers as
    executed).
    """
    for number, row in enumerate(read_json(root / "dta_tool" / "dta_tool.json", DTA_WHERE)):
        made = dta_example(f"dta-{number}", row)
        if made:
            yield made


def dta_example(id: str, row: JsonObject) -> PlanExample | None:
    """One DTA-Tool row: ``id`` is the query, ``conversations`` has system (tools), user, assistant,
    function.
    """
    turns = row["conversations"]
    system = next((t["value"] for t in turns if t["from"] == "system"), "")
    tools = [toolbench_tool(spec, "dta_tool") for spec in _parse_tool_list(system)]
    steps = [_parallel_calls(t["value"]) for t in turns if t["from"] == "assistant"]
    query = next((t["value"] for t in turns if t["from"] == "user"), str(row.get("id", "")))
    return steps_example(id, "dta_tool", query.strip().removesuffix("Begin!").strip(), tools, steps)


def _parse_tool_list(system: str) -> list[JsonObject]:
    """The tool list that ends the system prompt, JSON or a Python literal."""
    start = system.rfind("APIs:")
    found = _parse_value(system[system.find("[", max(start, 0)) :])
    return (
        [spec for spec in found if isinstance(spec, dict) and "name" in spec]
        if isinstance(found, list)
        else []
    )


def _parallel_calls(text: str) -> list[str]:
    """Tool names after ``Function Call:``, one per parallel call."""
    _, found, calls = text.partition("Function Call:")
    value = _parse_value(calls) if found else None
    listed = value if isinstance(value, list) else [value]
    return [str(c["name"]) for c in listed if isinstance(c, dict) and "name" in c]


def _parse_value(text: str) -> Json:
    """Parse a text as JSON or a Python literal; return None if it is neither."""
    try:
        return parse_literal(text.strip())
    except JsonError:
        return None


SOURCES = (
    Source("stabletoolbench", read_stabletoolbench_runs, "Apache-2.0", True, RUNS_WHERE),
    Source("dta_tool", read_dta_tool, "see its publisher", False, DTA_WHERE),
)
