"""Questions at the same time: answered by one loop, returned in order, and bounded in number."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator

import pytest

from callwright.nouns.errors import ModelError
from callwright.nouns.protocols import Capabilities, ChatRequest, Watcher
from callwright.nouns.types import Message, Reply, Usage
from callwright.testing import ScriptedModel
from callwright_lab.parallel import SharedModel, map_in_order, run_workers


class Together:
    """Answers nobody before ``count`` ask at the same time, and in reverse order."""

    name = "together"

    def __init__(self, count: int) -> None:
        self._count = count
        self._waiting: list[asyncio.Event] = []
        self.closed = False

    async def capabilities(self) -> Capabilities:
        return Capabilities()

    async def complete(self, request: ChatRequest, watch: Watcher | None = None) -> Reply:
        own = asyncio.Event()
        self._waiting.append(own)
        if len(self._waiting) == self._count:
            self._waiting[-1].set()
        await own.wait()
        place = self._waiting.index(own)
        if place:
            self._waiting[place - 1].set()
        return Reply(request.messages[0].content.upper(), usage=Usage(3, 1), seconds=0.25)

    async def aclose(self) -> None:
        self.closed = True


def talk(text: str) -> Generator[ChatRequest, Reply, str]:
    reply = yield ChatRequest((Message("user", text),))
    return reply.text


def test_threads_ask_one_model_at_the_same_time_and_each_gets_its_own_answer() -> None:
    model = Together(4)
    with SharedModel(model) as shared:
        found = list(map_in_order(lambda text: shared.converse(talk(text)), "abcd", 4))
    assert [one.value for one in found] == [*"ABCD"]
    assert {(one.usage.total, one.seconds) for one in found} == {(4, 0.25)}
    assert model.closed


def test_what_a_model_raises_reaches_the_thread_that_asked() -> None:
    with SharedModel(ScriptedModel([ModelError("busy"), "fine"])) as shared:
        with pytest.raises(ModelError, match="busy"):
            shared.converse(talk("a"))
        assert shared.converse(talk("a")).value == "fine"


def test_one_job_works_in_the_thread_of_its_caller() -> None:
    here = threading.get_ident()
    assert list(map_in_order(lambda _: threading.get_ident(), "ab", 1)) == [here, here]
    assert here not in list(map_in_order(lambda _: threading.get_ident(), "ab", 2))


def test_an_error_ends_the_work() -> None:
    begun: list[int] = []

    def work(number: int) -> int:
        begun.append(number)
        if number == 0:
            raise ModelError("no")
        return number

    for jobs in (1, 2):
        begun.clear()
        with pytest.raises(ModelError, match="no"):
            list(map_in_order(work, range(10_000), jobs))
        assert len(begun) < 10_000


def test_workers_hold_so_many_items_and_report_what_they_did_not_begin() -> None:
    most = now = 0
    done: list[int] = []

    async def work(number: int) -> None:
        nonlocal most, now
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.001)
        now -= 1
        done.append(number)

    assert asyncio.run(run_workers(work, range(9), jobs=3)) == 0
    assert (most, sorted(done)) == (3, [*range(9)])
    assert asyncio.run(run_workers(work, range(9), limit_seconds=1e-9)) == 9
    done.clear()
    assert asyncio.run(run_workers(work, range(3))) == 0
    assert done == [0, 1, 2]
