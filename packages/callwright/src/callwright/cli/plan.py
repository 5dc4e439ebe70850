"""``callwright plan``: layers or a graph for people, for programs, for diagrams, and on JSON
lines.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from callwright.agent.catalog_search import choose_shortlist
from callwright.agent.render import render_signatures
from callwright.cli.opened import load_tools
from callwright.cli.run import fetch_model
from callwright.cli.settings.settings import Settings
from callwright.cli.terminal.console import format_count
from callwright.cli.terminal.jsonl import BadLine, answer_stream, open_lines, refuse_path
from callwright.cli.view import write_html
from callwright.models import ModelSpec, open_model
from callwright.models.dialogue import run_dialogue
from callwright.nouns.control_characters import one_line
from callwright.nouns.errors import ConfigError, MissingExtra, PlanError
from callwright.nouns.plan import Plan, Slot, rename_references
from callwright.nouns.protocols import Planner, ReplyMode
from callwright.nouns.types import JsonObject, Tool, to_canonical_json, to_json
from callwright.planning import open_planner
from callwright.planning.dag import Asked, plan_dialogue
from callwright.planning.notation import serialize_plan
from callwright.retrieval import mode_named
from callwright.retrieval.installed import best_mode
from callwright.tools.lists.tools import tools_from_wire
from callwright.viewer import render_plan_page

_MOST_REASONS = 3  # in a line; a tool may wait for every other one


def _plan_row(
    row: JsonObject, planner: Planner, request: PlanRequest, known: Sequence[Tool]
) -> JsonObject:
    """The layers and edges for a row; for one that lists no tools, of those known, as for one
    request.
    """
    query, listed = row.get("query"), row.get("tools")
    if not isinstance(query, str):
        raise BadLine('"query" must be a text')
    if listed is None and known:
        tools, _ = _choose_of(known, query, request)
    elif isinstance(listed, list):
        named = {tool.name: tool for tool in reversed(tools_from_wire(listed))}
        tools = tuple(named.values())[::-1]
    else:
        raise BadLine('"tools" must be an OpenAI-style list of tools; --tools names those of all')
    plan = planner.plan(query, tools)
    return {
        "layers": [[slot.tool for slot in layer] for layer in plan.layers],
        "edges": [list(edge) for edge in list_tool_edges(plan)],
    }


def list_tool_edges(plan: Plan) -> list[tuple[str, str]]:
    """The plan's edges by tool name."""
    tool = {slot.id: slot.tool for slot in plan.slots}
    return [(tool[a], tool[b]) for a, b in plan.edges]


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """A request to plan, and the planner. The tools are chosen first, as by a run with
    ``shortlist`` and ``retrieval``; ``every``: all of them are planned.
    """

    query: str | None
    sources: Sequence[str]
    strategy: str = "layered"
    only: Sequence[str] | None = None
    planner: str | None = None
    encoder: str | None = None
    model: ModelSpec | None = None
    mode: ReplyMode | None = None
    every: bool = False
    shortlist: int | None = None
    retrieval: str | None = None

    @classmethod
    def of(
        cls, query: str | None, settings: Settings, strategy: str, *, every: bool
    ) -> PlanRequest:
        """Return the request of the settings and the command line. Only ``dag`` asks the model."""
        return cls(
            query,
            settings.sources(),
            strategy,
            settings.get("only"),
            settings.get("planner"),
            settings.get("encoder"),
            settings.model() if strategy == "dag" else None,
            settings.get("mode"),
            every,
            settings.get("shortlist"),
            settings.get("retrieval"),
        )


def plan_lines(name: str | None, request: PlanRequest) -> int:
    """``{"id", "query", "tools"?}`` -> ``{"id", "layers": [[name, …], …], "edges": [[from, to],
    …]}``, for each line of a file or of standard input.

    A line without tools is planned as :func:`print_plan` does it, with the request's tools. Returns
    the exit code. Raises ConfigError.
    """
    if request.strategy == "dag":
        raise ConfigError(
            "--jsonl asks no model, and --strategy dag needs one", hint="leave out one of the two"
        )
    with open_lines(name) as lines:
        planner = _open_planner(request)
        known = _load_tools(request.sources, request.only) if request.sources else ()
        return answer_stream(lambda row: _plan_row(row, planner, request, known), lines).exit_code


def print_plan(request: PlanRequest, form: str, html: Path | None = None) -> None:
    """Plan for one query as a strategy would and print it as ``text``, ``json`` or ``mermaid``;
    draw it as a page.

    ``dag`` asks the model, the others ask none. Raises ConfigError, and PlanError where the model
    wrote no plan.
    """
    query = request.query
    if request.every and request.shortlist is not None:
        raise ConfigError(
            "--all plans every tool, --shortlist only so many", hint="say one of the two"
        )
    if not query or not request.sources:
        raise ConfigError(
            "plan needs a request and at least one tool source",
            hint='callwright plan "…" --tools SOURCE, or --jsonl for a stream',
        )
    if query.endswith(".jsonl"):
        refuse_path(query, "plan", "QUERY is the text of a request")
    plan, left_out = _make_plan(query, request)
    print(_render_plan(plan, form, layered=request.strategy == "layered"))
    if left_out:
        print(left_out, file=sys.stdout if form == "text" else sys.stderr)
    if html is not None:
        write_html(render_plan_page(query, plan), html)
        print(f"plan page: {html}", file=sys.stderr)


def _render_plan(plan: Plan, form: str, *, layered: bool) -> str:
    if form == "json":
        return render_json(plan)
    if form == "mermaid":
        return render_mermaid(plan, layered)
    return render_text(plan) if layered else render_graph(plan)


def _make_plan(query: str, request: PlanRequest) -> tuple[Plan, str]:
    """The plan, and a line that counts the tools that were left out of it."""
    if request.strategy == "dag":
        fetch_model(None if request.model is None else request.model.text)
        tools, left_out = _choose_loaded(query, request)
        return asyncio.run(_plan_by_model(query, tools, request.model, request.mode)), left_out
    planner = _open_planner(request)
    tools, left_out = _choose_loaded(query, request)
    return planner.plan(query, tools), left_out


def _open_planner(request: PlanRequest) -> Planner:
    by_edges = request.strategy == "edges" and request.encoder is None
    usual = "graph" if by_edges else None  # nobody else chooses the tools here
    return open_planner(request.planner or usual, request.encoder)


def _choose_loaded(query: str, request: PlanRequest) -> tuple[tuple[Tool, ...], str]:
    return _choose_of(_load_tools(request.sources, request.only), query, request)


def _choose_of(
    tools: Sequence[Tool], query: str, request: PlanRequest
) -> tuple[tuple[Tool, ...], str]:
    return choose_tools(query, tools, request.every, request.shortlist, request.retrieval)


def choose_tools(
    query: str, tools: Sequence[Tool], every: bool, shortlist: int | None, retrieval: str | None
) -> tuple[tuple[Tool, ...], str]:
    """The tools to plan with, and a line that counts those left out; "" where there are none."""
    if every:
        return tuple(tools), ""
    try:
        choice = choose_shortlist(
            query, tools, shortlist, mode_named(retrieval) if retrieval else best_mode()
        )
    except MissingExtra as exc:  # an order of all tools is still of use
        print(f"no tools were chosen, all are planned: {exc.message}; {exc.hint}", file=sys.stderr)
        return tuple(tools), ""
    count = len(tools) - len(choice.tools)
    if not count:
        return choice.tools, ""
    more = "--all plans them too"
    if not choice.tools:
        more = (
            "none of them shares a word with it; --retrieval ranked finds tools by meaning, --all"
            " plans all of them"
        )
    return (
        choice.tools,
        (
            f"{count} of {len(tools)} tools left out: not found for this request ({choice.mode});"
            f" {more}"
        ),
    )


async def _plan_by_model(
    query: str, tools: Sequence[Tool], spec: ModelSpec | None, said: ReplyMode | None
) -> Plan:
    """The plan that the model writes."""
    model = open_model(spec)
    try:
        mode = said or (await model.capabilities()).mode
        asked = Asked(query, tuple(tools), render_signatures(tools), mode)
        draft = await run_dialogue(plan_dialogue(asked), model.complete)
    finally:
        await model.aclose()
    for problem in draft.problems:
        print(f"unsound: {one_line(problem)}", file=sys.stderr)
    if draft.plan is None:
        raise PlanError(
            "the model wrote no plan", hint="another --model, or --strategy edges, which asks none"
        )
    return draft.plan


def _load_tools(sources: Sequence[str], only: Sequence[str] | None) -> tuple[Tool, ...]:
    tools = load_tools(sources)
    unknown = set(only or ()) - {t.name for t in tools}
    if unknown:
        raise ConfigError(
            f"--only names unknown tools: {', '.join(sorted(unknown))}",
            hint="callwright tools SOURCE lists them",
        )
    return tuple(t for t in tools if not only or t.name in only)


def render_text(plan: Plan) -> str:
    """Layers with the probability that a tool belongs there and the reason why it waits; ``*``
    marks the critical path.
    """
    lines = []
    critical = plan.critical_path() if len(plan.layers) > 1 else ()
    for index, layer in enumerate(plan.layers, 1):
        lines.append(f"Layer {index}")
        lines += [
            f"{'*' if slot.id in critical else ' '}"
            f" {slot.tool}{_render_probability(slot, index - 1)}{_render_reason(slot)}"
            for slot in layer
        ]
    return "\n".join(lines) or "(no tools)"


def render_graph(plan: Plan) -> str:
    """One step a line, in an order in which they could run: what it waits for and its arguments.
    ``*`` marks the critical path (every step counting 1).
    """
    order = [slot for layer in plan.layers for slot in layer]
    number = {slot.id: n for n, slot in enumerate(order, 1)}
    critical = plan.critical_path()
    lines = [_render_step(slot, number, slot.id in critical) for slot in order]
    if not lines:
        return "(no steps)"
    chain = " -> ".join(str(number[id_]) for id_ in critical)
    return "\n".join([*lines, f"critical path: {chain} ({len(critical)} of {len(order)} steps)"])


def _render_step(slot: Slot, number: Mapping[str, int], critical: bool) -> str:
    after = ", ".join(str(n) for n in sorted(number[b] for b in slot.after))
    waits = f"  after {after}" if after else ""
    given = f"  {_number_references(slot.arguments, number)}" if slot.arguments is not None else ""
    return f"{'*' if critical else ' '} {number[slot.id]:>2}. {slot.tool}{waits}{given}{_render_reason(slot)}"


def _number_references(arguments: JsonObject, number: Mapping[str, int]) -> str:
    """Arguments in which references name the numbers of the lines."""
    return to_canonical_json(
        rename_references(arguments, {id_: str(n) for id_, n in number.items()})
    )


def _render_probability(slot: Slot, layer: int) -> str:
    likely = slot.probabilities[layer : layer + 1]
    return f"  {likely[0]:.0%} likely in this layer" if likely else ""


def _render_reason(slot: Slot) -> str:
    reasons = slot.reason.split("; ")
    shown, more = reasons[:_MOST_REASONS], reasons[_MOST_REASONS:]
    others = [f"{format_count(len(more), 'more reason')} (--format json)"] if more else []
    return f"  - {'; '.join([*shown, *others])}" if slot.reason else ""


def render_json(plan: Plan) -> str:
    """The plan as JSON. ``steps`` is what ``callwright run --plan`` carries out; the rest are views
    of it. ``probabilities`` of a slot are those of layer 1, layer 2 and so on, where the planner
    gives them.
    """
    import orjson

    rows = {
        "layers": [[slot.tool for slot in layer] for layer in plan.layers],
        "edges": [list(edge) for edge in list_tool_edges(plan)],
        "critical_path": list(plan.critical_path()),
        **serialize_plan(plan),
        "slots": [
            {name: value for name, value in to_json(slot).items() if value is not None}
            for slot in plan.slots
        ],
    }
    return orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode()


def render_mermaid(plan: Plan, layers: bool = True) -> str:
    """A Mermaid flow chart, one subgraph a layer or none, its critical path drawn thick."""
    key = {slot.id: f"t{n}" for n, slot in enumerate(plan.slots)}
    lines = ["flowchart LR"]
    if layers:
        for index, layer in enumerate(plan.layers, 1):
            lines.append(f'  subgraph layer{index}["Layer {index}"]')
            lines += [f'    {key[slot.id]}["{_escape_label(slot.tool)}"]' for slot in layer]
            lines.append("  end")
    else:
        lines += [f'  {key[slot.id]}["{_escape_label(slot.tool)}"]' for slot in plan.slots]
    path = plan.critical_path()
    thick = {*pairwise(path)}
    lines += [f"  {key[a]} {'==>' if (a, b) in thick else '-->'} {key[b]}" for a, b in plan.edges]
    if thick:
        lines += [
            "  classDef critical stroke-width:3px",
            f"  class {','.join(key[i] for i in path)} critical",
        ]
    return "\n".join(lines)


@cache
def _escape_label(name: str) -> str:
    return re.sub(r'["\\\[\]{}<>]', "_", name)
