"""Determines what the upstream supports for each model. It is asked once with two tiny questions;
most results are stored on disk.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from callwright.http import HttpClient, Retry, Timeout
from callwright.models.probe import open_memory
from callwright.models.write_record import WriteRecords
from callwright.nouns.errors import ModelError
from callwright.proxy.server.budget import Budget
from callwright.proxy.session.events import Headers, Probed

if TYPE_CHECKING:
    from callwright.models.openai import OpenAIModel

K = TypeVar("K")
V = TypeVar("V")
_MOST = 256  # models that are remembered
_LONGEST_NAME = 200  # characters of a model's name; clients may send any
_AT_ONCE = 4  # models that are probed at one time
_FIRST_PAUSE, _LONGEST_PAUSE = 30.0, 1_800.0  # seconds without a probe after one that failed
FREE = Probed(native=True, schema=False)  # nothing known: ask as the client asked


class Capability:
    """Answers Probe. One probe a model is under way at a time, in a task of its own: a request
    waits for it ``budget.probe_wait_seconds`` at most and then goes on as if nothing were known,
    which loses it guided mode and nothing else. A probe that failed is repeated with a later
    request, after a time that doubles with every failure.

    The tasks are those of :meth:`running`; without it a probe has no more time than a request
    waits. ``report`` is given what goes wrong in our own code.
    """

    def __init__(
        self,
        base: str,
        client: HttpClient,
        *,
        known: Probed | None = None,
        memory: Path | None = None,
        budget: Budget | None = None,
        report: Callable[[Exception], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._base = base
        self._client = client
        self._always = known
        self._memory = memory
        self._writes = WriteRecords(base, open_memory(memory))
        self._budget = budget or Budget()
        self._report = report
        self._clock = clock
        self._known: OrderedDict[str, Probed] = OrderedDict()
        self._failed: OrderedDict[tuple[str, str], _Failed] = OrderedDict()  # by model and key
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Probes may go on beside the requests; those under way at the end are given up."""
        async with asyncio.TaskGroup() as self._group:
            try:
                yield
            finally:
                self._group = None
                for task in [*self._asking.values()]:
                    task.cancel()

    async def of(self, model: str, headers: Headers, *, asks: bool = True) -> Probed:
        """Return the capabilities of a model, known or probed in time with the client's own key;
        FREE if neither. With them goes what is on record of its writes; where ``asks`` is False
        that is all, and nobody is asked.
        """
        found = await self._find_out(model, headers) if asks else FREE
        return replace(found, is_trusted=True) if self._writes.is_trusted(model) else found

    async def _find_out(self, model: str, headers: Headers) -> Probed:
        if self._always is not None:
            return self._always
        key = dict(headers).get("authorization", "").removeprefix("Bearer ").strip()
        if model not in self._known and self._may_ask(model, key):
            await self._await_probe(model, key)
        return self._known.get(model, FREE)

    def learned(self, model: str, guided: bool) -> None:
        """A guided question was refused, or worked."""
        _store_recent(self._known, model, replace(self._known.get(model, FREE), schema=guided))

    def _may_ask(self, model: str, key: str) -> bool:
        failed = self._failed.get((model, key))
        waits = failed is not None and self._clock() < failed.until
        has_room = model in self._asking or len(self._asking) < _AT_ONCE
        return not waits and has_room and len(model) <= _LONGEST_NAME

    async def _await_probe(self, model: str, key: str) -> None:
        """Wait for the probe of this model that is under way, or for a new one, for as long as a
        request waits.
        """
        wait = self._budget.probe_wait_seconds
        if self._group is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._probe(self._model(model, key), model, key)
            return
        if model not in self._asking:
            probe = self._probe(self._model(model, key), model, key)
            task = self._asking[model] = self._group.create_task(probe)
            task.add_done_callback(lambda _: self._asking.pop(model, None))
        await asyncio.wait({self._asking[model]}, timeout=wait)

    async def _probe(self, asked: OpenAIModel, model: str, key: str) -> None:
        """Remember what the model does, or that it could not be asked."""
        done = False
        try:
            found = await asked.capabilities()
            if found.json_schema and not found.native_tools:
                from callwright.proxy.session.phases.leading import load_engine

                await asyncio.to_thread(load_engine)  # its first request will be led
            _store_recent(self._known, model, Probed(found.native_tools, found.json_schema))
            done = True
        except ModelError:
            pass
        except Exception as error:
            self._report(error)
        finally:
            before = self._failed.pop((model, key), None)
            if not done:
                times = before.times + 1 if before else 1
                until = self._clock() + min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (times - 1))
                _store_recent(self._failed, (model, key), _Failed(times, until))

    def _model(self, model: str, key: str) -> OpenAIModel:
        from callwright.models.openai import OpenAIModel

        return OpenAIModel(
            self._base,
            model,
            api_key=key,
            client=self._client,
            retry=Retry(attempts=1),
            timeout=Timeout(idle=60, total=120),
            memory=self._memory,
        )


@dataclass(frozen=True, slots=True)
class _Failed:
    """Number of successive failed probes, and the time until which none is made."""

    times: int
    until: float


def _store_recent(remembered: OrderedDict[K, V], key: K, value: V) -> None:
    remembered[key] = value
    remembered.move_to_end(key)
    while len(remembered) > _MOST:
        remembered.popitem(last=False)
