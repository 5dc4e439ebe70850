"""Several questions to one model at a time."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from callwright.models.dialogue import Conversed, converse
from callwright.nouns.closing import Closing
from callwright.nouns.protocols import ChatModel, ChatRequest
from callwright.nouns.types import Reply

T = TypeVar("T")
R = TypeVar("R")


class SharedModel(Closing):
    """A model for callers without an event loop, of which several threads may ask at the same time.
    A context manager: one loop, in a thread of its own, lives as long as the model does.
    """

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Close the model, then its loop."""
        self._run(self._model.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def converse(self, dialogue: Generator[ChatRequest, Reply, T]) -> Conversed[T]:
        """Answer a dialogue with the model. Raises ModelError where it cannot be asked."""
        return self._run(converse(self._model, dialogue))

    def _run(self, work: Coroutine[Any, Any, R]) -> R:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


def map_in_order(work: Callable[[T], R], items: Iterable[T], jobs: int = 1) -> Iterator[R]:
    """The results of ``work`` in the order of the items, ``jobs`` of which are worked on at a time.
    The first error that it raises ends all: nothing more is begun.
    """
    if jobs <= 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(work, items)


async def run_workers(
    work: Callable[[T], Awaitable[object]],
    items: Sequence[T],
    *,
    jobs: int = 1,
    limit_seconds: float = 0.0,
) -> int:
    """Do ``work`` on the items in their order, ``jobs`` at a time. Returns how many were not begun,
    because ``limit_seconds`` had passed (0: no limit).
    """
    ends = time.monotonic() + (limit_seconds or float("inf"))
    left, begun = iter(items), 0

    async def run_one_after_another() -> None:
        nonlocal begun
        while time.monotonic() < ends:
            item = next(left, None)
            if item is None:
                return
            begun += 1
            await work(item)

    async with asyncio.TaskGroup() as workers:
        for _ in range(max(1, jobs)):
            workers.create_task(run_one_after_another())
    return len(items) - begun
