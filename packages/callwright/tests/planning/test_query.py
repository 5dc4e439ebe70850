"""Which part of a query asks for which tool, and which values it gives."""

from __future__ import annotations

from callwright.dataflow.flow import get_profile
from callwright.nouns.types import Tool
from callwright.planning.query import QueryView, kind_of


def tool(name: str, about: str = "", **inputs: str) -> Tool:
    spec = {k: {"type": v} for k, v in inputs.items()}
    return Tool(name, about, {"type": "object", "properties": spec, "required": list(spec)})


SHIP = tool(
    "calculate_shipping_cost",
    "Shipping cost by weight and distance",
    weight="number",
    distance="number",
)
TIP = tool("calculate_tip", "Tip for a bill", bill_total="number", tip_percentage="number")
QUERY = (
    "Please calculate the shipping cost of a parcel that weighs ten pounds, to wit 10, over as much"
    " as 500 miles. After that, a 15% tip on the shipping cost."
)


def test_each_tool_gets_the_part_that_asks_for_it() -> None:
    ship, tip = QueryView(QUERY, [get_profile(SHIP), get_profile(TIP)]).parts
    assert ship.place < tip.place
    assert ship.stop <= tip.start
    assert (ship.values, tip.values) == (2, 1)
    assert tip.later
    assert not ship.later


def test_the_order_in_which_tools_are_listed_makes_no_difference() -> None:
    forward = QueryView(QUERY, [get_profile(SHIP), get_profile(TIP)]).parts
    backward = QueryView(QUERY, [get_profile(TIP), get_profile(SHIP)]).parts
    assert forward == backward[::-1]


def test_a_tool_that_is_not_asked_for_stands_nowhere() -> None:
    view = QueryView(QUERY, [get_profile(tool("translate_poem"))])
    assert not view.parts[0].found
    assert view.parts[0].cover == 0.0


def test_a_value_close_to_its_name_is_given() -> None:
    wanted = tool("get_policy", policy_code="string", department="string")
    view = QueryView('Get the policy with policy code "PP2023-001".', [get_profile(wanted)])
    code, department = (view.given(f, view.parts[0]) for f in get_profile(wanted).inputs)
    assert code.strength > 0.6
    assert department.strength < 0.4


def test_an_allowed_value_in_the_query_is_given() -> None:
    wanted = Tool(
        "fly",
        input_schema={"properties": {"cabin": {"type": "string", "enum": ["economy", "business"]}}},
    )
    view = QueryView("a business flight", [get_profile(wanted)])
    assert view.given(get_profile(wanted).inputs[0], view.parts[0]).enum == 1.0


def test_inputs_expect_kinds_of_values() -> None:
    fields = get_profile(
        tool(
            "x", due_date="string", city="string", user_id="integer", count="integer", note="string"
        )
    )
    assert [kind_of(f) for f in fields.inputs] == ["date", "proper", "code", "number", "text"]


def test_an_action_spoken_of_as_done_is_noticed() -> None:
    send = tool("send_sms", "Send a message")
    encrypt = tool("encrypt_data", "Encrypt data")
    view = QueryView(
        "Encrypt the text 'hello' and send the encrypted text to Ann",
        [get_profile(encrypt), get_profile(send)],
    )
    assert view.done("encrypt", view.parts[1])
    assert not view.done("encrypt", view.parts[0])


def test_empty_and_strange_queries_are_read() -> None:
    for text in ("", "   ", "?!", "日本語のクエリ", "\n" * 50, "a" * 10_000):
        assert len(QueryView(text, [get_profile(SHIP)]).parts) == 1
