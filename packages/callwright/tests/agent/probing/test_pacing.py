"""No host is called more often than it may be, and no more is spent than was given."""

from __future__ import annotations

import asyncio

from callwright.agent.probing import TrialPolicy
from callwright.agent.probing.pacing import Pacer, Spending, get_host
from callwright.nouns.types import READ, READ_LOCAL, Tool

API = Tool("search", effects=READ, source="openapi flights")
OTHER = Tool("find", effects=READ, source="openapi hotels")
LOCAL = Tool("add_up", effects=READ_LOCAL, source="desk")


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


async def test_calls_of_one_host_are_spaced_and_those_of_another_are_not_held_up() -> None:
    clock = Clock()
    pacer = Pacer(TrialPolicy(per_second=2.0), clock=clock, sleep=clock.sleep)
    left = []
    for tool in (API, API, OTHER, API):
        async with pacer.turn(tool):
            left.append(clock.now)
    assert left == [0.0, 0.5, 0.5, 1.0]


async def test_what_reaches_nothing_outside_is_not_paced() -> None:
    clock = Clock()
    pacer = Pacer(TrialPolicy(per_second=1.0), clock=clock, sleep=clock.sleep)
    for _ in range(5):
        async with pacer.turn(LOCAL):
            pass
    assert clock.slept == []
    assert (get_host(LOCAL), get_host(API)) == ("", "openapi flights")


async def test_of_one_host_only_so_many_are_in_flight() -> None:
    pacer = Pacer(TrialPolicy(per_host=2, per_second=10_000))
    running = most = 0
    go = asyncio.Event()
    begun = asyncio.Semaphore(0)

    async def call() -> None:
        nonlocal running, most
        async with pacer.turn(API):
            running += 1
            most = max(most, running)
            begun.release()
            await go.wait()
            running -= 1

    async with asyncio.TaskGroup() as group:
        for _ in range(6):
            group.create_task(call())
        for _ in range(2):
            await begun.acquire()
        go.set()
    assert (most, running) == (2, 0)


def test_calls_are_counted_down() -> None:
    spending = Spending(TrialPolicy(calls=1))
    assert not spending.refusal(API)
    spending.spend(API)
    assert "limit of 1" in spending.refusal(API)


def test_what_costs_money_is_called_only_while_money_lasts() -> None:
    spending = Spending(TrialPolicy(prices={"search": 0.4}, money=1.0))
    for _ in range(2):
        assert not spending.refusal(API)
        spending.spend(API)
    assert "0.2 is left" in spending.refusal(API)
    assert not spending.refusal(OTHER), "what is free is not held up"
    assert Spending(TrialPolicy(prices={"search": 0.4})).refusal(API), (
        "without money nothing is bought"
    )
