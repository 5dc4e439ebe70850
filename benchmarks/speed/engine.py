"""The engine beside a hand-written loop with the same checks: 12 no-op calls in 3 layers of 4.

Both rows by hand run a layer's calls in one TaskGroup and keep their results; the first checks
every call against its compiled schema, the second as the gate does, where its values come from
included. The engine also numbers, traces (in memory), budgets and dedupes them, and lets none run
for ever. With the journal every call is a write whose intent is on the disk before it leaves,
beside as many raw SQLite commits. No model is asked: what is measured is what a run costs apart
from its questions.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

import apsw
import jsonschema_rs
from timing import Prepare, Row, looped, measure, median_us, ratio
from workload import LAYERS, NAMES, QUERY, SCHEMA, WIDTH, calls, result

from callwright.agent.execution.executor import Executor
from callwright.agent.journal.ledger import Ledger
from callwright.agent.journal.store import Journal
from callwright.agent.questions import Questions
from callwright.agent.state import Asked
from callwright.nouns.limits import Budget, Limits
from callwright.nouns.trace import Sink, Trace
from callwright.nouns.types import (
    READ,
    WRITE,
    CheckedCall,
    Effects,
    JsonObject,
    Tool,
    ToolCall,
    ToolOutput,
    ToolResult,
)
from callwright.repair.gate import Gate
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.testing import ScriptedModel

MODEL = ScriptedModel([])
COMMITS = LAYERS * WIDTH + LAYERS  # of one run that only writes: one an effect, one a layer
CROWD, SECONDS = 100, 0.05


def tools(effects: Effects) -> list[Tool]:
    return [Tool(name, "Does nothing.", SCHEMA, effects=effects) for name in NAMES]


async def no_op(name: str, arguments: JsonObject) -> ToolOutput:
    return ToolOutput(result(name))


def by_hand() -> Prepare:
    validators = {name: jsonschema_rs.validator_for(SCHEMA) for name in NAMES}

    async def one(name: str, arguments: JsonObject, out: list[Any]) -> None:
        if validators[name].is_valid(arguments):
            out.append((await no_op(name, arguments)).content)

    async def run() -> None:
        out: list[Any] = []
        for layer in range(LAYERS):
            async with asyncio.TaskGroup() as group:
                for name, arguments in calls(layer):
                    group.create_task(one(name, arguments, out))
        assert len(out) == LAYERS * WIDTH

    return looped(run)


def by_hand_as_the_gate() -> Prepare:
    gate = Gate(tools(READ))

    async def one(
        name: str, arguments: JsonObject, sources: ProvenanceIndex, out: list[ToolResult]
    ) -> None:
        if isinstance(gate.check(ToolCall("", name, arguments), sources), CheckedCall):
            given = await no_op(name, arguments)
            out.append(ToolResult(f"r{len(out)}", name, arguments, given.content))

    async def run() -> None:
        out: list[ToolResult] = []
        sources = ProvenanceIndex(QUERY)
        for layer in range(LAYERS):
            known = len(out)
            async with asyncio.TaskGroup() as group:
                for name, arguments in calls(layer):
                    group.create_task(one(name, arguments, sources, out))
            for found in out[known:]:
                sources.add_result(found)
        assert len(out) == LAYERS * WIDTH

    return looped(run)


def executor(
    gate: Gate,
    caller: Callable[..., Any],
    journal: Journal | None = None,
    limits: Limits | None = None,
) -> Executor:
    """What an orchestrator makes for every run."""
    sinks: tuple[Sink, ...] = (journal,) if journal else ()
    ledger = Ledger(run="r", commit=journal.commit) if journal else Ledger()
    budget, trace = Budget(limits or Limits(), ledger.clock), Trace(sinks)
    return Executor(
        caller=caller,
        gate=gate,
        asked=Asked(QUERY),
        questions=Questions(MODEL, "schema", budget, trace, None, ledger),
        budget=budget,
        trace=trace,
        ledger=ledger,
    )


async def layered(made: Executor) -> None:
    for layer in range(LAYERS):
        asked = calls(layer)
        await made.execute(
            [ToolCall("", name, arguments) for name, arguments in asked],
            [name for name, _ in asked],
        )
    assert len(made.results) == LAYERS * WIDTH


def engine() -> Prepare:
    gate = Gate(tools(READ))
    return looped(lambda: layered(executor(gate, no_op)))


def engine_with_journal() -> Prepare:
    """Runs that only write. Making the journals, which is done once a run, is not in the time."""
    gate, folder = Gate(tools(WRITE)), tempfile.TemporaryDirectory()
    loop = asyncio.new_event_loop()

    async def all_of(journals: list[Journal]) -> None:
        for journal in journals:
            await layered(executor(gate, no_op, journal))

    def prepare(runs: int) -> Callable[[], object]:
        journals = [Journal.create(folder.name) for _ in range(runs)]
        return lambda: loop.run_until_complete(all_of(journals))

    return prepare


def raw_commits() -> Prepare:
    """As many commits of one row as the journal makes, with the same settings."""
    folder = tempfile.TemporaryDirectory()

    def opened() -> apsw.Connection:
        database = apsw.Connection(f"{folder.name}/{time.monotonic_ns()}.sqlite")
        database.pragma("journal_mode", "wal")
        database.pragma("synchronous", "FULL")
        database.execute("CREATE TABLE t (a TEXT)")
        return database

    def prepare(runs: int) -> Callable[[], object]:
        databases = [opened() for _ in range(runs)]

        def commit() -> None:
            for database in databases:
                for n in range(COMMITS):
                    database.execute(
                        "BEGIN IMMEDIATE; INSERT INTO t VALUES (?); COMMIT", (f"{n}" * 200,)
                    )

        return commit

    return prepare


def crowd(times: int) -> list[float]:
    """Seconds of clock time until 100 tools of 50 ms that run together have all come back."""

    async def slow(name: str, arguments: JsonObject) -> ToolOutput:
        await asyncio.sleep(SECONDS)
        return ToolOutput(result(name))

    made = [Tool(f"slow_{n}", "Waits.", SCHEMA, effects=READ) for n in range(CROWD)]
    gate, limits = Gate(made), Limits(concurrency=CROWD, tool_calls=CROWD)

    async def once() -> float:
        asked = [ToolCall("", tool.name, {"city": "Oslo", "days": 3}) for tool in made]
        running = executor(gate, slow, limits=limits)
        began = time.perf_counter()
        found = await running.execute(asked, [tool.name for tool in made])
        spent = time.perf_counter() - began
        assert [one.ok for one in found] == [True] * CROWD
        return spent

    with asyncio.Runner() as runner:
        runner.run(once())
        return [runner.run(once()) for _ in range(times)]


HAND, GATE, OURS = "by hand, schema checked", "by hand, the gate's checks", "Callwright"
JOURNAL, RAW = "Callwright, journal on, only writes", f"{COMMITS} raw SQLite commits"
ROWS = {
    HAND: by_hand,
    GATE: by_hand_as_the_gate,
    OURS: engine,
    JOURNAL: engine_with_journal,
    RAW: raw_commits,
}
PEERS = ("LangGraph, ToolNode graph", "pydantic-ai, agent")  # in engine_peers


def table(rounds: int, peers: str | None) -> list[str]:
    """The engine's table, in Markdown."""
    rows = [Row(name, "engine", runs=8 if name in (JOURNAL, RAW) else 40) for name in ROWS]
    rows += [Row(name, "engine_peers", peers, runs=10) for name in PEERS] if peers else []
    times = measure(rows, rounds)
    lines = [
        "| 12 calls in 3 layers | µs CPU | to Callwright | to by hand, schema checked |",
        "|---|---:|---:|---:|",
    ]
    lines += [
        f"| {r.name} | {median_us(times, r.name):,.0f} | {ratio(times, r.name, OURS):.2f} "
        f"| {ratio(times, r.name, HAND):.2f} |"
        for r in rows
    ]
    seconds = crowd(rounds)
    at_once = f"{statistics.median(seconds) / SECONDS:.2f} (best {min(seconds) / SECONDS:.2f})"
    return [
        *lines,
        "",
        (
            f"Callwright to by hand with the gate's checks: {ratio(times, OURS, GATE):.2f}. With"
            " the journal, a step (a commit and all around it) to a raw commit:"
            f" {ratio(times, JOURNAL, RAW):.2f}. {CROWD} tools of 50 ms at once, clock time to 50"
            f" ms: {at_once}."
        ),
        "",
    ]
