"""The events of a run, as :meth:`Orchestrator.stream <callwright.Orchestrator.stream>` yields
them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from callwright.agent.journal.facts import result_of
from callwright.agent.run import Run
from callwright.nouns.trace import Event
from callwright.nouns.types import Edit, JsonObject, ToolResult


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """The model is asked. ``purpose``: what for, ``bind`` (which calls), ``repair``, ``answer``
    …"""

    purpose: str


@dataclass(frozen=True, slots=True)
class CallRepaired:
    """A call was changed before it leaves: one event for each change."""

    id: str
    tool: str
    edit: Edit


@dataclass(frozen=True, slots=True)
class HeldForApproval:
    """A call waits for somebody's approval, and ``why`` it needs one."""

    id: str
    tool: str
    arguments: JsonObject
    why: str


@dataclass(frozen=True, slots=True)
class ApprovalGiven:
    """The outcome of a request for approval. ``by``: who said so."""

    id: str
    tool: str
    granted: bool
    by: str


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A call leaves. A call that is repeated starts again, under the same id."""

    id: str
    tool: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class CallFinished:
    """A call returned, or failed: ``result.ok``."""

    result: ToolResult


@dataclass(frozen=True, slots=True)
class CallSkipped:
    """A tool was not called, and why."""

    tool: str
    reason: str


@dataclass(frozen=True, slots=True)
class AnswerDelta:
    """More text of the answer, checked. All of them since the last :class:`AnswerRestarted` are the
    answer's text.
    """

    text: str


@dataclass(frozen=True, slots=True)
class AnswerRestarted:
    """The text so far does not count any more: more was found, and the answer is written again."""


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The run has ended. Always the last event."""

    run: Run


RunEvent: TypeAlias = (
    QuestionAsked
    | CallRepaired
    | HeldForApproval
    | ApprovalGiven
    | CallStarted
    | CallFinished
    | CallSkipped
    | AnswerDelta
    | AnswerRestarted
    | RunFinished
)
Watch: TypeAlias = Callable[[RunEvent], None]


async def iter_events(
    run: Callable[[Watch], Coroutine[Any, Any, Run]],
) -> AsyncGenerator[RunEvent, None]:
    """The events of a run, and the run itself as the last one. Raises what the run raises. The run
    is cancelled where the iterator is closed.
    """
    queue: asyncio.Queue[RunEvent | BaseException] = asyncio.Queue()

    async def work() -> None:
        try:
            queue.put_nowait(RunFinished(await run(queue.put_nowait)))
        except BaseException as error:  # of a run that cancels itself too
            queue.put_nowait(error)

    event: RunEvent | BaseException | None = None
    async with asyncio.TaskGroup() as group:
        task = group.create_task(work())
        try:
            while not isinstance(event, RunFinished | BaseException):
                event = await queue.get()
                if not isinstance(event, BaseException):
                    yield event
        except GeneratorExit:  # a task group would wrap it
            task.cancel()
    if isinstance(event, BaseException):
        raise event


class EventReader:
    """A sink of a trace, and a watcher of what it announces, that tells both as events of a run."""

    def __init__(self, tell: Watch) -> None:
        self._tell = tell

    def announce(self, kind: str, data: Mapping[str, Any]) -> None:
        """Tell what is about to happen."""
        if kind == "question":
            self._tell(QuestionAsked(data["purpose"]))
        elif kind == "approval":
            given = (data["id"], data["tool"], data["arguments"], data["why"])
            self._tell(HeldForApproval(*given))
        else:
            self._tell(CallStarted(data["id"], data["tool"], data["arguments"]))

    def __call__(self, event: Event) -> None:
        data = event.data
        if event.kind == "call.checked":
            for edit in data["edits"]:
                self._tell(CallRepaired(data["id"], data["tool"], Edit(**edit)))
        elif event.kind == "approval":
            self._tell(ApprovalGiven(data["id"], data["tool"], data["granted"], data["by"]))
        elif event.kind == "result":
            self._tell(CallFinished(result_of(data)))
        elif event.kind == "skip":
            self._tell(CallSkipped(data["tool"], data["reason"]))
