"""A step starts when its inputs exist, and a failure stops what is behind it and nothing else."""

from __future__ import annotations

import asyncio
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from callwright.agent.execution.schedule import Schedule
from callwright.nouns.plan import Plan, Slot


@st.composite
def dags(draw: st.DrawFn) -> Plan:
    names = [f"s{n}" for n in range(draw(st.integers(0, 9)))]
    slots = [
        Slot(
            name,
            name,
            frozenset(draw(st.lists(st.sampled_from(names[:n]), unique=True, max_size=3)))
            if n
            else frozenset(),
        )
        for n, name in enumerate(names)
    ]
    return Plan(tuple(draw(st.permutations(slots))))


@given(dags(), st.data())
def test_every_step_runs_once_after_all_it_waits_for_unless_something_upstream_failed(
    plan: Plan, data: st.DataObject
) -> None:
    ids = [slot.id for slot in plan.slots]
    failing = {*data.draw(st.lists(st.sampled_from(ids), unique=True))} if ids else set()
    pauses = Random(data.draw(st.integers(0, 99)))
    began: list[str] = []
    ended: list[str] = []

    async def work(slot: Slot) -> bool:
        assert slot.after <= {*ended} - failing
        began.append(slot.id)
        for _ in range(pauses.randrange(4)):
            await asyncio.sleep(0)
        ended.append(slot.id)
        return slot.id not in failing

    async def run() -> Schedule:
        async with asyncio.TaskGroup() as group:
            schedule = Schedule(group, work)
            for slot in plan.slots:
                schedule.add(slot)
        return schedule

    schedule = asyncio.run(run())
    blocked = plan.behind(failing)
    assert sorted(began) == sorted({*ids} - blocked)
    assert schedule.blocked.keys() == blocked
    assert {*schedule.blocked.values()} <= failing
    assert schedule.done == {*ids} - blocked - failing
    assert schedule.failed == failing - blocked


async def test_a_step_starts_while_steps_that_it_does_not_need_are_still_running() -> None:
    gates = {name: asyncio.Event() for name in ("slow", "quick", "after_quick")}
    begun = {name: asyncio.Event() for name in gates}

    async def work(slot: Slot) -> bool:
        begun[slot.id].set()
        await gates[slot.id].wait()
        return True

    async with asyncio.TaskGroup() as group:
        schedule = Schedule(group, work)
        for slot in (
            Slot("slow", "t"),
            Slot("quick", "t"),
            Slot("after_quick", "t", frozenset({"quick"})),
        ):
            schedule.add(slot)
        gates["quick"].set()
        await begun["after_quick"].wait()
        assert not gates["slow"].is_set()
        gates["after_quick"].set()
        gates["slow"].set()


async def test_steps_may_be_added_while_others_run_and_after_they_ended() -> None:
    ran: list[str] = []

    async def work(slot: Slot) -> bool:
        ran.append(slot.id)
        return slot.id != "bad"

    async with asyncio.TaskGroup() as group:
        schedule = Schedule(group, work, done=["before"])
        schedule.add(Slot("a", "t", frozenset({"before"})))
        schedule.add(Slot("bad", "t"))
        await asyncio.sleep(0)
        schedule.add(Slot("b", "t", frozenset({"a"})))
        schedule.add(Slot("c", "t", frozenset({"bad"})))
        schedule.add(Slot("d", "t", frozenset({"c", "a"})))
    assert ran == ["a", "bad", "b"]
    assert schedule.blocked == {"c": "bad", "d": "bad"}


async def test_what_waits_for_something_that_never_came_is_in_no_list() -> None:
    async def work(slot: Slot) -> bool:
        raise AssertionError(slot)

    async with asyncio.TaskGroup() as group:
        schedule = Schedule(group, work)
        schedule.add(Slot("a", "t", frozenset({"nobody"})))
    assert (schedule.done, schedule.failed, schedule.blocked) == (set(), set(), {})
