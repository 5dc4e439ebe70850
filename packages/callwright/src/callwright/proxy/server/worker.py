"""The process that reads what would keep the event loop from its other clients. It has sessions and
no connections: events come in, commands go out, over its standard input and output, one frame at a
time.

A frame is four bytes of length and a pickle; both ends are this program, and what a client sent is
in them as bytes.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from dataclasses import dataclass
from typing import IO, Any

from callwright.proxy.server.budget import Allowance
from callwright.proxy.server.meter import Meter, process_meter
from callwright.proxy.server.replay import SentDigest, TimedEvent, measure_event
from callwright.proxy.session.context import Toolsets
from callwright.proxy.session.events import ClientGone, Command, Event, Finish, Request
from callwright.proxy.session.session import Session
from callwright.proxy.session.settings import Settings
from callwright.tools.overlay import Overlay

_NICE = 5  # behind the process that serves everybody, where both want the same processor


@dataclass(frozen=True, slots=True)
class Setup:
    """The first frame: what every session is made of."""

    settings: Settings
    overlay: Overlay | None = None
    local: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """An event of one request. ``created`` is for its record. ``before``: what a session has
    answered elsewhere, which this process goes on with.
    """

    key: str
    event: Event
    now: float
    created: int = 0
    before: tuple[TimedEvent, ...] = ()

    @property
    def is_first(self) -> bool:
        """Return True if this process does not have the session yet."""
        return isinstance(self.event, Request) or bool(self.before)

    @property
    def size(self) -> int:
        """Return the bytes of what a client or the upstream sent."""
        return measure_event(self.event) + sum(measure_event(event) for event, _ in self.before)


@dataclass(frozen=True, slots=True)
class Stepped:
    """Response of a session to a step, with its visible state. ``sent``: the digest of what it sent
    for the events before.
    """

    commands: list[Command]
    wake: float | None = None
    unsent_size: int = 0
    own: bool = False  # what is sent upstream is the client's own request
    asking: str = ""
    sent: bytes = b""


def _run_step(session: Session, step: Step) -> Stepped:
    sent = b""
    if step.before:
        digest = SentDigest()
        for event, now in step.before:
            digest.add(session.handle(event, now))
        sent = digest.read()
    commands = session.handle(step.event, step.now)
    own, asking = session.asks_own, session.asking
    return Stepped(commands, session.wake, session.unsent_size, own, asking, sent)


READY = Stepped([])
"""The first frame of the process: its modules are loaded, and its time for the first step begins.
"""


class Sessions:
    """The sessions of this process by key. One that is over is forgotten."""

    def __init__(self, setup: Setup, meter: Meter) -> None:
        self._setup, self._meter = setup, meter
        self._toolsets = Toolsets(
            overlay=setup.overlay,
            effects=setup.settings.effects,
            most=setup.settings.budget.cache_bytes,
        )
        self._open: dict[str, Session] = {}
        if setup.settings.refiner is not None:  # loaded before a step's time is counted
            import callwright.repair.by_model.refiner  # noqa: F401

    def step(self, step: Step) -> Stepped:
        session = self._open.get(step.key)
        if session is None:
            session = self._open[step.key] = self._session(step)
        made = _run_step(session, step)
        if isinstance(step.event, ClientGone) or any(isinstance(c, Finish) for c in made.commands):
            del self._open[step.key]
        return made

    def _session(self, step: Step) -> Session:
        settings = self._setup.settings
        made = Session(
            settings,
            self._toolsets,
            step.key,
            local=self._setup.local,
            meter=self._meter,
            allowance=Allowance.worker(settings.budget),
        )
        made.record.created = step.created
        return made


def write_frame(value: Any) -> bytes:
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return len(data).to_bytes(4, "little") + data


def read_frame(stream: IO[bytes]) -> Any:
    """The next frame; None at the end."""
    head = stream.read(4)
    if len(head) < 4:
        return None
    return pickle.loads(stream.read(int.from_bytes(head, "little")))


def serve_frames(taking: IO[bytes], giving: IO[bytes], meter: Meter) -> None:
    """Say that all is ready, then answer frames until there are no more."""
    setup = read_frame(taking)
    if setup is None:
        return
    giving.write(write_frame(READY))
    giving.flush()
    sessions = Sessions(setup, meter)
    while (step := read_frame(taking)) is not None:
        giving.write(write_frame(sessions.step(step)))
        giving.flush()


def main() -> None:
    """The process. What a library prints goes to standard error and not between the frames."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # meant for the process in front, whose requests are not over yet
    giving = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    if hasattr(os, "nice"):
        os.nice(_NICE)
    try:
        serve_frames(sys.stdin.buffer, giving, process_meter())
    except BrokenPipeError:
        sys.exit(0)
