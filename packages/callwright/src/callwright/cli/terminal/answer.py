"""The answer in the terminal while it is written."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack

from callwright.agent.run import Run
from callwright.agent.run_events import (
    AnswerDelta,
    AnswerRestarted,
    HeldForApproval,
    RunEvent,
    RunFinished,
)
from callwright.cli.terminal.live import Live
from callwright.nouns.closing import Closing

_RESTARTED = "(more was found; the answer again)"


class AnswerPrinter(Closing):
    """Prints the answer's text on stdout as it comes. The lines of the run wait meanwhile."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._open = ExitStack()
        self._is_open = False

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
                self.close()  # the question needs the terminal
        raise AssertionError("a run ends with RunFinished")

    def _print(self, text: str) -> None:
        if not self._is_open:
            self._is_open = True
            self._open.enter_context(self._live.paused())
        print(text, end="", flush=True)

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            print(flush=True)
            self._open.close()
