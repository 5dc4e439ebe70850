"""Rows timed side by side: each row in a process of its own, all of them in turn in every round,
CPU time.

A row is an entry of ``ROWS`` in a module beside this one: given a number of runs it prepares them
and returns the work. What is timed is the work alone, by the CPU that its process has used, all
threads. Rows follow each other within a round, forwards and backwards in turn; a ratio is the
median of the ratios within a round. So figures of a busy machine may be compared, though each by
itself says little. ``python timing.py MODULE ROW`` is one such process.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

HERE = Path(__file__).resolve().parent
Prepare: TypeAlias = Callable[[int], Callable[[], object]]
Times: TypeAlias = Mapping[str, Sequence[float]]  # row -> nanoseconds of CPU a run, by round


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its key in the ``ROWS`` of its module, whose Python runs it, how many runs make a
    round.
    """

    name: str
    module: str
    python: str = sys.executable
    runs: int = 40


def looped(run: Callable[[], Awaitable[object]]) -> Prepare:
    """A row that runs a coroutine again and again, in one event loop for all rounds."""
    loop = asyncio.new_event_loop()  # closed with its process

    async def again(runs: int) -> None:
        for _ in range(runs):
            await run()

    return lambda runs: lambda: loop.run_until_complete(again(runs))


def repeated(work: Callable[[], object]) -> Prepare:
    """A row that calls a function again and again."""

    def again(runs: int) -> None:
        for _ in range(runs):
            work()

    return lambda runs: lambda: again(runs)


def measure(rows: Sequence[Row], rounds: int) -> Times:
    """CPU time of every row in every round; one round before that is not counted."""
    found: dict[str, list[float]] = {row.name: [] for row in rows}
    with ExitStack() as stack:
        workers = [(row, stack.enter_context(_Worker(row))) for row in rows]
        for turn in range(rounds + 1):
            for row, worker in workers if turn % 2 else reversed(workers):
                spent = worker.spend(row.runs)
                if turn:
                    found[row.name].append(spent)
    return found


def ratio(times: Times, row: str, to: str) -> float:
    """The median over the rounds of one row's time to another's in the same round."""
    return statistics.median(a / b for a, b in zip(times[row], times[to], strict=True))


def median_us(times: Times, row: str) -> float:
    return statistics.median(times[row]) / 1000


class _Worker:
    """The process of one row. It computes only when told to."""

    def __init__(self, row: Row) -> None:
        command = [row.python, str(HERE / "timing.py"), row.module, row.name]
        env = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
        }  # threads that wait for each other count as CPU
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
        )
        self._row = row

    def __enter__(self) -> _Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def spend(self, runs: int) -> float:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{runs}\n")
        self._process.stdin.flush()
        said = self._process.stdout.readline()
        if not said.strip():
            raise RuntimeError(f"the row {self._row.name!r} ended: see above")
        return float(said)


def work_when_told(module: str, row: str) -> None:
    """Lines with a number of runs in, lines with nanoseconds a run out."""
    prepare: Prepare = importlib.import_module(module).ROWS[row]()
    for line in sys.stdin:
        runs = int(line)
        work = prepare(runs)
        began = time.process_time_ns()
        work()
        spent = time.process_time_ns() - began
        sys.stdout.write(f"{spent / runs}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    work_when_told(*sys.argv[1:])
