"""The answer in the terminal while it is written."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack
from types import TracebackType

from callwright.agent.run import Run
from callwright.agent.run_events import (
    AnswerDelta,
    AnswerRestarted,
    HeldForApproval,
    RunEvent,
    RunFinished,
)
from callwright.cli.terminal.live import Live

_RESTARTED = "(more was found; the answer again)"


class AnswerPrinter:
    """Prints the answer's text on stdout as it comes. The lines of the run wait meanwhile."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._open = ExitStack()
        self._is_open = False

    def __enter__(self) -> AnswerPrinter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self._close()

    async def show(self, events: AsyncIterator[RunEvent]) -> Run:
        """Print what the events of a run tell of its answer, and return the run."""
        async for event in events:
            if isinstance(event, RunFinished):
                return event.run
            if isinstance(event, AnswerDelta):
                self._print(event.text)
            elif isinstance(event, AnswerRestarted):
                self._print(f"\n\n{_RESTARTED}\n")
            elif isinstance(event, HeldForApproval):
                self._close()  # the question needs the terminal
        raise AssertionError("a run ends with RunFinished")

    def _print(self, text: str) -> None:
        if not self._is_open:
            self._is_open = True
            self._open.enter_context(self._live.paused())
        print(text, end="", flush=True)

    def _close(self) -> None:
        if self._is_open:
            self._is_open = False
            print(flush=True)
            self._open.close()
