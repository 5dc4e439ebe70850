"""The worker process as the event loop sees it: one step at a time, and an end to those that
hang.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from callwright.proxy.server.worker import Setup, Step, Stepped, write_frame

_PACKAGES = str(
    Path(__file__).resolve().parents[3]
)  # the folder that this package was imported from
_START = (
    "import sys; sys.path.append(sys.argv[1]); from callwright.proxy.server.worker import main;"
    " main()"
)
# times the processor time of a step, in seconds of the clock: then the process is ended
_GRACE = 5.0
_STARTING_SECONDS = 60.0  # until the process is ready


def list_python_options() -> list[str]:
    """The options of this process's Python that limit what it reads. Whatever replaces the process
    has them too.
    """
    letters = {"isolated": "-I", "ignore_environment": "-E", "no_user_site": "-s", "no_site": "-S"}
    letters["dont_write_bytecode"] = "-B"
    return [letter for name, letter in letters.items() if getattr(sys.flags, name)]


class Lost(Exception):
    """The worker process ended, or was ended, before it answered; its sessions are gone."""


class Busy(Exception):
    """The worker process has too much to do to take another request."""


class _Job:
    def __init__(self, step: Step, size: int, generation: int) -> None:
        self.step, self.size, self.generation = step, size, generation
        self.answer: asyncio.Future[Stepped] = asyncio.get_running_loop().create_future()
        self.started = False


class Lane:
    """Steps for the worker process, which is started when it is first needed and again when it was
    lost.

    One step is under way at a time. Of those that wait the smallest goes first, so that the piece
    of an answer never waits for a long request. ``command`` is another program that speaks in the
    same frames.
    """

    def __init__(self, setup: Setup, command: Sequence[str] = ()) -> None:
        self._setup = setup
        self._command = command or (
            sys.executable,
            "-P",
            *list_python_options(),
            "-c",
            _START,
            _PACKAGES,
        )
        self._budget = setup.settings.budget
        self._process: _Process | None = None
        self._starting = asyncio.Lock()
        self._waiting: list[tuple[int, int, _Job]] = []
        self._numbers = itertools.count()
        self._ready = False
        self._running: _Job | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._load: dict[str, int] = {}  # bytes of the requests in the process
        self.generation = 0

    async def step(self, step: Step, generation: int | None = None) -> Stepped:
        """Return the session's response to a step. ``generation``: the process that has it, None
        for a new one. Raises Lost, Busy.
        """
        size = step.size
        if step.is_first:
            if sum(self._load.values()) + size > self._budget.worker_load_bytes:
                raise Busy("worker_load_bytes")
            await self._start()
            self._load[step.key] = size
        elif generation != self.generation or self._process is None:
            raise Lost
        job = _Job(step, size, self.generation)
        heapq.heappush(self._waiting, (size, next(self._numbers), job))
        self._pump()
        try:
            return await self._answer(job)
        except BaseException:
            job.answer.cancel()
            raise

    def forget(self, key: str) -> None:
        """A request is over."""
        self._load.pop(key, None)

    async def _answer(self, job: _Job) -> Stepped:
        if not job.step.is_first:
            return await job.answer
        done, _ = await asyncio.wait([job.answer], timeout=self._budget.worker_wait_seconds)
        if not done and not job.started:
            raise Busy("worker_wait_seconds")
        return await job.answer

    async def _start(self) -> None:
        async with self._starting:
            if self._process is not None:
                return
            try:
                loop = asyncio.get_running_loop()
                _, made = await loop.subprocess_exec(
                    lambda: _Process(self), *self._command, stderr=None
                )
            except (OSError, NotImplementedError) as error:
                raise Busy(str(error)) from None
            self._process, self._ready = made, False
            self.generation += 1
            made.write(write_frame(self._setup))
            self._end_after(_STARTING_SECONDS)

    def _pump(self) -> None:
        while self._ready and self._running is None and self._waiting and self._process is not None:
            *_, job = heapq.heappop(self._waiting)
            if job.answer.done():
                continue
            if job.generation != self.generation:
                job.answer.set_exception(Lost())
                continue
            self._running, job.started = job, True
            self._process.write(write_frame(job.step))
            self._end_after(_GRACE * self._budget.worker_seconds)

    def _end_after(self, seconds: float) -> None:
        assert self._process is not None
        self._alarm = asyncio.get_running_loop().call_later(seconds, self._process.kill)

    def answered(self, made: Stepped) -> None:
        """The process is ready, or has answered the step under way."""
        job, self._running, self._ready = self._running, None, True
        self._rest()
        if job is not None and not job.answer.done():
            job.answer.set_result(made)
        self._pump()

    def lost(self, process: _Process) -> None:
        """The process has ended."""
        if process is not self._process:
            return
        self._process = None
        self._rest()
        jobs = [job for *_, job in self._waiting]
        if self._running is not None:
            jobs.append(self._running)
        self._waiting, self._running = [], None
        self._load.clear()
        for job in jobs:
            if not job.answer.done():
                job.answer.set_exception(Lost())

    def _rest(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    async def aclose(self) -> None:
        """End the process, if there is one."""
        process = self._process
        if process is not None:
            process.kill()
            await process.ended.wait()


class _Process(asyncio.SubprocessProtocol):
    """Frames out of the pipe of the process."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self._data = bytearray()
        self._transport: Any = None
        self.ended = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    @property
    def pid(self) -> int:
        return int(self._transport.get_pid())

    def write(self, frame: bytes) -> None:
        self._transport.get_pipe_transport(0).write(frame)

    def kill(self) -> None:
        try:
            self._transport.kill()
        except ProcessLookupError:
            return

    def pipe_data_received(self, fd: int, data: bytes) -> None:  # noqa: ARG002
        self._data += data
        while len(self._data) >= 4:
            size = int.from_bytes(self._data[:4], "little")
            if len(self._data) < 4 + size:
                return
            made = pickle.loads(memoryview(self._data)[4 : 4 + size].tobytes())
            del self._data[: 4 + size]
            self._lane.answered(made)

    def process_exited(self) -> None:
        self._lane.lost(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._lane.lost(self)
        self._transport.close()
        self.ended.set()
