"""The policy for a client's calls: begun anew over the facts of each request."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from callwright.agent.leading.early_calls import IntendedCall
from callwright.agent.leading.led_context import LedContext
from callwright.agent.leading.policy import LeadPolicy, Parts
from callwright.agent.run_facts import RunFacts
from callwright.agent.state import Asked, RunState
from callwright.agent.step import Ask, Execute, MakePlan, Planned, Replied, Returned, StepContext
from callwright.nouns.types import READ, WRITE, Reply, Tool, ToolCall, ToolResult
from callwright.testing import FixedPlan
from tests.agent.leading.rounds import lead_with

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


def context(*results: ToolResult, query: str = "Order hex bolts") -> StepContext:
    facts = RunFacts(RunState(Asked(query), TOOLS, results=results))
    planner = FixedPlan(["find_part"], ["order"])
    return StepContext(query=query, tools=TOOLS, planner=planner, facts=facts, mode="schema")


def run(policy: LeadPolicy, made: StepContext, *replies: str) -> list[str]:
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
    policy = LeadPolicy(FEW)
    needed = '{"needed": ["find_part", "order"]}'
    seen = run(policy, context(), needed, bind("find_part"), NOTHING)
    assert seen[:3] == ["ask select", "ask bind find_part", "call find_part"]
    assert policy.chosen == ("find_part", "order")


def test_the_next_request_goes_on_with_what_was_found() -> None:
    came = ToolResult("r1", "find_part", {"q": "hex bolts"}, {"part_code": "HB-8"})
    seen = run(LeadPolicy(chosen=["find_part", "order"]), context(came), bind("order"))
    assert seen[0].startswith("ask bind order")
    assert seen[1] == "call order"
    done = ToolResult("r2", "order", {"part_code": "HB-8"}, {"order": 1})
    assert run(LeadPolicy(FEW, ["find_part", "order"]), context(came, done)) == []


def test_a_request_that_needs_no_tool_calls_none() -> None:
    assert run(LeadPolicy(FEW), context(query="早上好"), '{"needed": []}') == ["ask select"]
    seen = run(LeadPolicy(), context(query="早上好"), NOTHING, NOTHING)
    assert seen == [
        "ask bind find_part send_mail book_room",
        "ask bind order",
    ], "an order may be wrong: the others are offered at once"


def test_every_part_can_be_left_out() -> None:
    seen = run(LeadPolicy(replace(FEW, select=False)), context(), bind("find_part"), NOTHING)
    assert seen[0] == "ask bind find_part send_mail book_room"
    flat = run(LeadPolicy(Parts(layers=False, prerequisites=False)), context(), bind("order"))
    assert flat == ["ask bind find_part order send_mail book_room", "call order"]
    alone = LeadPolicy(replace(FEW, prerequisites=False), chosen=["order"])
    assert run(alone, context(), bind("order")) == ["ask bind order", "call order"]


def test_a_result_that_is_not_final_is_looked_after_by_reading() -> None:
    still = ToolResult("r1", "book_room", {}, {"status": "in_progress"})
    seen = run(LeadPolicy(), context(still, query="Book a room"), NOTHING)
    assert seen == ["ask bind find_part"], "not by writing once more"


def test_after_a_write_only_what_had_to_wait_is_offered() -> None:
    came = ToolResult("r1", "find_part", {"q": "hex"}, {"part_code": "H"})
    wrote = ToolResult("r2", "send_mail", {}, {"sent": True})
    assert run(LeadPolicy(), context(came, wrote), NOTHING) == ["ask bind order"]
    assert run(LeadPolicy(), context(wrote, query="Send a mail")) == []


def test_what_the_answer_says_is_missing_is_fetched_once() -> None:
    came = ToolResult("r1", "find_part", {"q": "hex"}, {"part_code": "H"})
    policy, made = LeadPolicy(), context(came)
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
    seen = run(LeadPolicy(), context(query=query), bind("order"), NOTHING)
    assert seen[0] == "ask bind order send_mail book_room"


BALANCE = Tool(
    "get_balance",
    "Get the balance of an account.",
    {
        "properties": {"account": {"type": "string", "enum": ["main", "petty"]}},
        "required": ["account"],
    },
    effects=READ,
)


@pytest.mark.parametrize(
    "query",
    [
        "What do main and petty hold together?",
        "Was haben main und petty zusammen?",
        "¿Cuánto tienen main y petty?",
        "main和petty一共有多少？",
        "كم في main و petty معا؟",
    ],
)
def test_an_option_that_the_request_names_and_no_call_holds_is_asked_about(query: str) -> None:
    came = ToolResult("r1", "get_balance", {"account": "main"}, {"balance": 1})
    facts = RunFacts(RunState(Asked(query), (BALANCE,), results=(came,)))
    made = replace_context(context(query=query), facts, (BALANCE,))
    reply = bind("get_balance").replace("{}", '{"account": "petty"}')
    assert run(LeadPolicy(), made, reply) == ["ask bind get_balance", "call get_balance"]
    same = replace_context(context(query=query), facts, (BALANCE,))
    other = bind("get_balance").replace("{}", '{"account": "main"}')
    assert run(LeadPolicy(), same, other) == ["ask bind get_balance"], "it was called already"


def replace_context(made: StepContext, facts: RunFacts, tools: tuple[Tool, ...]) -> StepContext:
    made.facts, made.tools = facts, tools
    return made


REPORT = Tool(
    "get_report",
    "Get a report.",
    {"properties": {"job_id": {"type": "string"}}, "required": ["job_id"]},
    effects=READ,
)


def test_a_job_that_goes_on_is_looked_after_without_asking() -> None:
    still = ToolResult("r1", "book_room", {}, {"status": "pending", "job_id": "J-1"})
    tools = (BOOK, REPORT)
    facts = RunFacts(RunState(Asked("Run it"), tools, results=(still,)))
    seen = run(LeadPolicy(), replace_context(context(query="Run it"), facts, tools), NOTHING)
    assert seen[0] == "call get_report"
    polls = (
        ToolResult(f"p{n}", "get_report", {"job_id": "J-1"}, {"status": "pending"})
        for n in range(6)
    )
    waited = RunFacts(RunState(Asked("Run it"), tools, results=(still, *polls)))
    ended = run(LeadPolicy(), replace_context(context(query="Run it"), waited, tools), NOTHING)
    assert "call get_report" not in ended, "the client asks at once: a job may take longer"
    off = LeadPolicy(Parts(polling=False))
    again = run(off, replace_context(context(query="Run it"), facts, tools), NOTHING)
    assert again[0].startswith("ask bind")


def test_a_call_whose_identifier_is_made_up_waits_for_the_lookup() -> None:
    invented = bind("order").replace("{}", '{"part_code": "HB-999"}')
    found = bind("find_part").replace("{}", '{"q": "hex bolts"}')
    seen = run(LeadPolicy(Parts(layers=False)), context(), invented, found)
    assert seen[1:3] == ["ask bind find_part", "call find_part"]
    nobody = run(LeadPolicy(Parts(layers=False)), context(), invented, NOTHING)
    assert nobody[1:3] == ["ask bind find_part", "call order"], "for the guard to judge"


ROOMS = Tool("list_rooms", "List the rooms, with their room ids.", {"properties": {}}, effects=READ)
RESERVE = Tool(
    "reserve",
    "Reserves a room.",
    {"properties": {"room_id": {"type": "string"}}, "required": ["room_id"]},
    effects=WRITE,
)


@pytest.mark.parametrize("query", ["Reserve the room Birch", "Reserva la sala Birch", "预订Birch"])
def test_a_name_is_no_identifier_before_the_list_was_read(query: str) -> None:
    tools = (ROOMS, RESERVE)
    facts = RunFacts(RunState(Asked(query), tools))
    named = bind("reserve").replace("{}", '{"room_id": "Birch"}')
    seen = run(LeadPolicy(), replace_context(context(query=query), facts, tools), NOTHING, named)
    assert seen == ["ask bind list_rooms", "ask bind reserve", "call list_rooms", "call reserve"]


def test_what_others_wait_for_can_still_be_looked_up_after_a_write() -> None:
    query = "Reserve the room Birch for 2026-12-05 and send the mail"
    wrote = ToolResult("r1", "send_mail", {}, {"sent": True})
    tools = (ROOMS, RESERVE, MAIL)
    facts = RunFacts(RunState(Asked(query), tools, results=(wrote,)))
    made = replace_context(context(query=query), facts, tools)
    seen = run(LeadPolicy(), made, bind("list_rooms"))
    assert seen == ["ask bind list_rooms send_mail", "call list_rooms"]


def test_a_call_whose_lookup_was_not_made_yet_is_looked_up_first() -> None:
    query = "Reserve the room Birch and send the mail"
    wrote = ToolResult("r1", "send_mail", {}, {"sent": True})
    tools = (ROOMS, RESERVE, MAIL)
    facts = RunFacts(RunState(Asked(query), tools, results=(wrote,)))
    left = IntendedCall(ToolCall("", "reserve", {}), ("room_id",), ("list_rooms",))
    policy = LeadPolicy(intended=[left])
    seen = run(policy, replace_context(context(query=query), facts, tools), NOTHING)
    assert seen[0] == "call list_rooms"
    assert policy.intended == (left,)


def test_a_tool_that_a_wish_names_is_offered_beside_the_others() -> None:
    """The calls for it went to a tool that was offered in its place."""
    query = "Cancel HB-8 and list what is left"
    cancel = replace(ORDER, name="cancel")
    tools = (FIND, replace(FIND, name="list_parts"), cancel, MAIL)
    facts = RunFacts(RunState(Asked(query), tools))
    made = LedContext(query=query, tools=tools, planner=FixedPlan([]), facts=facts, mode="schema")
    wishes = ["cancel(HB-8)", "list_parts()"]
    calls = [{"name": "cancel", "arguments": {"part_code": "HB-8"}}]
    reply = json.dumps({"wishes": wishes, "calls": calls})
    seen = run(LeadPolicy(), made, reply, reply, NOTHING)
    assert seen == [
        "ask bind cancel send_mail",
        "ask bind cancel send_mail list_parts",
        "call cancel",
        "ask bind find_part",
    ]


def test_a_stated_wish_without_a_call_is_asked_about_once() -> None:
    made = LedContext(
        query="Look for bolts, mail Anna and book a room",
        tools=TOOLS,
        planner=FixedPlan([]),
        facts=RunFacts(RunState(Asked("q"), TOOLS, results=[ToolResult("r1", "send_mail", {}, 1)])),
        mode="schema",
        stated=("send_mail(Anna)", "book_room()"),
    )
    seen = run(LeadPolicy(), made, calls("book_room"))
    assert seen == ["ask bind book_room", "call book_room"]
    assert run(LeadPolicy(Parts(wishes=False)), made) == []


def calls(tool: str) -> str:
    return json.dumps({"wishes": ["it"], "calls": [{"name": tool, "arguments": {}}]})


def test_a_write_that_was_made_is_not_made_twice_by_being_called_twice() -> None:
    done = ToolResult("r1", "order", {}, {"order": 1})
    twice = '{"wishes": ["it"], "calls": [%s, %s]}' % ((calls_of("order"),) * 2)
    policy = LeadPolicy()
    policy.tools = TOOLS
    facts = RunFacts(RunState(Asked("q"), TOOLS, results=[done]))
    made = LedContext(query="q", tools=TOOLS, planner=FixedPlan([]), facts=facts, mode="schema")
    steps = policy.fetch_missing(made, ["the order"])
    next(steps)
    with pytest.raises(StopIteration):
        steps.send(Replied(Reply(twice)))


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Which bolts are there?", "find_part"),
        ("Welche Schrauben gibt es?", "find_part"),
        ("¿Qué tornillos hay?", "find_part"),
        ("有哪些螺栓？", "find_part"),
        ("ما البراغي الموجودة؟", "find_part"),
        ("Look which bolts there are.", "find_part send_mail book_room"),
        ("Which bolts are there? Mail Ann.", "find_part send_mail book_room"),
    ],
)
def test_to_a_question_no_write_is_offered_before_the_reads(query: str, first: str) -> None:
    tools = (FIND, MAIL, replace(MAIL, name="book_room"))
    facts = RunFacts(RunState(Asked(query), tools))
    made = LedContext(query=query, tools=tools, planner=FixedPlan([]), facts=facts, mode="schema")
    seen = run(LeadPolicy(), made, NOTHING, NOTHING)
    assert seen[0] == f"ask bind {first}"
    rest = "ask bind send_mail book_room"
    assert seen[1:] == ([rest] if first == "find_part" else []), "it may be meant after all"


@pytest.mark.parametrize(("to", "is_made"), [("Ann", False), ("Bob", True)])
def test_a_mail_that_was_sent_is_not_sent_again_in_other_words(to: str, is_made: bool) -> None:
    sent = ToolResult("r1", "send_mail", {"to": "Ann", "body": "See you."}, {"done": True})
    query = "Mail Ann and Bob: see you soon"
    policy = LeadPolicy()
    policy.tools = TOOLS
    facts = RunFacts(RunState(Asked(query), TOOLS, results=[sent]))
    made = LedContext(query=query, tools=TOOLS, planner=FixedPlan([]), facts=facts, mode="schema")
    again = {"name": "send_mail", "arguments": {"to": to, "body": "We see each other soon, then."}}
    steps = policy.fetch_missing(made, ["the mail"])
    next(steps)
    reply = Replied(Reply(json.dumps({"wishes": ["it"], "calls": [again]})))
    if is_made:
        assert isinstance(steps.send(reply), Execute)
    else:
        with pytest.raises(StopIteration):
            steps.send(reply)


def calls_of(tool: str) -> str:
    return json.dumps({"name": tool, "arguments": {}})


@pytest.mark.parametrize("content", [[], None])
def test_a_stated_write_is_not_asked_for_where_something_came_to_nothing(content: Any) -> None:
    found = ToolResult("r1", "find_part", {"q": "bolts"}, content)
    made = LedContext(
        query="Look for bolts, and book a room if there are any",
        tools=TOOLS,
        planner=FixedPlan([]),
        facts=RunFacts(RunState(Asked("q"), TOOLS, results=[found])),
        mode="schema",
        stated=("find_part(bolts)", "book_room()"),
    )
    seen = run(LeadPolicy(), made, NOTHING)
    assert [one for one in seen if one != "ask bind order send_mail book_room"] == []


def test_a_stated_write_that_was_offered_and_not_called_is_not_pressed_for() -> None:
    found = ToolResult("r1", "find_part", {"q": "bolts"}, {"part_code": "HB-8", "stock": 0})
    made = LedContext(
        query="If at least 5 bolts are in stock, book a room",
        tools=TOOLS,
        planner=FixedPlan([]),
        facts=RunFacts(RunState(Asked("q"), TOOLS, results=[found])),
        mode="schema",
        stated=("find_part(bolts)", "book_room()"),
    )
    assert run(LeadPolicy(), made, '{"no_call": "done"}') == ["ask bind order send_mail book_room"]


GET = Tool("get_part", "Gets a part by its code.", CODE, effects=READ)
FOUND = ToolResult("r1", "find_part", {"q": "B-220"}, [])


@pytest.mark.parametrize(
    ("results", "is_asked"),
    [
        ((FOUND,), True),
        ((replace(FOUND, arguments={}),), False),  # all of a list: there is none
        ((replace(FOUND, content=[{"part_code": "B-220"}]),), False),
        ((FOUND, ToolResult("r2", "order", {"part_code": "B-220"}, [])), False),
        ((FOUND, ToolResult("r2", "get_part", {"part_code": "B-220"}, [])), False),
    ],
)
def test_another_lookup_is_asked_for_where_one_came_to_nothing(
    results: tuple[ToolResult, ...], is_asked: bool
) -> None:
    tools, query = (FIND, GET, ORDER), "How many B-220 are there?"
    made = lead_with(tools, query, *results)
    call = {"name": "get_part", "arguments": {"part_code": "B-220"}}
    reply = json.dumps({"wishes": ["B-220"], "calls": [call]})
    policy, sent, questions = LeadPolicy(), list[str](), list[str]()
    steps = policy.steps(made)
    event: Any = None
    try:
        while True:
            action = steps.send(event)
            if isinstance(action, Ask):
                questions.append(action.request.messages[-1].content)
                is_last = "Nothing serves this part yet: How many" in questions[-1]
                event = Replied(Reply(reply if is_last else '{"no_call": "done"}'))
            else:
                assert isinstance(action, Execute)
                sent += [call.tool for call in action.calls]
                event = Returned([])
    except StopIteration:
        pass
    assert sent == ["get_part"] * is_asked, questions
    if is_asked:
        assert "called now: get_part." in questions[-1], "no write is offered"


def test_what_a_lookup_lacks_is_looked_up_before_it() -> None:
    def takes(**parts: str) -> dict[str, Any]:
        return {"properties": {k: {"type": v} for k, v in parts.items()}, "required": [*parts]}

    find = Tool("find_customer", "Find customers. Returns id.", takes(name="string"), effects=READ)
    listing = Tool("list_orders", "List orders.", takes(customer_id="string"), effects=READ)
    change = Tool("update_order", "Change an order.", takes(order_id="string"), effects=WRITE)
    tools = (find, listing, change)

    def call(tool: str, **arguments: str) -> str:
        return json.dumps({"useful": [tool], "calls": [{"tool": tool, "arguments": arguments}]})

    def seen(*replies: str) -> list[str]:
        facts = RunFacts(RunState(Asked("Change the order of Hansen Bygg"), tools))
        planner = FixedPlan(["find_customer", "list_orders", "update_order"])
        made = StepContext(
            query="Change the order of Hansen Bygg",
            tools=tools,
            planner=planner,
            facts=facts,
            mode="schema",
        )
        return run(LeadPolicy(Parts(layers=False)), made, *replies)

    early = call("update_order", order_id="O-1"), call("list_orders", customer_id="K-1")
    asked = [
        "ask bind find_customer list_orders update_order",
        "ask bind list_orders",
        "ask bind find_customer",
    ]
    found = seen(*early, call("find_customer", name="Hansen Bygg"))
    assert found[:4] == [*asked, "call find_customer"]
    none = seen(*early, NOTHING)
    assert none[:4] == [*asked, "call update_order"], "for the rules to judge; no read of K-1"
