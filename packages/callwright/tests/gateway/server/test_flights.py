from __future__ import annotations

import asyncio
import time

import mcp_types as types

from callwright.gateway.server.flights import Flights, PendingCall
from callwright.gateway.session.commands import Failed, Returned, Told
from callwright.nouns.errors import Failure

ROOTS = types.ListRootsRequest()


async def test_whoever_waits_may_leave_at_the_deadline_although_the_request_does_not_end() -> None:
    let_go = asyncio.Event()

    async def stubborn() -> Told:
        try:
            await asyncio.Event().wait()
        finally:
            await let_go.wait()  # a cancellation that takes its time
        return Returned({})

    async with asyncio.TaskGroup() as group:
        flights, pending = Flights(group), PendingCall("ann")
        flights.start(pending, stubborn)
        began = time.monotonic()
        told = await flights.wait(pending, 0.05)
        assert time.monotonic() - began < 0.5
        assert isinstance(told, Failed)
        assert told.failure.kind == "timeout"
        assert told.failure.outcome_unknown
        let_go.set()


async def test_a_question_ends_the_wait_and_its_answer_lets_the_request_go_on() -> None:
    pending = PendingCall("ann")

    async def asks() -> Told:
        answer = await pending.hold_question(ROOTS)
        return Returned({"said": [str(root.uri) for root in answer.roots]})

    async with asyncio.TaskGroup() as group:
        flights = Flights(group)
        flights.start(pending, asks)
        assert await flights.wait(pending, 5.0) is None
        questions = pending.dump_questions()
        (key,) = questions
        assert questions[key]["method"] == "roots/list"
        number = flights.park(pending)
        assert flights.take(number, "bob") is None, "it is another user's"
        assert flights.take("none", "ann") is None
        assert flights.take(number, "ann") is pending
        assert flights.take(number, "ann") is None, "it is taken once"
        pending.answer({key: {"roots": [{"uri": "file:///a"}]}})
        assert await flights.wait(pending, 5.0) == Returned({"said": ["file:///a"]})


async def test_an_answer_that_is_none_is_told_to_the_server_as_an_error() -> None:
    pending = PendingCall("ann")

    async def asks() -> Told:
        answer = await pending.hold_question(ROOTS)
        assert isinstance(answer, types.ErrorData)
        return Returned({"said": answer.message})

    for responses in ({}, {"callwright/question-1": {"odd": 1}}):
        pending = PendingCall("ann")
        async with asyncio.TaskGroup() as group:
            flights = Flights(group)
            flights.start(pending, asks)
            assert await flights.wait(pending, 5.0) is None
            pending.answer(responses)
            told = await flights.wait(pending, 5.0)
        assert isinstance(told, Returned)
        assert "answer" in told.result["said"]


async def test_what_a_request_raises_is_a_failure_and_ends_nothing_else() -> None:
    async def breaks() -> Told:
        raise RuntimeError("odd")

    async def works() -> Told:
        return Returned({})

    async with asyncio.TaskGroup() as group:
        flights, broken, fine = Flights(group), PendingCall(""), PendingCall("")
        flights.start(broken, breaks)
        flights.start(fine, works)
        told = await flights.wait(broken, 5.0)
        assert told == Failed(Failure("unavailable", "RuntimeError: odd", outcome_unknown=True))
        assert await flights.wait(fine, 5.0) == Returned({})


async def test_parked_requests_are_given_up_at_the_end() -> None:
    pending = PendingCall("ann")

    async def asks() -> Told:
        await pending.hold_question(ROOTS)
        return Returned({})

    async with asyncio.TaskGroup() as group:
        flights = Flights(group)
        flights.start(pending, asks)
        await flights.wait(pending, 5.0)
        flights.park(pending)
        flights.cancel_all()
    assert pending.task is not None
    assert pending.task.cancelled()


async def test_a_server_may_ask_so_many_questions_at_once_and_no_more() -> None:
    pending = PendingCall("ann")
    async with asyncio.TaskGroup() as group:
        held = [group.create_task(pending.hold_question(ROOTS)) for _ in range(20)]
        refused = group.create_task(pending.hold_question(ROOTS))
        assert isinstance(await refused, types.ErrorData)
        pending.answer({})
    assert all(isinstance(one.result(), types.ErrorData) for one in held)


async def test_the_time_in_which_a_client_is_asked_does_not_count() -> None:
    pending = PendingCall("ann")

    async def asks() -> Told:
        for _ in range(2):
            with pending.asking():
                await asyncio.sleep(0.15)
        await asyncio.sleep(0.05)
        return Returned({"said": "done"})

    async with asyncio.TaskGroup() as group:
        flights = Flights(group)
        flights.start(pending, asks)
        assert await flights.wait(pending, 0.2) == Returned({"said": "done"})
        assert 0.3 <= pending.count_seconds_of_asking() < 0.5


async def test_a_call_that_is_given_up_is_said_to_have_had_its_whole_time() -> None:
    async def never() -> Told:
        await asyncio.Event().wait()
        raise AssertionError

    async with asyncio.TaskGroup() as group:
        flights, pending = Flights(group), PendingCall("ann")
        flights.start(pending, never)
        told = await flights.wait(pending, 0.01, 60.0)
    assert isinstance(told, Failed)
    assert "within 60 seconds" in told.failure.message
