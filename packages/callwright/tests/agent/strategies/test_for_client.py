"""The policy for a client's calls: begun anew over the facts of each request."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from callwright.agent.run_facts import RunFacts
from callwright.agent.state import Asked, RunState
from callwright.agent.step import Ask, Execute, MakePlan, Planned, Replied, Returned, StepContext
from callwright.agent.strategies.for_client import ForClient, Parts, Rounds, relax_plan
from callwright.nouns.plan import Plan
from callwright.nouns.types import READ, WRITE, Reply, Tool, ToolResult
from callwright.testing import FixedPlan

FIND = Tool("find_part", "Finds a part.", {"properties": {"q": {"type": "string"}}}, effects=READ)
CODE = {
    "type": "object",
    "properties": {"part_code": {"type": "string"}},
    "required": ["part_code"],
}
ORDER = Tool("order", "Orders a part.", CODE, effects=WRITE)
MAIL = Tool("send_mail", "Sends a mail.", {"properties": {}}, effects=WRITE)
BOOK = Tool("book_room", "Books a room.", {"properties": {}}, effects=WRITE)
TOOLS = (FIND, ORDER, MAIL, BOOK)
FEW = Parts(choose_above=3)


def context(*results: ToolResult, query: str = "Order 200 hex bolts") -> StepContext:
    facts = RunFacts(RunState(Asked(query), TOOLS, results=results))
    planner = FixedPlan(["find_part"], ["order"])
    return StepContext(query=query, tools=TOOLS, planner=planner, facts=facts, mode="schema")


def run(policy: ForClient, made: StepContext, *replies: str) -> list[str]:
    """The actions as a client's request sees them: none of its calls comes back."""
    steps, left, seen = policy.steps(made), [*replies], []
    try:
        action = next(steps)
        while True:
            event: Any
            match action:
                case Ask(request):
                    seen.append(f"ask {request.purpose}")
                    event = Replied(Reply(left.pop(0)))
                case MakePlan(make):
                    event = Planned(make())
                case Execute(calls):
                    seen.append("call " + " ".join(call.tool for call in calls))
                    event = Returned([])
            action = steps.send(event)
    except StopIteration:
        return seen


def bind(tool: str) -> str:
    return f'{{"useful": ["{tool}"], "calls": [{{"tool": "{tool}", "arguments": {{}}}}]}}'


NOTHING = '{"useful": ["none"], "reason": "no"}'


def test_the_first_request_chooses_and_asks_for_the_first_layer() -> None:
    policy = ForClient(FEW)
    seen = run(policy, context(), '{"needed": ["find_part", "order"]}', bind("find_part"), NOTHING)
    assert seen[:3] == ["ask select", "ask bind", "call find_part"]
    assert policy.chosen == ("find_part", "order")


def test_the_next_request_goes_on_behind_what_was_called() -> None:
    came = ToolResult("r1", "find_part", {"q": "hex bolts"}, {"part_code": "HB-8"})
    seen = run(ForClient(chosen=["find_part", "order"]), context(came), bind("order"))
    assert seen == ["ask bind", "call order"]
    done = ToolResult("r2", "order", {"part_code": "HB-8"}, {"order": 1})
    assert run(ForClient(chosen=["find_part", "order"]), context(came, done)) == []


def test_a_request_that_needs_no_tool_calls_none() -> None:
    assert run(ForClient(FEW), context(query="早上好"), '{"needed": []}') == ["ask select"]
    seen = run(ForClient(), context(query="早上好"), NOTHING, NOTHING)
    assert seen == ["ask bind", "ask bind"], "an order may be wrong: the others are offered at once"


def test_every_part_can_be_left_out() -> None:
    seen = run(ForClient(replace(FEW, select=False)), context(), NOTHING, NOTHING)
    assert seen == ["ask bind", "ask bind"]
    flat = ForClient(Parts(layers=False))
    assert run(flat, context(), bind("order")) == ["ask bind", "call order"]
    alone = ForClient(replace(FEW, prerequisites=False), chosen=["order"])
    assert run(alone, context(), bind("order")) == ["ask bind", "call order"]


def test_one_call_a_reply_leaves_its_round_open() -> None:
    came = ToolResult("r1", "find_part", {"q": "hex"}, {"part_code": "H"})
    policy = ForClient(chosen=["find_part", "order"], single=True)
    seen = run(policy, context(came), NOTHING, bind("order"))
    assert seen == ["ask bind", "ask bind", "call order"]


def test_a_result_that_is_not_final_offers_its_tool_again() -> None:
    still = ToolResult("r1", "order", {"part_code": "H"}, {"status": "in_progress"})
    assert run(ForClient(), context(still), bind("order")) == ["ask bind", "call order"]


def test_what_the_answer_says_is_missing_is_fetched_once() -> None:
    came = ToolResult("r1", "find_part", {"q": "hex"}, {"part_code": "H"})
    policy, made = ForClient(), context(came)
    run(policy, made, bind("order"))
    steps = policy.fetch_missing(made, ["the order"])
    assert isinstance(next(steps), Ask)
    call = steps.send(Replied(Reply(bind("order"))))
    assert isinstance(call, Execute)
    again = policy.fetch_missing(made, ["the code"])
    next(again)
    same = bind("find_part").replace("{}", '{"q": "hex"}')
    with pytest.raises(StopIteration):
        again.send(Replied(Reply(same)))  # it has said all that it can


def rounds(plan: Plan, called: set[str], *, single: bool = False) -> list[set[str]]:
    left, found = Rounds(plan, called, single=single), []
    while slots := left.next():
        found.append({slot.tool for slot in slots})
    return found


def test_rounds_go_on_behind_the_last_call() -> None:
    plan = Plan.from_edges(["a", "b", "c", "d"], [("a", "c"), ("c", "d")])
    assert rounds(plan, set()) == [{"a", "b"}, {"c", "d"}]
    assert rounds(plan, {"b"}) == [], "nothing waits for it"
    assert rounds(plan, {"a"}) == [{"c"}]
    assert rounds(plan, {"a", "c"}) == [{"d"}]
    assert rounds(plan, {"a"}, single=True) == [{"a", "b"}, {"c"}]


def test_what_was_not_called_stays_on_offer_until_something_is_written() -> None:
    """Many models look something up first that the request does not need."""
    plan = Plan.from_edges(["a", "b", "c"], [("a", "c")])
    left = Rounds(plan, {"b"}, goes_on=True)
    assert {slot.tool for slot in left.next()} == {"a"}
    assert not Rounds(plan, {"b"}).next()


@pytest.mark.parametrize("query", ["Order HB-200", "Bestelle HB-200", "订购 HB-200"])
def test_an_identifier_that_the_request_holds_is_not_waited_for(query: str) -> None:
    plan = Plan.from_layers([["find_part"], ["order"]])
    relaxed = relax_plan(plan, TOOLS, query)
    assert [slot.tool for slot in relaxed.ready(())] == ["find_part", "order"]
    waiting = relax_plan(plan, TOOLS, "Order hex bolts")
    assert [slot.tool for slot in waiting.ready(())] == ["find_part"]
