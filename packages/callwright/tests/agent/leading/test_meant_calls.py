from __future__ import annotations

from callwright.agent.leading.meant_calls import list_meant_calls
from callwright.nouns.types import READ, WRITE, Tool, ToolCall

CODE = {"type": "object", "properties": {"part_code": {"type": "string"}, "pieces": {}}}
FIND = Tool(
    "find_part",
    "Finds a part by its name and returns its part_code.",
    {"properties": {"name": {"type": "string"}}},
    output_schema={"type": "object", "properties": {"part_code": {"type": "string"}}},
    effects=READ,
)
ORDER = Tool("order", "Orders a part.", {**CODE, "required": ["part_code"]}, effects=WRITE)
LIST = Tool("list_orders", "Lists all orders.", {"properties": {}}, effects=READ)
TOOLS = (FIND, ORDER, LIST)


def call(name: str, /, **arguments: object) -> ToolCall:
    return ToolCall("", name, arguments)


def meant(query: str, *calls: ToolCall) -> list[str]:
    return [one.tool for one in list_meant_calls(calls, query, TOOLS).calls]


def test_equal_reads_are_made_once_and_again_behind_a_write() -> None:
    read, order = call("list_orders"), call("order", part_code="A", pieces=2)
    assert meant("List them", read, read) == ["list_orders"]
    assert meant("Order 2 of A", read, order, read) == ["list_orders", "order", "list_orders"]


def test_equal_writes_are_made_as_often_as_they_may_be_meant() -> None:
    order = call("order", part_code="A", pieces=2)
    assert meant("Order 2 of A.", order, order) == ["order"]
    assert meant("Place three orders of 2 of A.", order, order, order) == ["order"] * 3


def test_what_is_left_out_is_named() -> None:
    order = call("order", part_code="A", pieces=2)
    assert list_meant_calls([order, order], "Order 2 of A.", TOOLS).dropped == (order,)
    query = "Order 2 of A for me and 2 of A for Ann."
    assert list_meant_calls([order, order], query, TOOLS).dropped == ()


def test_a_write_waits_for_the_lookup_beside_it() -> None:
    find = call("find_part", name="bolts")
    assert meant("Order bolts", find, call("order", pieces=2)) == ["find_part"]
    whole = call("order", part_code="A", pieces=2)
    assert meant("Order A and find bolts", find, whole) == ["find_part", "order"]
    assert meant("Order", call("order", pieces=2)) == ["order"], "nothing gives it"
    assert meant("Go", find, call("unknown")) == ["find_part", "unknown"]
