"""The engine beside a hand-written loop with the same checks: 12 no-op calls in 3 layers of 4, CPU time, interleaved.

``python benchmarks/speed/engine.py``. Both check every call against its schema with the same compiled validators,
run a layer's calls in one TaskGroup and keep their results. The engine also numbers, grounds, traces (in memory),
budgets and dedupes them; ``journal`` adds the intents on the disk, beside as many raw SQLite commits. The second
row by hand makes the gate's own checks, grounding included. No model is asked: what is measured is what a run costs
apart from its questions.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import apsw
import jsonschema_rs

from callwright.execution.executor import Executor
from callwright.execution.journal import Journal
from callwright.execution.ledger import Ledger
from callwright.execution.questions import Questions
from callwright.gate import Gate, Sources
from callwright.limits import Budget, Limits
from callwright.testing import ScriptedModel
from callwright.trace import Sink, Trace
from callwright.types import READ, WRITE, CheckedCall, Effects, JsonObject, Tool, ToolCall, ToolOutput

LAYERS, WIDTH = 3, 4
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
    "required": ["city"],
    "additionalProperties": False,
}
QUERY = "The weather of Oslo, Rome, Paris and Bern for 3 days."
CITIES = ("Oslo", "Rome", "Paris", "Bern")


def tools(effects: Effects) -> list[Tool]:
    return [Tool(f"tool_{n}", "Does nothing.", SCHEMA, effects=effects) for n in range(LAYERS * WIDTH)]


async def no_op(name: str, arguments: JsonObject) -> ToolOutput:
    return ToolOutput({"tool": name})


def calls(layer: int) -> list[tuple[str, JsonObject]]:
    return [(f"tool_{layer * WIDTH + n}", {"city": CITIES[n], "days": 3}) for n in range(WIDTH)]


def by_hand(made: list[Tool]) -> Callable[[], Awaitable[Any]]:
    validators = {t.name: jsonschema_rs.validator_for(t.input_schema) for t in made}

    async def one(name: str, arguments: JsonObject, out: list[Any]) -> None:
        if validators[name].is_valid(arguments):
            out.append((await no_op(name, arguments)).content)

    async def run() -> list[Any]:
        out: list[Any] = []
        for layer in range(LAYERS):
            async with asyncio.TaskGroup() as group:
                for name, arguments in calls(layer):
                    group.create_task(one(name, arguments, out))
        return out

    return run


def by_hand_with_our_gate(made: list[Tool]) -> Callable[[], Awaitable[Any]]:
    gate = Gate(made)

    async def one(name: str, arguments: JsonObject, sources: Sources, out: list[Any]) -> None:
        if isinstance(gate.check(ToolCall("", name, arguments), sources), CheckedCall):
            out.append((await no_op(name, arguments)).content)

    async def run() -> list[Any]:
        out: list[Any] = []
        sources = Sources(QUERY)
        for layer in range(LAYERS):
            async with asyncio.TaskGroup() as group:
                for name, arguments in calls(layer):
                    group.create_task(one(name, arguments, sources, out))
        return out

    return run


def engine(made: list[Tool], folder: Path | None = None) -> Callable[[], Awaitable[Any]]:
    gate = Gate(made)

    async def run() -> list[Any]:
        journal = Journal.create(folder) if folder else None
        sinks: tuple[Sink, ...] = (journal,) if journal else ()
        ledger = Ledger(run="r", commit=journal.commit) if journal else Ledger()
        budget, trace = Budget(Limits(), ledger.clock), Trace(sinks)
        questions = Questions(ScriptedModel([]), "schema", budget, trace, None, ledger)
        executor = Executor(
            caller=no_op,
            gate=gate,
            sources=Sources(QUERY),
            questions=questions,
            budget=budget,
            trace=trace,
            ledger=ledger,
        )
        for layer in range(LAYERS):
            made_now = [ToolCall("", name, arguments) for name, arguments in calls(layer)]
            await executor.settle(made_now, [name for name, _ in calls(layer)])
        if journal:
            journal.close()
        return [r.content for r in executor.results]

    return run


def raw_commits(folder: Path, number: int) -> Callable[[], Awaitable[Any]]:
    """As many commits of one row as the journal makes, with the same settings, in a file of their own."""

    async def run() -> list[Any]:
        database = apsw.Connection(str(folder / f"{time.monotonic_ns()}.sqlite"))
        database.pragma("journal_mode", "wal")
        database.pragma("synchronous", "FULL")
        database.execute("CREATE TABLE t (a TEXT)")
        for n in range(number):
            database.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES (?); COMMIT", (f"{n}" * 200,))
        database.close()
        return list(range(LAYERS * WIDTH))

    return run


def cpu_ms(work: Callable[[], Awaitable[Any]], times: int) -> float:
    async def all_of_them() -> None:
        for _ in range(times):
            assert len(await work()) == LAYERS * WIDTH

    started = time.process_time()
    asyncio.run(all_of_them())
    return (time.process_time() - started) / times * 1000


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--rounds", type=int, default=15)
    asked.add_argument("--times", type=int, default=20, help="runs a round")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = {
            "by hand": by_hand(tools(READ)),
            "by hand with our gate": by_hand_with_our_gate(tools(READ)),
            "engine": engine(tools(READ)),
            "engine, journal, writes": engine(tools(WRITE), Path(folder)),
            "raw SQLite commits (15)": raw_commits(Path(folder), LAYERS * WIDTH + LAYERS),
        }
        measured: dict[str, list[float]] = {name: [] for name in rows}
        for _ in range(given.rounds):
            for name, work in rows.items():
                measured[name].append(cpu_ms(work, given.times))
    bare = measured["by hand"]
    for name, found in measured.items():
        ratio = statistics.median(a / b for a, b in zip(found, bare, strict=True))
        print(f"{name:<28}{statistics.median(found):8.3f} ms CPU a run of 12 calls   {ratio:6.2f}x by hand")


if __name__ == "__main__":
    main()
