"""Turns of a chat on a thread of their own, so that the main thread alone reads the keyboard.

One event loop holds the open tools and the model for the whole chat. The main thread waits for the
turn's end, answers its questions to the user meanwhile, and stops it at Ctrl-C.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from queue import SimpleQueue
from types import TracebackType
from typing import Any

from callwright.agent.orchestrator import Orchestrator
from callwright.agent.run import Run

Turn = Callable[[], Coroutine[Any, Any, Run]]
_Question = Future[str]  # that the user is asked; its result is the line that was typed


class TurnStopped(Exception):
    """The turn was cancelled."""


class Turns:
    """The turns over one orchestrator. As a context manager it keeps the tools open."""

    def __init__(self, orchestrator: Orchestrator, read: Callable[[], str] = input) -> None:
        self._orchestrator = orchestrator
        self._read = read
        self._inbox: SimpleQueue[_Question | Run | BaseException | None] = SimpleQueue()
        self._outbox: asyncio.Queue[Turn | None] = asyncio.Queue()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    def __enter__(self) -> Turns:
        self._thread.start()
        self._wait()  # until the tools are open
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self._call(self._outbox.put_nowait, None)
        self._thread.join()

    def carry_out(self, turn: Turn) -> Run:
        """The run of a turn. Raises what it raises; Ctrl-C stops it and raises
        KeyboardInterrupt.
        """
        self._call(self._outbox.put_nowait, turn)
        try:
            ended = self._wait()
        except KeyboardInterrupt:
            self._call(self._stop)
            with suppress(TurnStopped):
                self._wait(stopping=True)
            raise
        assert ended is not None
        return ended

    def ask(self) -> str:
        """A line that the user types, read by the main thread. Raises EOFError where the turn is
        stopped meanwhile. Called on any thread but the main one.
        """
        question = _Question()
        self._inbox.put(question)
        return question.result()

    def _wait(self, *, stopping: bool = False) -> Run | None:
        while isinstance(told := self._inbox.get(), Future):
            self._answer(told, stopping=stopping)
        if isinstance(told, BaseException):
            raise told
        return told

    def _answer(self, question: _Question, *, stopping: bool) -> None:
        try:
            if stopping:
                raise EOFError
            question.set_result(self._read())
        except EOFError as error:
            question.set_exception(error)
        except KeyboardInterrupt:
            question.set_exception(EOFError())
            raise

    def _call(self, function: Callable[..., None], *arguments: Any) -> None:
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(function, *arguments)

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _serve(self) -> None:
        """Open the tools, and carry out turns until there are no more."""
        self._loop = asyncio.get_running_loop()
        try:
            async with self._orchestrator:
                self._inbox.put(None)
                while (turn := await self._outbox.get()) is not None:
                    self._inbox.put(await self._carry_out(turn))
        except BaseException as error:  # the main thread reports it
            self._inbox.put(error)

    async def _carry_out(self, turn: Turn) -> Run | BaseException:
        outcome: list[Run | BaseException] = []

        async def work() -> None:
            try:
                outcome.append(await turn())
            except Exception as error:
                outcome.append(error)

        async with asyncio.TaskGroup() as group:
            self._task = group.create_task(work())
        self._task = None
        return outcome[0] if outcome else TurnStopped()
