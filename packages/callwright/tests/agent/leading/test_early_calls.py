"""Calls whose identifier is still to be looked up."""

from __future__ import annotations

from callwright.agent.leading.early_calls import (
    EarlyCall,
    IntendedCall,
    is_plain_lookup,
    split_early,
)
from callwright.agent.run_facts import RunFacts
from callwright.agent.state import Asked, RunState
from callwright.agent.step import StepContext
from callwright.nouns.types import READ, WRITE, JsonObject, Tool, ToolCall, ToolResult
from callwright.testing import FixedPlan

TEXT: JsonObject = {"type": "string"}
FIND = Tool(
    "find_customer",
    "Find customers by name. Returns id and name of each.",
    {"properties": {"name": TEXT}, "required": ["name"]},
    effects=READ,
)
ORDER = Tool(
    "create_order",
    "Order a part.",
    {
        "properties": {"quantity": {"type": "integer"}, "customer_id": TEXT},
        "required": ["quantity"],
    },
    effects=WRITE,
)
TICKET = Tool(
    "get_ticket",
    "Get a ticket.",
    {"properties": {"ticket_id": TEXT}, "required": ["ticket_id"]},
    effects=READ,
)
TOOLS = (FIND, ORDER, TICKET)


def context(query: str, *results: ToolResult) -> StepContext:
    facts = RunFacts(RunState(Asked(query), TOOLS, results=results))
    return StepContext(query=query, tools=TOOLS, planner=FixedPlan([]), facts=facts, mode="schema")


def order(**arguments: object) -> ToolCall:
    return ToolCall("", "create_order", dict(arguments))  # type: ignore[arg-type]


def test_a_made_up_optional_identifier_is_looked_up_first() -> None:
    call = order(quantity=2, customer_id="K-123")
    found = split_early([call], context("Order 2 for Al Noor"))
    assert (found.ready, found.made_up) == ([], [])
    assert found.early == [EarlyCall(call, ("customer_id",), (FIND,))]
    assert found.early[0].render() == "customer_id of create_order, from find_customer"


def test_an_identifier_that_was_said_or_returned_is_no_reason_to_wait() -> None:
    said = split_early([order(quantity=2, customer_id="K-55")], context("Order 2 for K-55"))
    assert len(said.ready) == 1
    came = ToolResult("r1", "find_customer", {"name": "Al Noor"}, [{"customer_id": "K-55"}])
    known = split_early([order(quantity=2, customer_id="K-55")], context("Order 2", came))
    assert len(known.ready) == 1
    asked = split_early([order(quantity=2, customer_id="K-9")], context("Order 2", came))
    assert len(asked.ready) == 1, "its giver was called: the guard judges what is left"


def test_without_the_argument_nothing_is_looked_up() -> None:
    assert split_early([order(quantity=2)], context("Order 2")).early == []


def test_a_read_of_what_nobody_knows_of_is_not_made() -> None:
    made_up = ToolCall("", "get_ticket", {"ticket_id": "T-123"})
    assert split_early([made_up], context("Close my ticket")).made_up == [made_up]
    assert split_early([made_up], context("Close T-123")).ready == [made_up]


def test_a_call_of_an_unknown_tool_or_without_arguments_is_left_to_the_gate() -> None:
    calls = [ToolCall("", "nobody", {}), ToolCall("", "create_order", "{")]
    assert split_early(calls, context("Order")).ready == calls


def test_a_lookup_that_repeats_the_call_finds_nothing() -> None:
    early = EarlyCall(order(quantity=2, part_code="A-100"), ("customer_id",), (FIND,))
    assert early.holds(ToolCall("", "find_customer", {"name": " a-100"}))
    assert not early.holds(ToolCall("", "find_customer", {"name": "Al Noor"}))
    assert not early.holds(ToolCall("", "find_customer", {}))


def test_only_a_declared_read_without_parameters_is_called_unasked() -> None:
    assert is_plain_lookup(Tool("list_rooms", "", {"properties": {}}, effects=READ))
    assert not is_plain_lookup(Tool("list_rooms", "", {"properties": {}}))
    assert not is_plain_lookup(FIND)


def came(*customers: JsonObject) -> ToolResult:
    return ToolResult("r1", "find_customer", {"name": "Al Noor"}, [*customers])


def test_an_intended_call_takes_the_one_value_that_was_found() -> None:
    intended = EarlyCall(order(quantity=2, customer_id="K-123"), ("customer_id",), (FIND,))
    left = intended.build_intended()
    assert left == IntendedCall(order(quantity=2), ("customer_id",), ("find_customer",))
    one = left.complete(ORDER, [came({"customer_id": "K-55", "name": "Al Noor"})])
    assert one.arguments == {"quantity": 2, "customer_id": "K-55"}
    two = left.complete(ORDER, [came({"customer_id": "K-55"}, {"customer_id": "K-56"})])
    assert two.arguments == {"quantity": 2}, "which of them is for the model to say"
    assert left.complete(ORDER, [came()]).arguments == {"quantity": 2}


def test_an_address_is_known_by_its_format() -> None:
    mail: JsonObject = {"type": "string", "format": "email"}
    send = Tool("send_mail", "", {"properties": {"to": mail}, "required": ["to"]}, effects=WRITE)
    left = IntendedCall(ToolCall("", "send_mail", {}), ("to",), ("find_customer",))
    found = left.complete(send, [came({"name": "Al Noor", "email": "a@noor.example"})])
    assert found.arguments == {"to": "a@noor.example"}


def test_a_call_is_made_once_it_was_made_behind_what_it_waited_for() -> None:
    call = IntendedCall(order(quantity=2), ("customer_id",), ("find_customer",))
    found = ToolResult("r1", "find_customer", {"name": "Al"}, [{"id": "K-1"}])
    before = ToolResult("r0", "create_order", {"quantity": 2, "customer_id": "K-9"}, {"id": 1})
    after = ToolResult("r2", "create_order", {"quantity": 2, "customer_id": "K-1"}, {"id": 2})
    assert not call.is_made([before, found])
    assert call.is_made([before, found, after])
    assert not call.is_made([found, ToolResult("r2", "create_order", {"quantity": 3}, {})])
    assert not call.is_made([])


def test_a_name_in_a_result_is_no_identifier_of_another_tool() -> None:
    listing = Tool(
        "list_orders",
        "List the orders of a customer.",
        {"properties": {"customer_id": TEXT}, "required": ["customer_id"]},
        effects=READ,
    )
    cancel = Tool(
        "cancel_order",
        "Cancel an order.",
        {"properties": {"order_id": TEXT}, "required": ["order_id"]},
        effects=WRITE,
    )
    tools = (FIND, listing, cancel)
    record: JsonObject = {"id": "K-17", "name": "Hansen Bygg", "last_order_id": "O-5001"}
    came = ToolResult("r1", "find_customer", {"name": "Hansen"}, [record])
    facts = RunFacts(RunState(Asked("Cancel Hansen's order"), tools, results=[came]))
    made = StepContext(
        query="Cancel Hansen's order",
        tools=tools,
        planner=FixedPlan([]),
        facts=facts,
        mode="schema",
    )
    for value, is_early in (("Hansen Bygg", True), ("O-5001", False), ("O-1", True)):
        split = split_early([ToolCall("", "cancel_order", {"order_id": value})], made)
        assert [one.givers for one in split.early] == [(listing,)] * is_early, value
