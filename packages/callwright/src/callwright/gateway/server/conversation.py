"""Drives the way of one call: its commands become requests to servers and questions to the client."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from callwright.gateway.server.answers import read_result_type
from callwright.gateway.server.caller import LOG_LEVEL, Caller
from callwright.gateway.server.flights import PendingCall
from callwright.gateway.server.link import Flight, Link, build_error
from callwright.gateway.server.task_call import call_as_task
from callwright.gateway.session.commands import (
    AskClient,
    AskConsent,
    AskRefiner,
    ClientAnswered,
    Command,
    Consented,
    Consult,
    Consulted,
    Dispatch,
    Event,
    Failed,
    Refined,
    Told,
)
from callwright.gateway.session.consent_question import build_question, is_granted
from callwright.gateway.session.round_state import CONSENT, RoundState, build_input_required
from callwright.nouns.errors import Failure
from callwright.nouns.types import JsonObject

if TYPE_CHECKING:
    from callwright.gateway.server.gateway import Gateway


T = TypeVar("T")


class _Suspended(Exception):
    """The client has to answer something first, and comes back with the answer."""

    def __init__(self, result: JsonObject) -> None:
        super().__init__("input is required")
        self.result = result


class Conversation:
    """One request ``tools/call`` of a client. ``resumed``: what its ``requestState`` holds,
    ``responses``: the client's answers to what it was asked.
    """

    def __init__(
        self,
        gateway: Gateway,
        caller: Caller,
        resumed: RoundState,
        responses: Mapping[str, JsonObject],
    ) -> None:
        self._gateway, self._caller = gateway, caller
        self._state, self._responses = resumed, responses
        self._deadline: float | None = None

    async def lead(self, steps: Generator[Command, Event, T]) -> T | JsonObject:
        """Return the end of the steps, or the result that asks the client for input."""
        try:
            command = next(steps)
            while True:
                command = steps.send(await self._carry_out(command))
        except StopIteration as done:
            end: T = done.value
            return end
        except _Suspended as suspended:
            return suspended.result
        finally:
            steps.close()

    async def _carry_out(self, command: Command) -> Event:
        match command:
            case AskRefiner():
                return await self._ask_refiner(command)
            case Consult():
                return await self._consult(command)
            case AskConsent():
                return await self._ask_consent(command)
            case Dispatch():
                return await self._dispatch(command)
            case AskClient():
                return await self._ask_client(command)

    async def _ask_refiner(self, command: AskRefiner) -> Refined:
        refiner = self._gateway.setup.refiner
        if refiner is None:
            return Refined(None)
        return await refiner.answer(command, is_resumed=self._state != RoundState())

    def _count_left(self, seconds: float) -> float:
        """The seconds until the call's deadline, which begins with the first look at its server."""
        now = asyncio.get_running_loop().time()
        if self._deadline is None:
            self._deadline = now + seconds
        return max(0.0, self._deadline - now)

    async def _consult(self, command: Consult) -> Consulted:
        upstream = self._gateway.upstreams[command.offer.server]
        left = self._count_left(command.offer.policy.seconds)
        return await upstream.consult(
            self._caller.key, self._caller.declared, command.offer.name, left
        )

    # ------------------------------------------------------------ questions to the client

    async def _ask_consent(self, command: AskConsent) -> Consented:
        if self._state.approved:
            return Consented(True)
        if not self._caller.can("elicitation"):
            return Consented(None)
        answered = self._responses.get(CONSENT)
        if answered is not None and self._state.asked:
            granted = is_granted(answered)
            self._state = replace(self._state, approved=granted)
            return Consented(granted)
        params = build_question(command)
        if self._caller.is_modern:
            asked = {CONSENT: {"method": "elicitation/create", "params": params}}
            raise _Suspended(build_input_required(asked, replace(self._state, asked=True)))
        return await self._elicit_consent(params)

    async def _elicit_consent(self, params: JsonObject) -> Consented:
        from mcp import MCPError
        from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult

        asked_at = asyncio.get_running_loop().time()
        request = ElicitRequest(params=ElicitRequestFormParams.model_validate(params))
        try:
            answer = await self._caller.ask(request, ElicitResult)
        except MCPError:
            return Consented(None)
        if self._deadline is not None:  # a person's time is not the server's
            self._deadline += asyncio.get_running_loop().time() - asked_at
        return Consented(answer.action == "accept")

    async def _ask_client(self, command: AskClient) -> ClientAnswered:
        """The client's answers to what a server of 2026-07-28 asks."""
        if self._caller.is_modern:
            state = replace(self._state, server=command.state or "")
            raise _Suspended(build_input_required(command.requests, state))
        answers: dict[str, JsonObject] = {}
        for key, raw in command.requests.items():
            answer = await self._ask_older_client(raw)
            if isinstance(answer, str):
                return ClientAnswered(refused=answer)
            answers[key] = answer
        return ClientAnswered(answers)

    async def _ask_older_client(self, raw: JsonObject) -> JsonObject | str:
        from mcp import MCPError
        from mcp_types.methods import MONOLITH_REQUESTS
        from pydantic import ValidationError

        method = str(raw.get("method"))
        try:
            request: Any = MONOLITH_REQUESTS[method].model_validate(raw, by_name=False)
            answer = await self._caller.ask(request, read_result_type(method))
        except (KeyError, ValidationError):
            return f"its server asks the client for {method!r}, which cannot be read"
        except MCPError as error:
            return (
                f"its server needs an answer to {method}, and the client gave none: {error.message}"
            )
        told: JsonObject = answer.model_dump(by_alias=True, mode="json", exclude_none=True)
        return told

    # ------------------------------------------------------------ the server

    async def _dispatch(self, command: Dispatch) -> Event:
        flights = self._gateway.flights
        left = self._count_left(command.seconds)
        pending = self._resume()
        if pending is None:
            if self._state.parked:
                return Failed(_EXPIRED)
            pending = PendingCall(self._caller.principal)
            flight = Flight(self._build_ask(pending), self._log)
            flights.start(pending, lambda: self._send(command, flight))
        told = await flights.wait(pending, left, command.seconds)
        if told is not None:
            return told
        state = replace(self._state, approved=True, parked=flights.park(pending))
        raise _Suspended(build_input_required(pending.dump_questions(), state))

    def _resume(self) -> PendingCall | None:
        if not self._state.parked:
            return None
        pending = self._gateway.flights.take(self._state.parked, self._caller.principal)
        if pending is not None:
            pending.answer(self._responses)
        return pending

    def _build_ask(self, pending: PendingCall) -> Any:
        """Return the function that asks the client while the call is under way."""
        caller = self._caller
        if caller.is_modern:
            return pending.hold_question

        async def ask(request: Any) -> Any:
            from mcp import MCPError

            with pending.asking():
                try:
                    return await caller.ask(request, read_result_type(request.method))
                except MCPError as error:
                    return build_error(error.message)

        return ask

    async def _log(self, params: Any) -> None:
        """Hand on what the server logs about this call; the SDK holds back what its client does not
        want.
        """
        await self._gateway.sessions.send_log(self._caller, params, self._caller.request_id)

    async def _send(self, command: Dispatch, flight: Flight) -> Told:
        """Send the call; where its answer was lost and it may be made twice, once more."""
        upstream, caller = self._gateway.upstreams[command.server], self._caller
        told: Told | None = None
        for attempt in (1, 2):
            left = self._count_left(command.seconds)
            if attempt == 2 and not await upstream.rest(left):
                break
            link = await upstream.connect(caller.key, caller.declared, left)
            if isinstance(link, Failure):
                return told or Failed(link)
            refused = self._find_refusal(command)
            if refused:
                return told or Failed(Failure("not_executable", refused, not_done=True))
            params = self._build_params(command, link)
            progress = caller.report_progress if caller.wants_progress else None
            try:
                if command.as_task and not link.is_modern:
                    told = await call_as_task(link, command.method, params, flight, progress)
                else:
                    told = await link.send(command.method, params, flight, progress)
            except asyncio.CancelledError:
                if self._count_left(command.seconds) < _EARLY:
                    upstream.check(link, command.seconds)
                raise
            if not isinstance(told, Failed):
                upstream.note_answer()
                return told
            if not link.is_open:
                upstream.note_end(link, told.failure.message)
            if link.retries or not _may_send_again(told.failure, command):
                return told
        assert told is not None
        return told

    def _find_refusal(self, command: Dispatch) -> str:
        """Return why a tool may not be called any more; "" if it may. The connection may be another
        one than the one that was consulted.
        """
        if command.method != "tools/call":
            return ""
        return self._gateway.upstreams[command.server].find_refusal(str(command.params["name"]))

    def _build_params(self, command: Dispatch, link: Link) -> JsonObject:
        params: JsonObject = dict(command.params)
        meta = self._gateway.sessions.add_log_level(self._caller, self._caller.forwarded_meta)
        if not link.is_modern:
            meta.pop(LOG_LEVEL, None)
        if meta:
            params["_meta"] = meta
        if command.responses is not None:
            params["inputResponses"] = dict(command.responses)
        if command.state is not None:
            params["requestState"] = command.state
        return params


_EARLY = 0.1  # seconds by which a timer may be early
_EXPIRED = Failure(
    "timeout",
    "the question was answered too late, or the gateway was started again in between",
    outcome_unknown=True,
)


def _may_send_again(failure: Failure, command: Dispatch) -> bool:
    """True if the same call may be sent once more: it never left, or it may be made twice. A server
    that refused it (401) would again.
    """
    never_left = failure.not_done and failure.retryable
    return never_left or (failure.outcome_unknown and command.may_repeat)
