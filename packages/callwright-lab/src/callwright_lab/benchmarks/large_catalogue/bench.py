"""``callwright bench large-catalogue``: the same requests over 10, 100 and 1,000 tools behind
several MCP servers.

What a run's prompts cost must not grow with the catalogue, and its answers must not get worse. A
task is done if its tools gave what it asks for and the answer holds every number. One row a task
and size is appended as soon as it is known; a stopped bench goes on with what is missing.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

import orjson

from callwright import __version__
from callwright.agent.catalog_search import USUAL, Shortlisting
from callwright.agent.options import Interaction
from callwright.agent.orchestrator import Orchestrator, Run
from callwright.models import open_model
from callwright.nouns.errors import CallwrightError
from callwright.nouns.limits import Limits
from callwright.nouns.protocols import ChatModel, Planner
from callwright.nouns.types import JsonObject, compute_digest, get_public_fields
from callwright.tools.catalog import open_catalog
from callwright_lab.benchmarks.comparison.comparison import (
    add_planner_option,
    add_shortlist_options,
    open_compared_planner,
    read_shortlist_options,
    tool_selection,
)
from callwright_lab.benchmarks.comparison.rows import append_row, read_rows
from callwright_lab.benchmarks.large_catalogue.many_tools import (
    COMPANIES,
    TASKS,
    Task,
    build_server_config,
)

LIMITS = Limits(seconds=600.0)


async def measure_size(
    size: int,
    tasks: Sequence[Task],
    model: ChatModel,
    shortlist: Shortlisting | None,
    *,
    planner: Planner | None = None,
    interaction: Interaction | None = None,
) -> list[JsonObject]:
    """Run the tasks over so many tools. ``shortlist`` None: every tool is shown. Raises
    CallwrightError.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "mcp.json"
        file.write_bytes(orjson.dumps(build_server_config(size)))
        rows = []
        async with Orchestrator(
            [str(file)],
            model=model,
            limits=LIMITS,
            selection=tool_selection(shortlist),
            planner=planner,
            interaction=interaction,
        ) as orchestrator:
            for task in tasks:
                rows.append(_build_row(size, task, await orchestrator.run(task.query)))
        return rows


def _build_row(size: int, task: Task, run: Run) -> JsonObject:
    """Return the row of a run: its costs and whether it completed its task."""
    asked = [e.data["usage"]["prompt_tokens"] for e in run.events if e.kind == "model"]
    found = [e.data["names"] for e in run.events if e.kind == "shortlist"]
    called = {result.tool for result in run.results if result.ok}
    held = {*_parse_numbers(run.answer.text)}
    return {
        "tools": size,
        "task": task.id,
        "success": called >= {*task.tools} and held >= {*task.facts},
        "called": sorted(called),
        "shown": len(set(found[0])) if found else size,
        "in_shortlist": not found or set(found[0]) >= {*task.tools},
        "prompt_tokens": run.cost.usage.prompt_tokens,
        "largest_prompt": max(asked, default=0),
        "model_calls": run.cost.model_calls,
        "tool_calls": run.cost.calls,
        "seconds": round(run.cost.seconds, 2),
        "answer": run.answer.text,
    }


def _parse_numbers(text: str) -> list[int]:
    words = text.replace(",", "").replace("\u202f", "").split()
    return [int(digits) for word in words if (digits := "".join(c for c in word if c.isdigit()))]


def render_table(rows: Sequence[JsonObject]) -> str:
    """The rows as a Markdown table, one line a size."""
    lines = [
        (
            "| Tools | Shown | In shortlist | Done | Prompt tokens a run | Largest prompt | Model"
            " calls | Tool calls |"
        ),
        "|---|---|---|---|---|---|---|---|",
    ]
    for size in sorted({row["tools"] for row in rows}):
        of = [row for row in rows if row["tools"] == size]
        done, there = (sum(bool(row[key]) for row in of) for key in ("success", "in_shortlist"))
        costs = (
            mean(row[key] for row in of) for key in ("prompt_tokens", "model_calls", "tool_calls")
        )
        tokens, models, tools = costs
        largest = max(row["largest_prompt"] for row in of)
        shown = max(row["shown"] for row in of)
        lines.append(
            f"| {size} | {shown} | {there} of {len(of)} | {done} of {len(of)} | {tokens:.0f} |"
            f" {largest} | {models:.1f} | {tools:.1f} |"
        )
    return "\n".join(lines)


async def _run_missing(options: argparse.Namespace) -> list[JsonObject]:
    shortlist = None if options.all else read_shortlist_options(options)
    model = open_model(options.model)
    shown = get_public_fields(shortlist) if shortlist else None
    planner = open_compared_planner(options.planner)
    tasks = [get_public_fields(task) for task in TASKS]
    parts: list[object] = [__version__, model.name, shown, tasks, options.label]
    config = compute_digest([*parts, *([planner.name] if options.planner else [])])
    try:
        for size in map(int, options.sizes.split(",")):
            done = {
                r["task"]
                for r in read_rows(options.out)
                if (r["config"], r["tools"]) == (config, size)
            }
            for task in TASKS:
                if task.id not in done:
                    [row] = await measure_size(size, [task], model, shortlist, planner=planner)
                    append_row(
                        options.out,
                        {**row, "config": config, "model": model.name, "shortlist": shown},
                    )
                    _print_progress(row)
    finally:
        await model.aclose()
    return [row for row in read_rows(options.out) if row["config"] == config]


def _print_progress(row: JsonObject) -> None:
    word = "ok  " if row["success"] else "fail"
    cost = (
        f"{row['prompt_tokens']} prompt tokens, {row['model_calls']} model calls,"
        f" {row['seconds']:.0f} s"
    )
    sys.stderr.write(f"{word} {row['tools']:>5} tools  {row['task']:18} {cost}\n")
    sys.stderr.flush()


async def _measure_opening(sizes: Sequence[int]) -> None:
    """Print the time that opening catalogues of these sizes takes, server start included."""
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "mcp.json"
            file.write_bytes(orjson.dumps(build_server_config(size)))
            began = time.monotonic()
            async with open_catalog([str(file)]) as catalog:
                told = f"{len(catalog)} tools of {len(COMPANIES)} servers"
                sys.stdout.write(f"{told} opened in {time.monotonic() - began:.1f} s\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(
        prog="callwright bench large-catalogue",
        description=(__doc__ or "").partition(": ")[2].partition("\n")[0],
    )
    parser.add_argument("--model", default=None, help="local (default), local:PATH or URL#MODEL")
    parser.add_argument(
        "--sizes", default="10,100,1000", help="how many tools, with commas between (%(default)s)"
    )
    add_shortlist_options(parser, USUAL)
    add_planner_option(parser)
    parser.add_argument("--all", action="store_true", help="no shortlist: every tool is shown")
    parser.add_argument(
        "--out", type=Path, default=Path("runs/large-catalogue/results.jsonl"), help="(%(default)s)"
    )
    parser.add_argument("--label", default="", help="tell apart changes that the rows cannot see")
    parser.add_argument(
        "--open", action="store_true", help="only open the catalogues, ask no model"
    )
    options = parser.parse_args(arguments)
    if options.open:
        asyncio.run(_measure_opening([*map(int, options.sizes.split(","))]))
        return 0
    try:
        rows = asyncio.run(_run_missing(options))
    except CallwrightError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(render_table(rows) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
