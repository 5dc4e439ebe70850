"""The policy for a client's calls: begun anew over the facts of each request."""

from __future__ import annotations

from typing import Any

from callwright.agent.run_facts import RunFacts
from callwright.agent.state import Asked, RunState
from callwright.agent.step import Ask, Execute, MakePlan, Planned, Replied, Returned, StepContext
from callwright.agent.strategies.for_client import ForClient, Parts, list_finished
from callwright.nouns.plan import Plan
from callwright.nouns.types import READ, WRITE, Reply, Tool, ToolResult
from callwright.testing import FixedPlan

FIND = Tool("find_part", "Finds a part.", {"properties": {"q": {"type": "string"}}}, effects=READ)
ORDER = Tool("order", "Orders.", {"properties": {"code": {"type": "string"}}}, effects=WRITE)
MAIL = Tool("send_mail", "Sends a mail.", {"properties": {}}, effects=WRITE)
BOOK = Tool("book_room", "Books a room.", {"properties": {}}, effects=WRITE)
TOOLS = (FIND, ORDER, MAIL, BOOK)


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
    policy = ForClient()
    seen = run(policy, context(), '{"needed": ["find_part", "order"]}', bind("find_part"), NOTHING)
    assert seen == ["ask select", "ask bind", "call find_part", "ask bind"]
    assert policy.chosen == ("find_part", "order")


def test_the_next_request_goes_on_behind_what_was_called() -> None:
    came = ToolResult("r1", "find_part", {"q": "hex bolts"}, {"code": "HB-8"})
    seen = run(ForClient(chosen=["find_part", "order"]), context(came), bind("order"))
    assert seen == ["ask bind", "call order"]
    done = ToolResult("r2", "order", {"code": "HB-8"}, {"order": 1})
    assert run(ForClient(chosen=["find_part", "order"]), context(came, done)) == []


def test_a_request_that_needs_no_tool_calls_none() -> None:
    assert run(ForClient(), context(query="早上好"), '{"needed": []}') == ["ask select"]


def test_every_part_can_be_left_out() -> None:
    seen = run(ForClient(Parts(select=False)), context(), NOTHING, NOTHING)
    assert seen == ["ask bind", "ask bind"]
    flat = ForClient(Parts(layers=False), chosen=["find_part", "order"])
    assert run(flat, context(), bind("order")) == ["ask bind", "call order"]


def test_one_call_a_reply_leaves_its_round_open() -> None:
    came = ToolResult("r1", "find_part", {"q": "hex"}, {"code": "H"})
    policy = ForClient(chosen=["find_part", "order"], single=True)
    assert run(policy, context(came), NOTHING, bind("order")) == [
        "ask bind",
        "ask bind",
        "call order",
    ]


def test_finished_rounds_are_those_up_to_the_last_call() -> None:
    plan = Plan.from_layers([["a", "b"], ["c"], ["d"]])
    assert list_finished(plan, set()) == set()
    assert list_finished(plan, {"b"}) == {"a", "b"}
    assert list_finished(plan, {"c"}) == {"a", "b", "c"}
    assert list_finished(plan, {"c"}, single=True) == {"a", "b"}
