"""What one lookup did not find is looked up where the schemas say that it may be."""

from __future__ import annotations

from typing import Any

from callwright.agent.leading.other_lookups import list_other_lookups
from callwright.nouns.types import READ_LOCAL, Effects, Tool, ToolResult

TEXT = {"type": "string"}


def read(called: str, effects: Effects = READ_LOCAL, /, **properties: Any) -> Tool:
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    return Tool(called, "", schema, effects=effects)


PART = read("get_part", part_code={**TEXT, "pattern": "^[A-Z]-[0-9]{3}$"})
ORDER = read("get_order", order_id={**TEXT, "pattern": "^O-[0-9]{4}$"})
CUSTOMER = read("find_customer", name=TEXT)
CONTACT = read("find_contact", name=TEXT)


def looked_up(*tools: Tool, **arguments: Any) -> list[tuple[str, Any]]:
    found = list_other_lookups([ToolResult("r1", "find_part", arguments, [])], tools)
    return [(call.tool, call.arguments) for call in found]


def test_a_code_is_looked_up_by_the_read_whose_pattern_it_has() -> None:
    expected = [("get_part", {"part_code": "B-220"})]
    assert looked_up(PART, ORDER, CUSTOMER, name="B-220") == expected


def test_a_name_is_looked_up_by_the_other_reads_that_take_one() -> None:
    found = looked_up(PART, ORDER, CUSTOMER, CONTACT, name="Talleres Ortega")
    expected = {"name": "Talleres Ortega"}
    assert found == [("find_customer", expected), ("find_contact", expected)]


def test_nothing_is_looked_up_where_it_is_not_sure_by_which_read() -> None:
    same = read("get_item", item=PART.properties["part_code"])
    assert looked_up(PART, same, name="B-220") == []
    many = [read(f"find_{kind}", name=TEXT) for kind in ("room", "car", "bike")]
    assert looked_up(*many, name="Ortega") == []
    assert looked_up(CUSTOMER, word="Ortega") == []
    assert looked_up(CUSTOMER, name="Ortega", city="Bilbao") == []
    assert looked_up(read("find_both", name=TEXT, city=TEXT), name="Ortega") == []
    assert looked_up(CUSTOMER, name=7) == []


def test_nothing_that_may_write_is_a_lookup() -> None:
    write = Effects(read_only=False, declared=True)
    assert looked_up(read("take", write, name=TEXT), name="Ortega") == []
