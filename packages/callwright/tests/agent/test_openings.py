"""What several users share stays open while one of them uses it, and is closed after the last."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright import Failure, Orchestrator, Tool, ToolOutput
from callwright.agent.openings import Opened, Openings
from callwright.nouns.errors import CatalogError, ConfigError
from callwright.nouns.types import READ
from callwright.testing import FixedPlan, ScriptedModel
from callwright.tools.python.functions import FunctionSource

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class Places:
    """Opens something, and knows what is open and how often it was."""

    def __init__(self, failures: int = 0) -> None:
        self.open = self.opened = 0
        self._failures = failures

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[Any]:
        await asyncio.sleep(0)
        if self._failures:
            self._failures -= 1
            raise CatalogError("not there yet")
        self.open += 1
        self.opened += 1
        assert self.open == 1
        try:
            yield Opened(*[object()] * 3)  # type: ignore[arg-type]
        finally:
            await asyncio.sleep(0)
            self.open -= 1


USES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=6)


@settings(deadline=None)
@given(uses=USES, failures=st.integers(0, 2))
def test_it_is_open_for_every_user_and_closed_after_the_last(
    uses: list[tuple[int, int]], failures: int
) -> None:
    places = Places(failures)
    openings = Openings(places)

    async def use(before: int, during: int) -> None:
        for _ in range(before):
            await asyncio.sleep(0)
        opened = await openings.acquire(runs=1)
        for _ in range(during):
            assert (places.open, openings.opened) == (1, opened)
            await asyncio.sleep(0)
        await openings.release(runs=1)

    async def main() -> list[Any]:
        return await asyncio.gather(*(use(*one) for one in uses), return_exceptions=True)

    found = asyncio.run(main())
    wrong = [one for one in found if one is not None]
    assert len(wrong) == min(failures, len(uses))
    assert all(isinstance(one, CatalogError) for one in wrong)
    assert (places.open, openings.runs, openings.loops, openings.opened) == (0, 0, 0, None)


@settings(deadline=None)
@given(steps=st.lists(st.integers(0, 8), min_size=2, max_size=5))
def test_a_user_who_is_cancelled_takes_nothing_from_the_others(steps: list[int]) -> None:
    places = Places()
    openings = Openings(places)

    async def use() -> None:
        await openings.acquire()
        try:
            await asyncio.Event().wait()
        finally:
            assert places.open == 1
            await openings.release()

    async def main() -> None:
        users = [asyncio.create_task(use()) for _ in steps]
        for user, turns in zip(users, steps, strict=True):
            for _ in range(turns):
                await asyncio.sleep(0)
            user.cancel()
        await asyncio.gather(*users, return_exceptions=True)

    asyncio.run(main())
    assert (places.open, openings.loops) == (0, 0)


async def test_what_is_outdated_is_opened_again_for_the_next_user() -> None:
    places = Places()
    openings = Openings(places)
    first = await openings.acquire()
    openings.outdate()
    assert await openings.acquire(runs=1) is not first
    assert (places.open, places.opened) == (1, 2)
    await openings.release(runs=1)
    await openings.release()
    assert places.open == 0


class Weather:
    """A source whose calls fail once it is closed. A call waits for ``hold``, if there is one."""

    name = "weather"

    def __init__(self, hold: asyncio.Event | None = None) -> None:
        self.opened = self.closed = 0
        self.begun = asyncio.Event()
        self._hold = hold

    async def open(self) -> list[Tool]:
        self.opened += 1
        return [Tool("weather", "The weather of a city.", CITY, effects=READ)]

    async def call(self, tool: Tool, arguments: dict[str, Any]) -> ToolOutput:
        self.begun.set()
        if self._hold is not None and arguments["city"] == "Rome":
            await self._hold.wait()
        if self.opened == self.closed:
            return ToolOutput(failure=Failure("unavailable", "the source is closed"))
        return ToolOutput({"city": arguments["city"], "degrees": 20})

    async def aclose(self) -> None:
        self.closed += 1


def answer(request: Any) -> dict[str, Any]:
    city = "Rome" if "Rome" in str(request.messages[-1].content) else "Oslo"
    if request.purpose == "bind":
        return {"calls": [{"tool": "weather", "arguments": {"city": city}}]}
    return {"statements": [{"text": "20 degrees.", "results": ["r1"]}], "missing": []}


async def test_runs_at_the_same_time_share_the_tools_and_the_last_one_closes_them() -> None:
    hold = asyncio.Event()
    source = Weather(hold)
    orchestrator = Orchestrator([source], model=ScriptedModel(answer))

    async def ask_and_free() -> Any:
        await source.begun.wait()
        done = await orchestrator.run("The weather in Oslo?")
        hold.set()
        return done

    rome, oslo = await asyncio.gather(orchestrator.run("The weather in Rome?"), ask_and_free())
    assert [run.results[0].failure for run in (rome, oslo)] == [None, None]
    assert (source.opened, source.closed) == (1, 1)
    assert orchestrator.tools == ()


def run_in_threads(orchestrator: Orchestrator, times: int) -> list[Any]:
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(orchestrator.run_sync("The weather in Oslo?"))
        except BaseException as error:
            found.append(error)

    threads = [threading.Thread(target=run) for _ in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_threads_may_run_over_the_same_source_at_the_same_time() -> None:
    source = Weather()
    found = run_in_threads(Orchestrator([source], model=ScriptedModel(answer)), 8)
    assert [run.results[0].failure for run in found] == [None] * 8
    assert source.opened == source.closed


def test_threads_that_run_functions_do_not_wait_for_each_other() -> None:
    together = threading.Barrier(4, timeout=20)

    def weather(city: str) -> dict[str, Any]:
        """The weather of a city."""
        together.wait()
        return {"city": city, "degrees": 20}

    found = run_in_threads(Orchestrator([weather], model=ScriptedModel(answer)), 4)
    assert [run.results[0].failure for run in found] == [None] * 4


async def test_an_object_that_is_open_in_another_event_loop_is_a_clear_error() -> None:
    source = Weather()
    async with Orchestrator([source], model=ScriptedModel(answer)) as opened:
        (error,) = await asyncio.to_thread(run_in_threads, opened, 1)
        assert isinstance(error, ConfigError)
        assert "open in another event loop" in error.message
        assert (await opened.run("The weather in Oslo?")).results[0].ok
    assert (source.opened, source.closed) == (1, 1)


async def test_a_source_that_cannot_be_opened_leaves_nothing_open() -> None:
    orchestrator = Orchestrator(["no/such/place.py"], model=ScriptedModel(answer))
    for _ in range(2):
        with pytest.raises(CatalogError):
            await orchestrator.run("The weather in Oslo?")
    assert orchestrator._openings.loops == 0


def test_a_tool_that_runs_its_own_orchestrator_is_refused_and_does_not_wait_for_itself() -> None:
    said: list[str] = []

    def look(city: str) -> str:
        "Look up a city."
        try:
            setup.run_sync("Which airport has Rome?")
        except ConfigError as error:
            said.append(str(error))
        return "OSL"

    planner = FixedPlan(["look"])
    script = {
        "bind": {"calls": [{"tool": "look", "arguments": {"city": "Oslo"}}]},
        "*": {"statements": [{"text": "OSL.", "results": ["r1"]}], "missing": []},
    }
    source = FunctionSource([look])
    setup = Orchestrator([source], model=ScriptedModel(script), planner=planner)
    assert setup.run_sync("Which airport has Oslo?").status == "answered"
    assert "by a tool of a run of the same Orchestrator" in said[0]
