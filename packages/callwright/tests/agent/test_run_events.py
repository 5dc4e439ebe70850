"""A run as events: what is told, in which order, and that nobody is left behind."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from callwright import (
    AnswerDelta,
    ApprovalGiven,
    CallFinished,
    CallRepaired,
    CallStarted,
    HeldForApproval,
    ModelError,
    Orchestrator,
    QuestionAsked,
    RunEvent,
    RunFinished,
    Safety,
)
from callwright.agent.run_events import iter_events
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import DESTRUCTIVE, READ_LOCAL
from callwright.testing import FakeTool, ScriptedModel, fake_source

TEXT = {"type": "string"}
QUERY = "How many people live in Oslo and in Bergen?"
CALLS = {
    "calls": [
        {"tool": "population", "arguments": {"city": "Oslo", "year": "2026"}},
        {"tool": "population", "arguments": {"city": "Bergen", "year": 2026}},
    ],
    "later": [],
}
SAID = {
    "statements": [
        {"text": "717710 people live in Oslo.", "results": ["r1"]},
        {"text": "291940 people live in Bergen.", "results": ["r2"]},
    ],
    "missing": [],
}


def population(city: str, year: int) -> dict[str, Any]:
    return {"city": city, "people": {"Oslo": 717710, "Bergen": 291940}[city]}


def source(**more: Any) -> Any:
    parameters = {"city": TEXT, "year": {"type": "integer"}}
    return fake_source(FakeTool("population", parameters, output=population, **more))


def setup(script: Any = None, **options: Any) -> Orchestrator:
    model = ScriptedModel(script or {"bind": CALLS, "answer": SAID})
    return Orchestrator([source(effects=READ_LOCAL)], model=model, **options)


async def collect(made: Orchestrator, **more: Any) -> list[RunEvent]:
    return [event async for event in made.stream(QUERY + " In 2026.", **more)]


async def test_a_run_is_told_event_by_event_and_ends_with_itself() -> None:
    events = await collect(setup())
    kinds = [type(event) for event in events]
    assert kinds[0] is QuestionAsked
    assert kinds[-1] is RunFinished
    assert kinds.count(CallStarted) == kinds.count(CallFinished) == 2
    assert [e.purpose for e in events if isinstance(e, QuestionAsked)] == ["bind", "answer"]
    started = [e.id for e in events if isinstance(e, CallStarted)]
    assert started == ["r1", "r2"]
    (repaired,) = [e for e in events if isinstance(e, CallRepaired)]
    assert (repaired.id, repaired.edit.rule) == ("r1", "text_to_number")
    assert kinds.index(CallRepaired) < kinds.index(CallStarted)
    results = [e.result for e in events if isinstance(e, CallFinished)]
    assert [r.content["people"] for r in results if isinstance(r.content, dict)] == [717710, 291940]


async def test_the_answer_comes_statement_by_statement_and_is_that_of_the_run() -> None:
    events = await collect(setup())
    deltas = [e.text for e in events if isinstance(e, AnswerDelta)]
    assert deltas == ["717710 people live in Oslo.", " 291940 people live in Bergen."]
    last = events[-1]
    assert isinstance(last, RunFinished)
    assert "".join(deltas) == last.run.answer.text
    assert last.run.answer.text == (await setup().run(QUERY + " In 2026.")).answer.text


async def test_what_no_result_says_is_not_told() -> None:
    wrong = {**SAID["statements"][0], "text": "999 people live in Oslo."}
    script = {
        "bind": CALLS,
        "answer": {"statements": [wrong, SAID["statements"][1]], "missing": []},
        "answer.restate": "717710 people live in Oslo.",
    }
    events = await collect(setup(script))
    text = "".join(e.text for e in events if isinstance(e, AnswerDelta))
    assert "999" not in text
    last = events[-1]
    assert isinstance(last, RunFinished)
    assert text == last.run.answer.text


async def test_a_call_that_needs_approval_is_told_before_and_after() -> None:
    wipe = FakeTool("wipe", {"what": TEXT}, effects=DESTRUCTIVE, output={"wiped": "a"})
    script = {
        "bind": {"calls": [{"tool": "wipe", "arguments": {"what": "a"}}], "later": []},
        "answer": {"statements": [{"text": "a was wiped.", "results": ["r1"]}], "missing": []},
    }
    made = Orchestrator(
        [fake_source(wipe)],
        model=ScriptedModel(script),
        safety=Safety(approve=lambda proposal: True),
    )
    events = [event async for event in made.stream("Wipe a.")]
    told = [e for e in events if isinstance(e, HeldForApproval | ApprovalGiven | CallStarted)]
    assert [type(e) for e in told] == [HeldForApproval, ApprovalGiven, CallStarted]
    held, given, _ = told
    assert isinstance(held, HeldForApproval)
    assert (held.tool, held.arguments) == ("wipe", {"what": "a"})
    assert isinstance(given, ApprovalGiven)
    assert given.granted


async def test_an_output_type_comes_with_the_last_event() -> None:
    script = {"bind": CALLS, "answer": SAID, "answer.output": {"value": [717710, 291940]}}
    last = (await collect(setup(script), output_type=list[int]))[-1]
    assert isinstance(last, RunFinished)
    assert last.run.to_dict()["output"] == [717710, 291940]


async def test_what_the_run_raises_is_raised_as_it_is() -> None:
    with pytest.raises(ModelError, match="broken"):
        await collect(setup([ModelError("broken")]))


class Killed(BaseException):
    pass


@pytest.mark.parametrize("error", [Killed(), asyncio.CancelledError("its own")])
async def test_a_run_that_ends_by_no_ordinary_exception_ends_its_events(
    error: BaseException,
) -> None:
    async def run(tell: Any) -> Any:
        tell(QuestionAsked("bind"))
        raise error

    async def read() -> list[RunEvent]:
        return [event async for event in iter_events(run)]

    with pytest.raises(type(error)):
        await asyncio.wait_for(read(), 10)


async def test_a_model_that_cancels_its_own_question_is_a_dead_model() -> None:
    def cancel(_: ChatRequest) -> Any:
        raise asyncio.CancelledError

    with pytest.raises(ModelError, match="cancelled its own question"):
        async with asyncio.timeout(10):
            await collect(setup(cancel))


async def test_the_run_ends_where_the_iterator_is_closed() -> None:
    ended = asyncio.Event()

    async def run(tell: Any) -> Any:
        try:
            tell(QuestionAsked("bind"))
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with aclosing(iter_events(run)) as events:
        async for event in events:
            assert event == QuestionAsked("bind")
            break
    assert ended.is_set()
