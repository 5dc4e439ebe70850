"""One timer for the limits of many calls: each ends by its own, and only by that."""

from __future__ import annotations

import asyncio

import pytest

from callwright.agent.execution.deadlines import Deadlines

SHORT, LONG = 0.01, 60.0


async def forever() -> None:
    await asyncio.Event().wait()


async def test_what_takes_longer_ends_in_a_timeout() -> None:
    with pytest.raises(TimeoutError):
        async with Deadlines().within(SHORT):
            await forever()


@pytest.mark.parametrize(
    "limits", [(SHORT, 2 * SHORT, LONG), (LONG, 2 * SHORT, SHORT)], ids=["rising", "falling"]
)
async def test_each_has_its_own_limit(limits: tuple[float, ...]) -> None:
    deadlines, ended = Deadlines(), []

    async def one(seconds: float) -> None:
        try:
            async with deadlines.within(seconds):
                await forever()
        except TimeoutError:
            ended.append(seconds)

    async with asyncio.TaskGroup() as group:
        tasks = {seconds: group.create_task(one(seconds)) for seconds in limits}
        await asyncio.wait([tasks[SHORT], tasks[2 * SHORT]])
        assert ended == [SHORT, 2 * SHORT]
        assert not tasks[LONG].done()
        tasks[LONG].cancel()


async def test_a_call_that_came_back_in_time_is_left_alone() -> None:
    deadlines = Deadlines()
    async with deadlines.within(SHORT):
        await asyncio.sleep(0)
    async with deadlines.within(
        3 * SHORT
    ):  # its timer fires after the first one's limit has passed
        with pytest.raises(TimeoutError):
            async with deadlines.within(2 * SHORT):
                await forever()


async def test_being_cancelled_is_no_timeout() -> None:
    entered = asyncio.Event()

    async def one() -> None:
        async with Deadlines().within(LONG):
            entered.set()
            await forever()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(one())
        await entered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_after_clear_no_limit_holds() -> None:
    deadlines = Deadlines()
    async with deadlines.within(SHORT):
        deadlines.clear()
        with pytest.raises(TimeoutError):
            async with Deadlines().within(3 * SHORT):
                await forever()
