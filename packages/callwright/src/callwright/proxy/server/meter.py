"""Ends a computation that takes more processor time than it may."""

from __future__ import annotations

import signal
import threading
from typing import Any, Protocol

from callwright.proxy.session.faults import OverBudget

_REPEAT = 0.05  # seconds until it is raised again, should a library have swallowed it


class Meter(Protocol):
    """Between ``start`` and ``stop`` OverBudget is raised when ``seconds`` of processor time have
    been used.
    """

    def start(self, seconds: float) -> None: ...

    def stop(self) -> None: ...


class Unmetered:
    """No limit: where the platform has no timer of processor time, or it belongs to somebody
    else.
    """

    def start(self, seconds: float) -> None: ...

    def stop(self) -> None: ...


class ProcessorMeter:
    """By a timer of the process (POSIX ``ITIMER_PROF``). It stops Python code and regular
    expressions; a library in another language returns first. One a process, in its main thread.
    """

    def __init__(self) -> None:
        self._running = False
        signal.signal(signal.SIGPROF, self._ring)

    def start(self, seconds: float) -> None:
        self._running = True
        signal.setitimer(signal.ITIMER_PROF, seconds, _REPEAT)

    def stop(self) -> None:
        self._running = False  # first: a signal that is on its way does nothing then
        signal.setitimer(signal.ITIMER_PROF, 0.0)

    def _ring(self, number: int, frame: Any) -> None:  # noqa: ARG002
        if self._running:
            raise OverBudget("processor time")


def process_meter() -> Meter:
    """A meter for this process, which must be ours alone: its SIGPROF is taken."""
    if hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():
        return ProcessorMeter()
    return Unmetered()
