"""One request at the place where it can be read: on the event loop if it is small, in the worker
process if not; and untouched if neither has room for it.
"""

from __future__ import annotations

from dataclasses import replace

from callwright.proxy.server.budget import Allowance
from callwright.proxy.server.lane import Busy, Lane, Lost
from callwright.proxy.server.meter import Meter
from callwright.proxy.server.outbound import CHAT
from callwright.proxy.server.replay import Replay, TimedEvent, make_portable
from callwright.proxy.server.worker import Step, Stepped
from callwright.proxy.session.answers.sse import json_bytes
from callwright.proxy.session.context import Toolsets
from callwright.proxy.session.events import (
    ClientGone,
    CloseUpstream,
    Command,
    Event,
    Request,
    UpstreamData,
    UpstreamEnd,
    UpstreamHead,
)
from callwright.proxy.session.faults import OverBudget, Progress
from callwright.proxy.session.media import measure_media
from callwright.proxy.session.phases.reading import is_read
from callwright.proxy.session.session import Session
from callwright.proxy.session.settings import Settings


class Placement:
    """A session, wherever it is. Feed events to :meth:`handle` one at a time, as to
    :class:`Session`.
    """

    def __init__(
        self,
        settings: Settings,
        toolsets: Toolsets,
        lane: Lane | None,
        meter: Meter,
        number: str,
        *,
        local: bool = False,
        created: int = 0,
    ) -> None:
        self._settings, self._budget = settings, settings.budget
        self._toolsets, self._local = toolsets, local
        self._lane, self._meter = lane, meter
        self._created = created
        self.number = number
        self._session: Session | None = self._made(final=lane is None)
        self._replay = Replay(self._budget.worker_bytes if lane is not None else 0)
        self._generation = 0
        self._request = Request("GET", "/")
        self._at = Progress()  # of a session in the worker process
        self._wake: float | None = None  # of a session in the worker process

    @property
    def wake(self) -> float | None:
        """Return the time at which a Tick is due; None while nothing waits."""
        return self._wake if self._session is None else self._session.wake

    @property
    def model(self) -> str:
        """Return the model that the request names; "" where it is read in the worker process."""
        return self._session.record.model if self._session is not None else ""

    @property
    def asks_own(self) -> bool:
        """Return True if the upstream is asked what the client asks, and no question of ours."""
        at = self._at if self._session is None else self._session.progress
        return at.under_way == "own"

    def _made(self, *, final: bool) -> Session:
        allowance = replace(Allowance.inline(self._budget), final=final)
        made = Session(
            self._settings,
            self._toolsets,
            self.number,
            local=self._local,
            meter=self._meter,
            allowance=allowance,
        )
        made.record.created = self._created
        return made

    async def handle(self, event: Event, now: float) -> list[Command]:
        """Return the commands that follow from an event."""
        if isinstance(event, Request):
            self._request = event
            if not is_read(event):
                self._replay = Replay(0)
            elif len(event.body) > self._budget.inline_bytes:
                return await self._begin_elsewhere(event, now)
        if self._session is None:
            return await self._step(event, now)
        try:
            commands = self._session.handle(event, now)
        except OverBudget as error:
            return await self._move(self._session, event, now, error)
        self._replay.add(event, now, commands)
        return commands

    async def _begin_elsewhere(self, request: Request, now: float) -> list[Command]:
        if self._lane is None or not self._fits_worker(request.body):
            self._at.note(request)
            return self._untouched(
                self._at, request, now, OverBudget("the request is too long to be read")
            )
        self._session = None
        return await self._step(request, now)

    def _fits_worker(self, body: bytes) -> bool:
        """Return True if a body is short enough, images, recordings and files aside."""
        most = self._budget.worker_bytes
        return len(body) <= most or len(body) - measure_media(body) <= most

    async def _step(self, event: Event, now: float) -> list[Command]:
        """A step in the worker process; without it, untouched from here on."""
        try:
            made = await self._run_there(event, now)
        except Exception as error:
            self._at.note(event)
            return self._untouched(self._at, event, now, _convert_error(error))
        self._at.note(event)
        return self._committed(made, event)

    async def _run_there(
        self, event: Event, now: float, before: tuple[TimedEvent, ...] = ()
    ) -> Stepped:
        """Raises Lost, Busy."""
        assert self._lane is not None
        step = Step(self.number, make_portable(event), now, self._created, before)
        made = await self._lane.step(step, self._generation)
        self._generation = self._lane.generation
        return made

    def _committed(self, made: Stepped, event: Event) -> list[Command]:
        """Return the commands of a step in the worker process. ``self._at`` has noted its event."""
        self._at.commit(made.commands, own=made.own)
        self._at.tape.keep(made.unsent_size)
        if self._at.over or isinstance(event, ClientGone):
            self._forget()
        self._wake = made.wake
        return made.commands

    def _forget(self) -> None:
        if self._lane is not None:
            self._lane.forget(self.number)

    def _untouched(
        self, at: Progress, event: Event, now: float, why: BaseException
    ) -> list[Command]:
        """Without reading any more. ``at`` has noted the event."""
        self._forget()
        made, self._replay = self._made(final=True), Replay(0)
        self._session = made
        if isinstance(event, ClientGone):
            return [CloseUpstream()]
        return made.take_over(self._request, at, event, now, why)

    async def _move(
        self, session: Session, event: Event, now: float, error: OverBudget
    ) -> list[Command]:
        """Continue in the worker process, in a session that gets all events of this one. Without
        that process the request passes untouched from here on.
        """
        before = session.progress
        try:
            made = await self._repeat_there(event, now)
        except Exception as why:
            self._forget()
            if before.head_was_sent or not before.tape.complete:
                return session.give_up(event, error)
            before.head_sent = False  # by commands that nobody carries out
            return self._untouched(before, event, now, _convert_error(why))
        if (head := before.tape.head) is not None:  # a part may count as sent that was not
            before.tape.begin(head)
            before.tape.add(self._replay.list_answer(head, event))
        before.head_sent = before.head_was_sent
        self._session, self._at, self._replay = None, before, Replay(0)
        return self._committed(made, event)

    async def _repeat_there(self, event: Event, now: float) -> Stepped:
        """Raises Lost, Busy."""
        before, sent = self._replay.events, self._replay.sent
        if before is None:
            raise Busy("the answer is too long to be read again")
        made = await self._run_there(event, now, before)
        if before and made.sent != sent:
            await self._run_there(ClientGone(), now)
            raise Lost("the worker process came to another answer")
        return made


def _convert_error(error: Exception) -> BaseException:
    return (
        OverBudget(str(error) or "the worker process was lost")
        if isinstance(error, Lost | Busy)
        else error
    )


def warm_up(settings: Settings, *, is_local: bool = False) -> None:
    """Load what the first request would have to wait for, by repairing a call of nobody's."""
    if settings.guided in ("on", "native") or (is_local and settings.guided == "auto"):
        from callwright.proxy.session.phases.leading import load_engine

        load_engine()
    import callwright.http.connection
    import callwright.models.openai  # noqa: F401 - the first probe asks with it

    session = Session(replace(settings, guided="off", guard="on"), Toolsets())
    properties = {"part": {"type": "string"}, "count": {"type": "integer"}}
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    writes = {"readOnlyHint": False, "destructiveHint": False}  # what is judged costs the most
    function = {"name": "place_order", "parameters": schema, "annotations": writes}
    tools = [{"type": "function", "function": function}]
    said = '<tool_call>{"name": "placeOrder", "arguments": {"part": "A-100", "count": "2"}}</tool_call>'
    messages = [{"role": "user", "content": "Order two pieces of A-100 by Monday, please."}]
    body = {"model": "m", "messages": messages, "tools": tools}
    message = {"role": "assistant", "content": said}
    answer = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    session.handle(Request("POST", CHAT, body=json_bytes(body)), 0.0)
    session.handle(UpstreamHead(200, {"content-type": "application/json"}), 0.0)
    session.handle(UpstreamData(json_bytes(answer)), 0.0)
    session.handle(UpstreamEnd(), 0.0)
