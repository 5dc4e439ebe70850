"""The policy for a client's calls: begun anew over the facts of each request."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from callwright.agent.for_client import ForClient, Parts
from callwright.agent.run_facts import RunFacts
from callwright.agent.state import Asked, RunState
from callwright.agent.step import Ask, Execute, MakePlan, Planned, Replied, Returned, StepContext
from callwright.nouns.types import READ, WRITE, Reply, Tool, ToolResult
from callwright.testing import FixedPlan

FIND = Tool(
    "find_part",
    "Finds a part by its name and returns its code.",
    {"properties": {"q": {"type": "string"}}},
    effects=READ,
)
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
_NAMES = re.compile(r"'const': '(\w+)'")


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
                    names = _NAMES.findall(str(request.schema)) if request.purpose == "bind" else []
                    seen.append(" ".join([f"ask {request.purpose}", *dict.fromkeys(names)]))
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


def test_the_first_request_chooses_and_asks_for_the_first_round() -> None:
    policy = ForClient(FEW)
    needed = '{"needed": ["find_part", "order"]}'
    seen = run(policy, context(), needed, bind("find_part"), NOTHING)
    assert seen[:3] == ["ask select", "ask bind find_part", "call find_part"]
    assert policy.chosen == ("find_part", "order")


def test_the_next_request_goes_on_with_what_was_found() -> None:
    came = ToolResult("r1", "find_part", {"q": "hex bolts"}, {"part_code": "HB-8"})
    seen = run(ForClient(chosen=["find_part", "order"]), context(came), bind("order"))
    assert seen[0].startswith("ask bind order")
    assert seen[1] == "call order"
    done = ToolResult("r2", "order", {"part_code": "HB-8"}, {"order": 1})
    assert run(ForClient(FEW, ["find_part", "order"]), context(came, done)) == []


def test_a_request_that_needs_no_tool_calls_none() -> None:
    assert run(ForClient(FEW), context(query="早上好"), '{"needed": []}') == ["ask select"]
    seen = run(ForClient(), context(query="早上好"), NOTHING, NOTHING)
    assert seen == [
        "ask bind find_part send_mail book_room",
        "ask bind order",
    ], "an order may be wrong: the others are offered at once"


def test_every_part_can_be_left_out() -> None:
    seen = run(ForClient(replace(FEW, select=False)), context(), bind("find_part"), NOTHING)
    assert seen[0] == "ask bind find_part send_mail book_room"
    flat = run(ForClient(Parts(layers=False)), context(), bind("order"))
    assert flat == ["ask bind find_part order send_mail book_room", "call order"]
    alone = ForClient(replace(FEW, prerequisites=False), chosen=["order"])
    assert run(alone, context(), bind("order")) == ["ask bind order", "call order"]


def test_a_result_that_is_not_final_is_looked_after_by_reading() -> None:
    still = ToolResult("r1", "book_room", {}, {"status": "in_progress"})
    seen = run(ForClient(), context(still, query="Book a room"), NOTHING)
    assert seen == ["ask bind find_part"], "not by writing once more"


def test_after_a_write_only_what_had_to_wait_is_offered() -> None:
    came = ToolResult("r1", "find_part", {"q": "hex"}, {"part_code": "H"})
    wrote = ToolResult("r2", "send_mail", {}, {"sent": True})
    assert run(ForClient(), context(came, wrote), NOTHING) == ["ask bind order"]
    assert run(ForClient(), context(wrote, query="Send a mail")) == []


def test_what_the_answer_says_is_missing_is_fetched_once() -> None:
    came = ToolResult("r1", "find_part", {"q": "hex"}, {"part_code": "H"})
    policy, made = ForClient(), context(came)
    run(policy, made, NOTHING)
    steps = policy.fetch_missing(made, ["the order"])
    assert isinstance(next(steps), Ask)
    call = steps.send(Replied(Reply(bind("order"))))
    assert isinstance(call, Execute)
    again = policy.fetch_missing(made, ["the code"])
    next(again)
    same = bind("find_part").replace("{}", '{"q": "hex"}')
    with pytest.raises(StopIteration):
        again.send(Replied(Reply(same)))  # it has said all that it can


@pytest.mark.parametrize("query", ["Order HB-200", "Bestelle HB-200", "订购 HB-200", "اطلب HB-200"])
def test_an_identifier_that_the_request_holds_is_not_looked_up_first(query: str) -> None:
    seen = run(ForClient(), context(query=query), bind("order"), NOTHING)
    assert seen[0] == "ask bind order send_mail book_room"
