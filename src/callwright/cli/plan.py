"""``callwright plan``: layers for people, for programs, for diagrams, and on JSON lines."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from functools import cache

from callwright.catalog import open_catalog
from callwright.cli.jsonl import BadLine, answer_stream
from callwright.errors import ConfigError
from callwright.plan import Plan, Slot
from callwright.planning import open_planner
from callwright.protocols import Planner
from callwright.types import JsonObject, Tool, to_json
from callwright.wire.tools import tools_from_wire


def plan_lines(planner_spec: str | None, encoder: str | None) -> None:
    """``{"id", "query", "tools"}`` -> ``{"id", "layers": [[name, …], …], "edges": [[from, to], …]}``."""
    planner = open_planner(planner_spec, encoder)
    answer_stream(lambda row: _plan_row(row, planner))


def _plan_row(row: JsonObject, planner: Planner) -> JsonObject:
    query, listed = row.get("query"), row.get("tools")
    if not isinstance(query, str):
        raise BadLine('"query" must be a text')
    if not isinstance(listed, list):
        raise BadLine('"tools" must be an OpenAI-style list of tools')
    tools = list({tool.name: tool for tool in reversed(tools_from_wire(listed))}.values())[::-1]
    plan = planner.plan(query, tools)
    return {
        "layers": [[slot.tool for slot in layer] for layer in plan.layers],
        "edges": [list(edge) for edge in tool_edges(plan)],
    }


def tool_edges(plan: Plan) -> list[tuple[str, str]]:
    """The plan's edges by tool name."""
    tool = {slot.id: slot.tool for slot in plan.slots}
    return [(tool[a], tool[b]) for a, b in plan.edges]


def print_plan(
    query: str | None,
    sources: Sequence[str],
    only: Sequence[str] | None,
    form: str,
    planner_spec: str | None,
    encoder: str | None,
) -> None:
    """Plan for one query and print it as ``text``, ``json`` or ``mermaid``."""
    if not query or not sources:
        raise ConfigError(
            "plan needs a request and at least one tool source",
            hint='callwright plan "…" --tools SOURCE, or --jsonl for a stream',
        )
    planner = open_planner(planner_spec, encoder)
    plan = planner.plan(query, asyncio.run(_tools(sources, only)))
    print({"text": as_text, "json": as_json, "mermaid": as_mermaid}[form](plan))


async def _tools(sources: Sequence[str], only: Sequence[str] | None) -> tuple[Tool, ...]:
    async with open_catalog(sources) as catalog:
        if only:
            unknown = set(only) - {t.name for t in catalog.tools}
            if unknown:
                raise ConfigError(f"--only names unknown tools: {', '.join(sorted(unknown))}")
        return tuple(t for t in catalog.tools if not only or t.name in only)


def as_text(plan: Plan) -> str:
    """Layers with the probability of each placement and the reason a tool waits."""
    lines = []
    for index, layer in enumerate(plan.layers, 1):
        lines.append(f"Layer {index}")
        lines += [f"  {slot.tool}{_probability(slot, index - 1)}{_reason(slot)}" for slot in layer]
    return "\n".join(lines) or "(no tools)"


def _probability(slot: Slot, layer: int) -> str:
    return f"  p={slot.probabilities[layer]:.2f}" if layer < len(slot.probabilities) else ""


def _reason(slot: Slot) -> str:
    return f"  - {slot.reason}" if slot.reason else ""


def as_json(plan: Plan) -> str:
    import orjson

    rows = {
        "layers": [[slot.tool for slot in layer] for layer in plan.layers],
        "edges": [list(edge) for edge in tool_edges(plan)],
        "slots": to_json(plan.slots),
    }
    for slot in rows["slots"]:
        slot["after"] = sorted(slot["after"])
    return orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode()


def as_mermaid(plan: Plan) -> str:
    """A Mermaid flow chart, one subgraph a layer."""
    key = {slot.id: f"t{n}" for n, slot in enumerate(plan.slots)}
    lines = ["flowchart LR"]
    for index, layer in enumerate(plan.layers, 1):
        lines.append(f'  subgraph layer{index}["Layer {index}"]')
        lines += [f'    {key[slot.id]}["{_label(slot.tool)}"]' for slot in layer]
        lines.append("  end")
    lines += [f"  {key[a]} --> {key[b]}" for a, b in plan.edges]
    return "\n".join(lines)


@cache
def _label(name: str) -> str:
    return re.sub(r'["\\\[\]{}<>]', "_", name)
