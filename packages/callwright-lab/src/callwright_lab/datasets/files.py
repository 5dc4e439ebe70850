"""Plans in a file of the user's own: any of the published layouts, told apart by their keys.

* ComplexTool-Plan: ``input`` (query and numbered tools), ``output`` (dependency string)
* TaskBench, GNN4TaskPlan: ``task_nodes``, ``task_links``, ``user_request``, in later files
  ``tool_nodes``, ``tool_links``, ``instruction``; ``tool_desc.json`` lies beside
* NesTools: ``task``, ``api``, ``call``
* Seal-Tools: ``query``, ``calling``; ``tool.jsonl`` lies beside
* ours (``callwright train planner``): ``query``, ``tools``, ``plan``
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import ConfigError
from callwright.nouns.plan import Plan
from callwright.nouns.types import Json, JsonObject, Tool
from callwright.planning.arrows import edges_by_tool, read_arrows, write_arrows
from callwright_lab.datasets.examples import (
    PlanExample,
    example_from_graph,
    json_type,
    read_json,
)
from callwright_lab.datasets.graphs import complextool_example, linked_example
from callwright_lab.datasets.nested import nestools_example, seal_catalogue, seal_example

Reader = Callable[[JsonObject], PlanExample | None]
LAYOUTS = (
    "the layouts of ComplexTool-Plan, TaskBench, NesTools, Seal-Tools and of callwright train"
    " planner are read"
)


def read_plans(path: Path) -> tuple[list[PlanExample], list[str]]:
    """(examples, why each other row is left out) of a JSON list or JSON lines; a folder stands for
    its data.json.

    ConfigError where there is no such file, its layout is unknown, or no row of it can be used.
    """
    path = path / "data.json" if path.is_dir() else path
    rows = list(_iter_rows(path))
    if not rows:
        raise ConfigError(f"{path} holds no rows")
    read = _select_reader(path, rows[0])
    found: list[PlanExample] = []
    left_out: list[str] = []
    for number, row in enumerate(rows, 1):
        try:
            made = read(row)
        except (KeyError, TypeError, AttributeError, ValueError, JsonError) as error:
            left_out.append(
                f"row {number} of {path.name}: not in the layout of the first"
                f" ({type(error).__name__}: {error})"
            )
            continue
        if made is None:
            left_out.append(
                f"row {number} of {path.name}: a cycle, no tool, or a tool that is not described"
            )
        else:
            found.append(
                replace(made, source=path.stem if path.stem != "data" else path.parent.name)
            )
    if not found:
        raise ConfigError(f"no row of {path} can be used: {left_out[0]}", hint=LAYOUTS)
    return found, left_out


def _iter_rows(path: Path) -> Iterator[JsonObject]:
    try:
        text = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    except OSError:
        raise ConfigError(f"there is no data file {path}", hint=LAYOUTS) from None
    try:
        listed = (
            parse(text)
            if text.lstrip()[:1] == b"["
            else [parse(x) for x in text.split(b"\n") if x.strip()]
        )
    except JsonError as error:
        raise ConfigError(f"{path} is neither a JSON list nor JSON lines: {error}") from None
    for row in listed:
        if not isinstance(row, dict):
            raise ConfigError(
                f"{path} holds {type(row).__name__} where rows are objects", hint=LAYOUTS
            )
        yield row


def _select_reader(path: Path, first: Mapping[str, Json]) -> Reader:
    keys, count = set(first), iter(range(1, 10**9))
    if {"input", "output"} <= keys:
        return lambda row: complextool_example(row, f"{path.stem}-{next(count)}")
    if keys & {"task_nodes", "tool_nodes"}:
        catalogue = taskbench_catalogue(path.with_name("tool_desc.json"))
        return lambda row: linked_example(
            _normalise_taskbench_row(row), catalogue, path.parent.name
        )
    if {"api", "call"} <= keys:
        return lambda row: nestools_example(row, next(count))
    if "calling" in keys:
        seal = seal_catalogue(path.with_name("tool.jsonl"))
        return lambda row: seal_example(row, seal)
    if {"query", "tools", "plan"} <= keys:
        return example_from_row
    raise ConfigError(
        f"the rows of {path} are in no layout that is known: {', '.join(sorted(keys))}",
        hint=LAYOUTS,
    )


# ---------------------------------------------------------------- TaskBench


def taskbench_catalogue(path: Path) -> dict[str, Tool]:
    """The tools of a ``tool_desc.json``: with request parameters, or with types that go in and come
    out.
    """
    nodes = read_json(path, "TaskBench and GNN4TaskPlan put tool_desc.json beside data.json")[
        "nodes"
    ]
    return {n["id"]: _build_tool(n) for n in nodes}


def _build_tool(node: JsonObject) -> Tool:
    listed = node.get("parameters")
    if listed is None:  # what goes in is named by its type; two of a type are image and image_2
        counts: dict[str, int] = {}
        listed = []
        for kind in node.get("input-type") or ():
            counts[kind] = counts.get(kind, 0) + 1
            listed.append(
                {"name": kind if counts[kind] == 1 else f"{kind}_{counts[kind]}", "type": "string"}
            )
    properties = {p["name"]: _build_parameter(p) for p in listed}
    gives = {kind: {"type": "string"} for kind in node.get("output-type") or ()}
    schema: JsonObject = {"type": "object", "properties": properties, "required": list(properties)}
    output: JsonObject | None = {"type": "object", "properties": gives} if gives else None
    return Tool(node["id"], node.get("desc") or "", schema, output, source="taskbench")


def _build_parameter(spec: JsonObject) -> JsonObject:
    made: JsonObject = {"type": kind} if (kind := json_type(spec.get("type"))) else {}
    return {**made, "description": spec["desc"]} if spec.get("desc") else made


def _normalise_taskbench_row(row: JsonObject) -> JsonObject:
    """The row with TaskBench's later names turned into its first ones, and columns of JSON text
    parsed.
    """
    made = dict(row)
    for new, old in (
        ("tool_nodes", "task_nodes"),
        ("tool_links", "task_links"),
        ("instruction", "user_request"),
    ):
        if old not in made and new in made:
            made[old] = made[new]
    for key in ("task_nodes", "task_links"):
        if isinstance(made.get(key), str):
            made[key] = parse(made[key])
    return made


# ---------------------------------------------------------------- ours


def tool_row(tool: Tool) -> JsonObject:
    """A tool as our rows hold it."""
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema,
        "output_schema": tool.output_schema,
    }


def tool_from_row(row: Mapping[str, Any], source: str = "") -> Tool:
    """The tool of a row."""
    return Tool(
        row["name"], row["description"], row["parameters"], row.get("output_schema"), source=source
    )


def gold_plan(example: PlanExample) -> Plan:
    """The example's gold answer as a plan."""
    return Plan.from_edges(example.gold, example.edges)


def to_row(example: PlanExample) -> JsonObject:
    """An example as our rows hold it; the plan's numbers are places among ``tools``."""
    return {
        "id": example.id,
        "source": example.source,
        "query": example.query,
        "tools": [tool_row(t) for t in example.tools],
        "plan": write_arrows(gold_plan(example), example.tools),
    }


def example_from_row(row: Mapping[str, Any]) -> PlanExample | None:
    """The example of one of our rows; None where its plan is no acyclic graph of its tools."""
    tools = [tool_from_row(t, str(row.get("source") or "")) for t in row["tools"]]
    plan = read_arrows(row["plan"], tools)
    if not isinstance(plan, Plan) or plan.problems([t.name for t in tools]):
        return None
    nodes, source = [s.tool for s in plan.slots], str(row.get("source") or "rows")
    return example_from_graph(
        str(row["id"]), source, row["query"], tools, nodes, edges_by_tool(plan), "dependency"
    )


def describe_left_out(left_out: Sequence[str], of: int) -> str:
    """One line about the rows that were left out; "" where there are none."""
    return (
        f"{len(left_out)} of {of} rows are left out; the first: {left_out[0]}" if left_out else ""
    )


def keep_gold_tools(examples: Iterable[PlanExample]) -> list[PlanExample]:
    """The examples with no tool offered but gold's: what is left is which needs which."""
    return [replace(e, tools=tuple(t for t in e.tools if t.name in e.gold)) for e in examples]
