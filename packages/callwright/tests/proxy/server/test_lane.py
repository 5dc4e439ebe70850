"""The worker process seen from the event loop: real processes, one that works and one that never
answers.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from callwright.proxy.server.budget import Budget
from callwright.proxy.server.lane import Busy, Lane, Lost
from callwright.proxy.server.worker import READY, Setup, Step, write_frame
from callwright.proxy.session.events import Request, Tick
from callwright.proxy.session.settings import Settings
from tests.proxy.server.test_worker import EVENTS, sent

FRAME = write_frame(READY)
SILENT = (
    *(sys.executable, "-P", "-S", "-c"),
    f"import sys; sys.stdout.buffer.write({FRAME!r}); sys.stdout.flush(); sys.stdin.buffer.read()",
)
PATIENT = Budget(worker_wait_seconds=60, worker_seconds=30)


@asynccontextmanager
async def lane(budget: Budget | None = None, command: Sequence[str] = ()) -> AsyncIterator[Lane]:
    made = Lane(Setup(Settings(guided="off", guard="on", budget=budget or PATIENT)), command)
    try:
        yield made
    finally:
        await made.aclose()


async def test_a_request_is_answered_in_the_other_process() -> None:
    async with lane() as made:
        answers = [await made.step(Step("a", e, 0.0), made.generation) for e in EVENTS]
        assert b"tool_calls" in sent(answers)
        assert made.generation == 1


async def test_a_process_that_never_answers_is_ended_and_another_one_begun() -> None:
    async with lane(Budget(worker_seconds=0.02, worker_wait_seconds=60), SILENT) as made:
        with pytest.raises(Lost):
            await made.step(Step("a", EVENTS[0], 0.0))
        with pytest.raises(Lost):
            await made.step(Step("a", Tick(), 0.0), made.generation)
        with pytest.raises(Lost):
            await made.step(Step("b", EVENTS[0], 0.0))
        assert made.generation == 2


async def test_a_request_does_not_wait_for_ever_behind_another() -> None:
    async with (
        lane(Budget(worker_seconds=9, worker_wait_seconds=1), SILENT) as made,
        asyncio.TaskGroup() as group,
    ):

        async def ask(key: str) -> str:
            try:
                await made.step(Step(key, EVENTS[0], 0.0))
            except Busy as error:
                return str(error)
            except Lost:
                return "lost"
            return "answered"

        first, second = group.create_task(ask("a")), group.create_task(ask("b"))
        assert await second == "worker_wait_seconds"
        await made.aclose()
        assert await first == "lost"


async def test_no_more_bytes_are_taken_than_the_budget_says() -> None:
    size = len(EVENTS[0].body) if isinstance(EVENTS[0], Request) else 0
    async with lane(replace(PATIENT, worker_load_bytes=size)) as made:
        await made.step(Step("a", EVENTS[0], 0.0))
        with pytest.raises(Busy, match="worker_load_bytes"):
            await made.step(Step("b", EVENTS[0], 0.0))
        made.forget("a")
        await made.step(Step("b", EVENTS[0], 0.0))


@pytest.mark.skipif(os.name != "posix", reason="ends the process by a signal")
async def test_sessions_of_a_process_that_has_ended_are_lost_and_new_ones_are_not() -> None:
    async with lane() as made:
        await made.step(Step("a", EVENTS[0], 0.0))
        process = made._process
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        await process.ended.wait()
        with pytest.raises(Lost):
            await made.step(Step("a", EVENTS[1], 0.0), 1)
        await made.step(Step("b", EVENTS[0], 0.0))
        with pytest.raises(Lost):
            await made.step(Step("a", EVENTS[1], 0.0), 1)


async def test_a_program_that_is_not_there_leaves_the_request_to_others() -> None:
    async with lane(command=("/nowhere/python",)) as made:
        with pytest.raises(Busy):
            await made.step(Step("a", EVENTS[0], 0.0))
