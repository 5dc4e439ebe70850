"""The step function: actions out, events in, nothing but facts between."""

from __future__ import annotations

from typing import Any

import pytest

from callwright.agent.run_facts import RunFacts
from callwright.agent.state import Asked, RunState
from callwright.agent.step import (
    Ask,
    BindStep,
    Execute,
    MakePlan,
    Planned,
    Replied,
    Returned,
    StepContext,
    converse,
)
from callwright.agent.strategies import Layered, ReAct
from callwright.nouns.plan import Plan, Slot
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import READ, Message, Reply, Tool, ToolCall, ToolResult
from callwright.testing import FixedPlan, offered_tools

PLACE = Tool("place", input_schema={"properties": {"q": {"type": "string"}}}, effects=READ)
SUN = Tool("sun", input_schema={"properties": {"at": {"type": "number"}}}, effects=READ)


def context(**more: Any) -> StepContext:
    facts = RunFacts(RunState(Asked("Sunset in Oslo?"), (PLACE, SUN)))
    planner = FixedPlan(["place"], ["sun"])
    given: dict[str, Any] = {"query": "Sunset in Oslo?", "mode": "schema", **more}
    return StepContext(tools=(PLACE, SUN), planner=planner, facts=facts, **given)


def bound(tool: str, **arguments: Any) -> Replied:
    call = f'{{"tool": "{tool}", "arguments": {arguments}}}'.replace("'", '"')
    return Replied(Reply(f'{{"useful": ["{tool}"], "calls": [{call}]}}'))


def test_a_layered_run_is_a_row_of_actions() -> None:
    made = context()
    steps = Layered(recover=()).steps(made)
    question = next(steps)
    assert isinstance(question, Ask)
    assert offered_tools(question.request) == ("place", "sun"), "all of few tools are named at once"
    made_now = (
        '{"needed": ["place", "sun"], "calls": [{"tool": "place", "arguments": {"q": "Oslo"}}]}'
    )
    plan = steps.send(Replied(Reply(made_now)))
    assert isinstance(plan, MakePlan)
    calls = steps.send(Planned(plan.make()))
    assert isinstance(calls, Execute)
    assert [(c.tool, c.arguments) for c in calls.calls] == [("place", {"q": "Oslo"})]
    came = ToolResult("r1", "place", {"q": "Oslo"}, {"lat": 59.9})
    made.facts.take_results([came])
    second = steps.send(Returned([came]))
    assert isinstance(second, Ask)
    assert offered_tools(second.request) == ("sun",), "only the layer's tools may be called"
    assert "59.9" in second.request.messages[-1].content


def test_react_asks_until_the_model_is_done() -> None:
    made = context()
    steps = ReAct().steps(made)
    assert isinstance(next(steps), Ask)
    action = '{"thought": "", "action": {"tool": "place", "arguments": {"q": "Oslo"}}}'
    call = steps.send(Replied(Reply(action)))
    assert isinstance(call, Execute)
    assert isinstance(steps.send(Returned([ToolResult("r1", "place", {}, "x")])), Ask)
    done = '{"thought": "", "action": {"tool": "finish", "reason": "done"}}'
    assert next_or_none(steps, Replied(Reply(done))) is None
    assert [slot.tool for slot in made.plan.slots] == ["place"]


def next_or_none(steps: Any, event: Any) -> Any:
    try:
        return steps.send(event)
    except StopIteration:
        return None


def test_a_step_puts_its_call_behind_all_others() -> None:
    made = context()
    steps = made.step(ToolCall("", "place", {"q": "Oslo"}), 1, {"place"})
    action = next(steps)
    assert isinstance(action, Execute)
    assert action.calls[0].slot == "place@1"
    assert [slot.id for slot in made.plan.slots] == ["place@1"]


def test_a_dialogue_is_a_row_of_questions() -> None:
    def dialogue() -> Any:
        reply = yield ChatRequest((Message("user", "one"),), purpose="x")
        again = yield ChatRequest((Message("user", reply.text),), purpose="x")
        return again.text

    steps = converse(dialogue())
    assert next(steps).request.messages[0].content == "one"
    assert steps.send(Replied(Reply("two"))).request.messages[0].content == "two"
    with pytest.raises(StopIteration) as done:
        steps.send(Replied(Reply("three")))
    assert done.value.value == "three"


def test_results_of_earlier_turns_are_shown() -> None:
    made = context()
    made.facts.state = RunState(
        Asked("And there?", earlier=(ToolResult("r1", "place", {}, "59 north"),)), (PLACE, SUN)
    )
    question = next(made.bind((SUN,), BindStep("layer")))
    assert isinstance(question, Ask)
    assert "59 north" in question.request.messages[-1].content


def test_a_slot_that_ran_too_early_may_come_again_behind_what_it_waits_for() -> None:
    made = context()
    made.plan = Plan((Slot("sun", "sun", frozenset({"place"})), Slot("place", "place")))
    steps = made.revise({"sun"}, lambda: Plan.from_layers([["place"], ["sun"]]))
    action = next(steps)
    assert isinstance(action, MakePlan)
    next_or_none(steps, Planned(action.make()))
    assert [[slot.id for slot in layer] for layer in made.plan.layers] == [
        ["sun"],
        ["place"],
        ["sun#2"],
    ]
