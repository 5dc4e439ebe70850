"""One request through the proxy, without I/O: events in, commands out.

A chat request that offers tools is read, its history repaired, sent on; its answer passes with its
bytes until a call turns up, which is decided on (:mod:`callwright.proxy.session.decision`), with
questions to the upstream where the budget grants them. Everything else passes as it is. Other APIs
are turned into chat completions and back by their front.

The life of a request is a generator (:mod:`callwright.proxy.session.phases.serving`). A fault of
our own replaces it by one that passes everything on
(:mod:`callwright.proxy.session.phases.passing`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from callwright.proxy.apis.adapters import FRONTS, OLDER, Front
from callwright.proxy.apis.functions import is_older
from callwright.proxy.server.budget import Allowance
from callwright.proxy.server.meter import Meter, Unmetered
from callwright.proxy.server.outbound import Outbound
from callwright.proxy.session.answers.sse import json_object
from callwright.proxy.session.context import Toolsets
from callwright.proxy.session.events import (
    ClientGone,
    CloseUpstream,
    Command,
    Event,
    Request,
    SendBody,
    Tick,
)
from callwright.proxy.session.faults import OverBudget, Progress, is_fault
from callwright.proxy.session.phases.passing import pass_on, take_over
from callwright.proxy.session.phases.reading import find_front
from callwright.proxy.session.phases.serving import serve_request
from callwright.proxy.session.phases.transaction import Steps, Transaction
from callwright.proxy.session.record import Record
from callwright.proxy.session.settings import Settings


class Session:
    """Feed events to :meth:`handle` in order, do what it returns in order; call it with Tick at
    :attr:`wake`.

    ``settings.guided``: whether this upstream is known to do without ("off") or with ("on");
    "auto" asks with a Probe.
    """

    def __init__(
        self,
        settings: Settings,
        toolsets: Toolsets,
        number: str = "0",
        *,
        local: bool = False,
        fronts: Mapping[str, Front] = FRONTS,
        meter: Meter | None = None,
        allowance: Allowance | None = None,
    ) -> None:
        self.record = Record(number, "")
        self._fronts = fronts
        self._meter = meter or Unmetered()
        self._allowance = allowance or Allowance.worker(settings.budget)
        self._keep_alive_seconds = settings.keep_alive_seconds
        self._quiet_since = 0.0
        self._transaction = Transaction(
            record=self.record, settings=settings, unmetered=self._run_unmetered
        )
        self._steps: Steps[None] = serve_request(
            self._transaction, toolsets, fronts, self._allowance.items, is_local=local
        )
        next(self._steps)

    @property
    def wake(self) -> float | None:
        """Return the time at which a Tick is due; None while nothing waits."""
        streamed = self._transaction.streamed
        due = streamed.wake if streamed is not None and not streamed.ready else None
        if not self._is_silent:
            return due
        keep_alive = self._quiet_since + self._keep_alive_seconds
        return keep_alive if due is None else min(due, keep_alive)

    @property
    def progress(self) -> Progress:
        """Return the progress of the request."""
        return self._transaction.progress

    @property
    def asking(self) -> str:
        """Return what the upstream is asked for: free, or the kind of our own question."""
        return self._transaction.asking

    @property
    def asks_own(self) -> bool:
        """Return True if the upstream is asked what the client asks, and not a question of the
        proxy.
        """
        return self._transaction.asking in ("", "free")

    @property
    def unsent_size(self) -> int:
        """Return the number of last bytes of the answer that have not been sent. Only the answer to
        the client's own request counts.
        """
        return self.progress.tape.size

    def handle(self, event: Event, now: float) -> list[Command]:
        """Return the commands that follow from an event. Raises only exceptions that end the
        process.
        """
        transaction = self._transaction
        transaction.now, transaction.commands = now, []
        progress = transaction.progress
        progress.note(event)
        self._meter.start(self._allowance.seconds)
        try:
            commands = self._advance(event)
            self._meter.stop()
        except BaseException as error:
            self._meter.stop()
            if not is_fault(error) or self._may_be_read_elsewhere(error):
                raise
            return self.give_up(event, error)
        return self._committed(commands)

    def give_up(self, event: Event, error: BaseException) -> list[Command]:
        """Go on without reading, after ``handle`` raised this error for an event."""
        self._steps = pass_on(self._transaction, error, event)
        return self._committed(next(self._steps))

    def _committed(self, commands: list[Command]) -> list[Command]:
        transaction, progress = self._transaction, self.progress
        progress.commit(commands, own=self.asks_own)
        if commands and progress.head_sent:
            now = self._quiet_since = transaction.now
            self.record.first_byte = self.record.first_byte or now - transaction.started
        return commands

    def take_over(
        self, request: Request, at: Progress, event: Event, now: float, why: BaseException
    ) -> list[Command]:
        """Go on untouched in the place of a session that is lost, or that must not be: ``at`` is
        how far it had come with ``event``, which it has not answered. Another API is still
        translated where nothing has gone out.
        """
        transaction, seconds = self._transaction, self._allowance.seconds
        transaction.progress, transaction.now, transaction.started = at, now, now
        transaction.outbound, self.record.path = Outbound(request), request.path
        front = find_front(request, self._fronts)
        has_answer = at.under_way or at.tape.head is not None
        if front is None and has_answer and is_older(json_object(request.body) or {}):
            front = OLDER
        self._steps = take_over(transaction, front, event, why, self._meter, seconds)
        commands = next(self._steps)
        at.commit(commands, own=True)
        return commands

    def _run_unmetered(self, load: Callable[[], None]) -> None:
        self._meter.stop()
        load()
        self._meter.start(self._allowance.seconds)

    def _advance(self, event: Event) -> list[Command]:
        transaction = self._transaction
        if transaction.progress.over:
            return []
        if isinstance(event, ClientGone):
            return self._leave()
        try:
            commands = self._steps.send(event)
        except StopIteration:  # the answer is complete
            return transaction.commands
        quiet = isinstance(event, Tick) and not commands and self._is_silent
        if quiet and transaction.now - self._quiet_since >= self._keep_alive_seconds:
            return [SendBody(transaction.writer.keep_alive)]
        return commands

    @property
    def _is_silent(self) -> bool:
        """Return True if a streaming client waits for output that cannot be sent yet."""
        client = self._transaction
        if client.progress.over or not client.progress.head_sent or not client.stream:
            return False
        # A translation may leave thoughts out.
        waits = client.front is not None or not self.asks_own
        waits = waits or (client.wants_several and client.context is not None)
        waits = waits or (client.streamed is not None and client.streamed.holding)
        return waits and bool(client.writer.keep_alive)

    def _leave(self) -> list[Command]:
        """The client has gone: nothing is sent any more."""
        transaction = self._transaction
        transaction.progress.over = True
        self.record.outcome = "gone"
        self.record.seconds = transaction.now - transaction.started
        return [CloseUpstream(), *transaction.list_log()]

    def _may_be_read_elsewhere(self, error: BaseException) -> bool:
        moves = isinstance(error, OverBudget) and not error.everywhere
        return moves and not self._allowance.final
