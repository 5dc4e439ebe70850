"""Requests under way to servers, each in a task of the gateway's own: whoever waits for one may
leave at its deadline, whatever the server and the SDK do.

A client of 2026-07-28 cannot be asked while its request is under way. Where its server asks all the
same, the client is sent the question as the result, and the request to the server is parked until
the client comes back with the answer.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from callwright.gateway.server.link import build_error
from callwright.gateway.session.commands import Failed, Told
from callwright.nouns.errors import Failure
from callwright.nouns.types import JsonObject

PARKED_SECONDS = 600.0  # a person may take to answer
_TICK = 0.05  # seconds between two looks at the time while a client is asked
_MOST_PARKED = 1_000
_MOST_QUESTIONS = 20  # of one call
_QUESTION = "callwright/question-"


@dataclass(eq=False, slots=True)
class Question:
    """A server's question, and the answer to come."""

    request: Any
    answer: asyncio.Future[Any]


@dataclass(eq=False)
class PendingCall:
    """A request under way. ``asked`` is done while its server waits for an answer."""

    owner: str
    questions: dict[str, Question] = field(default_factory=dict)
    asked: asyncio.Future[None] = field(default_factory=lambda: _make_future())
    _asking: int = 0  # questions that a client of the older protocol answers meanwhile
    _asked_at: float = 0.0
    _answered_in: float = 0.0  # seconds
    task: asyncio.Task[Told] | None = None
    _number: int = 0

    async def hold_question(self, request: Any) -> Any:
        """Keep a question until the client comes back with its answer."""
        if len(self.questions) >= _MOST_QUESTIONS:
            return build_error(f"{_MOST_QUESTIONS} questions wait for an answer already")
        self._number += 1
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        key = f"{_QUESTION}{self._number}"
        self.questions[key] = Question(request, answer)
        if not self.asked.done():
            self.asked.set_result(None)
        try:
            async with asyncio.timeout(PARKED_SECONDS):
                return await answer
        except TimeoutError:
            return build_error("the client did not answer")
        finally:
            self.questions.pop(key, None)

    def dump_questions(self) -> dict[str, JsonObject]:
        """The open questions as input requests."""
        return {
            key: question.request.model_dump(by_alias=True, mode="json", exclude_none=True)
            for key, question in self.questions.items()
        }

    def answer(self, responses: Mapping[str, JsonObject]) -> None:
        """Give the client's answers to the server; a question without one is refused."""
        self.asked = _make_future()
        for key, question in list(self.questions.items()):
            if question.answer.done():
                continue
            question.answer.set_result(_read_answer(question.request, responses.get(key)))

    @contextmanager
    def asking(self) -> Iterator[None]:
        """The client is asked meanwhile: a person's time is not the server's."""
        if not self._asking:
            self._asked_at = asyncio.get_running_loop().time()
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1
            if not self._asking:
                self._answered_in += asyncio.get_running_loop().time() - self._asked_at

    def count_seconds_of_asking(self) -> float:
        """Return the seconds in which the client was asked."""
        running = asyncio.get_running_loop().time() - self._asked_at if self._asking else 0.0
        return self._answered_in + running

    def cancel(self) -> None:
        """Give the request up; the server is told."""
        if self.task is not None:
            self.task.cancel()


class Flights:
    """All requests under way, and those that are parked."""

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self._group = group
        self._parked: dict[str, tuple[PendingCall, asyncio.TimerHandle]] = {}

    def start(self, pending: PendingCall, send: Callable[[], Awaitable[Told]]) -> None:
        """Send a request in a task of its own."""

        async def run() -> Told:
            try:
                return await send()
            except Exception as error:  # nothing that a server does may end the gateway
                said = f"{type(error).__name__}: {error}"[:300]
                return Failed(Failure("unavailable", said, outcome_unknown=True))

        pending.task = self._group.create_task(run())

    async def wait(
        self, pending: PendingCall, seconds: float, whole: float | None = None
    ) -> Told | None:
        """Return what came of a request; None where its server asks something first. After
        ``seconds`` it is given up; those in which a client is asked do not count. ``whole``: the
        seconds that the call had from its beginning.
        """
        task = pending.task
        assert task is not None
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        try:
            while not task.done() and not pending.asked.done():
                left = deadline + pending.count_seconds_of_asking() - loop.time()
                if left <= 0:
                    break
                waiting: set[asyncio.Future[Any]] = {task, pending.asked}
                await asyncio.wait(
                    waiting, timeout=max(left, _TICK), return_when=asyncio.FIRST_COMPLETED
                )
        except asyncio.CancelledError:
            task.cancel()
            raise
        if task.done():
            return _read_task(task)
        if pending.asked.done():
            return None
        task.cancel()  # and not waited for: the SDK may take seconds to tell the server
        said = f"it gave no result within {whole or seconds:g} seconds"
        return Failed(Failure("timeout", said, retryable=True, outcome_unknown=True))

    def park(self, pending: PendingCall) -> str:
        """Keep a request until its client comes back; returns its number."""
        if len(self._parked) >= _MOST_PARKED:
            self._give_up(next(iter(self._parked)))
        number = secrets.token_urlsafe(16)
        timer = asyncio.get_running_loop().call_later(PARKED_SECONDS, self._give_up, number)
        self._parked[number] = pending, timer
        return number

    def take(self, number: str, owner: str) -> PendingCall | None:
        """The parked request of this client; None where there is none any more."""
        found = self._parked.get(number)
        if found is None or found[0].owner != owner:
            return None
        pending, timer = self._parked.pop(number)
        timer.cancel()
        return pending

    def cancel_all(self) -> None:
        """Give up every request that is parked."""
        for number in list(self._parked):
            self._give_up(number)

    def _give_up(self, number: str) -> None:
        found = self._parked.pop(number, None)
        if found is not None:
            found[0].cancel()


def _make_future() -> asyncio.Future[None]:
    return asyncio.get_running_loop().create_future()


def _read_task(task: asyncio.Task[Told]) -> Told:
    if task.cancelled():
        return Failed(Failure("cancelled", "the call was cancelled", outcome_unknown=True))
    return task.result()


def _read_answer(request: Any, response: JsonObject | None) -> Any:
    """A client's answer as the SDK's model."""
    from mcp_types.methods import MONOLITH_RESULTS
    from pydantic import TypeAdapter, ValidationError

    build_adapter: Any = TypeAdapter

    if response is None:
        return build_error("the client did not answer this question")
    try:
        return build_adapter(MONOLITH_RESULTS[request.method]).validate_python(response)
    except ValidationError:
        return build_error("the client's answer cannot be read")
