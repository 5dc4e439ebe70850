"""``callwright.gateway.server.changed_lists``."""

from __future__ import annotations

import asyncio

from callwright.gateway.server.changed_lists import ChangedLists


class Looks:
    """Looks at a list; each takes until it is let go."""

    def __init__(self) -> None:
        self.count = 0
        self.is_free = asyncio.Event()
        self.began = asyncio.Event()

    async def look(self) -> None:
        self.count += 1
        self.began.set()
        await self.is_free.wait()


async def test_a_change_is_looked_at_at_once() -> None:
    looks = Looks()
    looks.is_free.set()
    async with asyncio.TaskGroup() as group:
        ChangedLists(group, seconds=0).note("tools", looks.look)
        await looks.began.wait()
    assert looks.count == 1


async def test_changes_told_meanwhile_are_looked_at_once_more_and_none_is_missed() -> None:
    looks = Looks()
    async with asyncio.TaskGroup() as group:
        changes = ChangedLists(group, seconds=0)
        changes.note("tools", looks.look)
        await looks.began.wait()
        for _ in range(1_000):
            changes.note("tools", looks.look)
        looks.is_free.set()
    assert looks.count == 2


async def test_lists_do_not_wait_for_each_other() -> None:
    tools, prompts = Looks(), Looks()
    async with asyncio.TaskGroup() as group:
        changes = ChangedLists(group, seconds=0)
        changes.note("tools", tools.look)
        changes.note("prompts", prompts.look)
        await prompts.began.wait()  # while the tools' look is not over
        for looks in (tools, prompts):
            looks.is_free.set()


async def test_a_list_that_fails_is_looked_at_again_when_it_changes() -> None:
    outcomes = iter([ValueError("no list"), None])

    async def look() -> None:
        if error := next(outcomes):
            raise error

    for _ in range(2):
        async with asyncio.TaskGroup() as group:
            ChangedLists(group, seconds=0).note("tools", look)
    assert next(outcomes, "none left") == "none left"


async def test_nothing_is_looked_at_once_the_connection_is_closed() -> None:
    looks = Looks()
    looks.is_free.set()
    async with asyncio.TaskGroup() as group:
        changes = ChangedLists(group, seconds=3_600)
        changes.note("tools", looks.look)
        await looks.began.wait()
        changes.note("tools", looks.look)
        changes.cancel()  # else the block would last an hour
    assert looks.count == 1
