"""Arguments of writes that an offered read returns."""

from __future__ import annotations

from callwright.agent.safety.clear import ClearanceState, ClearedCall, Denied, clear
from callwright.agent.safety.looked_up import find_looked_up, list_returned
from callwright.nouns.types import READ, WRITE, CheckedCall, Tool, ToolCall, ToolResult
from callwright.repair.gate import Gate
from callwright.repair.provenance.sources import ProvenanceIndex

FIND = Tool(
    "find_part",
    "Finds parts by name.",
    {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    {"type": "object", "properties": {"part_code": {"type": "string"}}},
    effects=READ,
)
ORDER = Tool(
    "order_part",
    "Orders a part.",
    {
        "type": "object",
        "properties": {"part_code": {"type": "string"}, "note": {"type": "string"}},
        "required": ["part_code", "note"],
    },
    effects=WRITE,
)


def test_an_identifier_that_a_read_returns_is_looked_up() -> None:
    assert find_looked_up((FIND, ORDER)) == {"order_part": {"part_code": ("find_part",)}}


def test_undeclared_tools_are_not_judged() -> None:
    assert not find_looked_up((Tool("find_part", output_schema=FIND.output_schema), ORDER))
    assert not find_looked_up((ORDER,))


def test_where_our_engine_leads_what_nobody_declared_counts_as_a_write() -> None:
    unknown = [Tool(t.name, t.description, t.input_schema, t.output_schema) for t in (FIND, ORDER)]
    assert find_looked_up(unknown, undeclared=True) == {"order_part": {"part_code": ("find_part",)}}


def verdict(said: str, code: str, *results: ToolResult) -> ClearedCall | Denied:
    call = Gate([ORDER]).check(ToolCall("r9", "order_part", {"part_code": code, "note": "eilig"}))
    assert isinstance(call, CheckedCall)
    state = ClearanceState(
        ProvenanceIndex(said, results=results),
        consent=None,
        spoken=[said],
        looked_up=find_looked_up((FIND, ORDER)),
    )
    return clear(call, state)


def test_a_code_from_nowhere_never_leaves_and_the_reason_says_where_it_is_found() -> None:
    for said in ("Order hex bolts", "Bestelle Sechskantschrauben", "订购六角螺栓"):
        denied = verdict(said, "HB-200")
        assert isinstance(denied, Denied)
        assert denied.rule == "unstated_value"
        assert "looked up with find_part" in denied.reason
        assert denied.refused == ("/part_code",)


def test_a_code_that_was_said_or_found_leaves_and_free_text_is_exempt() -> None:
    assert isinstance(verdict("Order HB-200", "HB-200"), ClearedCall)
    found = ToolResult("r1", "find_part", {}, {"part_code": "HB-200"})
    assert isinstance(verdict("订购六角螺栓", "HB-200", found), ClearedCall)


def test_an_identifier_that_a_result_names_is_looked_up_whatever_is_documented() -> None:
    needs = {"type": "object", "properties": {"order_id": {"type": "string"}}}
    cancel = Tool("cancel_order", "Cancels it.", {**needs, "required": ["order_id"]}, effects=WRITE)
    known = ProvenanceIndex(
        "Cancel my order for the lamp.",
        results=[ToolResult("r1", "list_all", {}, [{"order_id": "O-5", "item": "chair"}])],
    )
    assert list_returned(cancel, known) == {"order_id": ("list_all",)}
    assert not list_returned(cancel, ProvenanceIndex("Cancel my order for the lamp."))
    call = Gate([cancel]).check(ToolCall("r9", "cancel_order", {"order_id": "O-9"}))
    assert isinstance(call, CheckedCall)
    state = ClearanceState(known, consent=None, spoken=[known.query])
    assert isinstance(clear(call, state), Denied)
    named = Gate([cancel]).check(ToolCall("r9", "cancel_order", {"order_id": "O-5"}))
    assert isinstance(named, CheckedCall)
    assert isinstance(clear(named, state), ClearedCall)
