"""A random plan of 200 steps, 5 to 80 ms each: the time it takes beside its critical path, and the
CPU it costs.

The plan is drawn once (seed 0): each step waits for up to three of the thirty before it, and takes
from each the value that it returned, as a reference in its arguments. Side by side

* bare asyncio: one task a step, which awaits the tasks before it; arguments are checked against the
  compiled schema;
* ours: the executor's stream, with gate, provenance, budgets and trace (in memory), no model asked;
* layer barriers: the same executor, layer by layer, as plans without edges have to be run.

The critical path is what the sleeps alone take along the longest chain: nothing can be faster.
"""

from __future__ import annotations

import asyncio
import gc
import random
import statistics
import time
from collections.abc import Callable, Coroutine
from typing import Any

import jsonschema_rs
from engine import executor
from timing import Prepare, Row, looped, measure, median_us, ratio
from workload import CITIES

from callwright.agent.execution.references import resolve_references
from callwright.nouns.limits import Limits
from callwright.nouns.plan import Plan, Slot
from callwright.nouns.types import READ, JsonObject, Tool, ToolCall, ToolOutput
from callwright.repair.gate import Gate

STEPS, BACK, PARENTS = 200, 30, 3
SHORTEST, LONGEST = 0.005, 0.080
SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "values": {"type": "array", "items": {"type": "integer"}},
    },
    "required": ["city", "values"],
    "additionalProperties": False,
}
LIMITS = Limits(concurrency=STEPS, tool_calls=STEPS)


def drawn(seed: int = 0) -> tuple[Plan, dict[str, float]]:
    """The plan, and how many seconds each step takes."""
    dice = random.Random(seed)
    slots: list[Slot] = []
    for number in range(STEPS):
        near = slots[-BACK:]
        parents = dice.sample(near, min(len(near), dice.randint(0 if number < 5 else 1, PARENTS)))
        arguments = {
            "city": CITIES[number % len(CITIES)],
            "values": ["${" + p.id + ".value}" for p in parents],
        }
        slots.append(
            Slot(f"t{number}", f"t{number}", frozenset(p.id for p in parents), arguments=arguments)
        )
    return Plan(tuple(slots)), {s.id: dice.uniform(SHORTEST, LONGEST) for s in slots}


PLAN, SECONDS = drawn()
CRITICAL = sum(SECONDS[i] for i in PLAN.critical_path(SECONDS))


def tools() -> list[Tool]:
    return [Tool(slot.tool, "Waits.", SCHEMA, effects=READ) for slot in PLAN.slots]


async def waits(name: str, arguments: JsonObject) -> ToolOutput:
    await asyncio.sleep(SECONDS[name])
    return ToolOutput({"value": 1_000 + int(name[1:])})


async def bare() -> None:
    """One task a step, as one would write it by hand."""
    validators = {slot.tool: jsonschema_rs.validator_for(SCHEMA) for slot in PLAN.slots}
    tasks: dict[str, asyncio.Task[Any]] = {}

    async def one(slot: Slot) -> Any:
        given = [(await tasks[p])["value"] for p in slot.after]
        arguments = {**(slot.arguments or {}), "values": given}
        if not validators[slot.tool].is_valid(arguments):
            raise ValueError(slot.id)
        return (await waits(slot.tool, arguments)).content

    async with asyncio.TaskGroup() as group:
        for slot in PLAN.slots:
            tasks[slot.id] = group.create_task(one(slot))


async def streamed(gate: Gate) -> None:
    running = executor(gate, waits, limits=LIMITS)
    async with running.stream() as stream:
        stream.add(*PLAN.slots)
    assert len(running.succeeded) == STEPS


async def layered(gate: Gate) -> None:
    running = executor(gate, waits, limits=LIMITS)
    for layer in PLAN.layers:
        given = {r.slot: [r.content] for r in running.results}
        calls = []
        for slot in layer:
            tool = Tool(slot.tool, "Waits.", SCHEMA, effects=READ)
            calls.append(
                ToolCall(
                    "",
                    slot.tool,
                    resolve_references(slot.arguments or {}, given, tool).arguments,
                    slot.id,
                )
            )
        await running.execute(calls, [slot.tool for slot in layer])
    assert len(running.succeeded) == STEPS


def _row(way: Callable[[Gate], Coroutine[Any, Any, None]]) -> Prepare:
    gate = Gate(tools())
    return looped(lambda: way(gate))


BARE, OURS, LAYERS = (
    "bare asyncio, schema checked",
    "Callwright, stream",
    "Callwright, layer by layer",
)
ROWS = {BARE: lambda: looped(bare), OURS: lambda: _row(streamed), LAYERS: lambda: _row(layered)}


def seconds(times: int) -> dict[str, list[float]]:
    """Clock time of each way, in turn."""
    gate, found = Gate(tools()), dict[str, list[float]]()
    ways: dict[str, Callable[[], Coroutine[Any, Any, None]]]
    ways = {BARE: bare, OURS: lambda: streamed(gate), LAYERS: lambda: layered(gate)}
    with asyncio.Runner() as runner:
        for _ in range(times):
            for name, way in ways.items():
                gc.collect()  # what the way before left behind is not this one's
                began = time.perf_counter()
                runner.run(way())
                found.setdefault(name, []).append(time.perf_counter() - began)
    return found


def table(rounds: int, peers: str | None) -> list[str]:
    """The table of the random plan, in Markdown."""
    del peers
    times = measure([Row(name, "dag", runs=1) for name in ROWS], rounds)
    clock = seconds(max(3, rounds // 3))
    lines = [
        f"| {STEPS} steps, critical path {CRITICAL:.3f} s | to the critical path | best | ms CPU |"
        " to bare |"
    ]
    lines.append("|---|---:|---:|---:|---:|")
    lines += [
        f"| {name} | {statistics.median(clock[name]) / CRITICAL:.3f} |"
        f" {min(clock[name]) / CRITICAL:.3f} | {median_us(times, name) / 1000:.1f} |"
        f" {ratio(times, name, BARE):.2f} |"
        for name in ROWS
    ]
    return [*lines, ""]
