"""What was said for a parameter, and what of the schema it has to fit."""

from __future__ import annotations

import callwright
from callwright.nouns.types import READ, WRITE, JsonObject, Tool, ToolCall
from callwright.repair.context import RepairContext
from callwright.repair.draft import Drafts
from callwright.repair.result import Settings
from callwright.repair.rules.arguments.argument_rules import is_triggered
from callwright.repair.rules.arguments.draft_arguments import DraftArguments
from callwright.repair.rules.reply_context import ReplyContext
from tests.repair.rules.arguments.repaired import TOOL, repaired_for


def test_a_guess_below_the_bar_is_an_abstention() -> None:
    made = repaired_for({}, "a room for 3 nights", Settings(least=0.99))
    assert made.arguments == {}
    assert next(d for d in made.diagnostics if d.severity == "hint").candidate == 3
    assert [v.keyword for v in made.errors] == ["required"]
    assert made.missing == ["nights"]


def at_work(arguments: JsonObject, query: str = "", tool: Tool = TOOL) -> DraftArguments:
    calls = [ToolCall("", tool.name, arguments)]
    context = ReplyContext(RepairContext([tool], query), calls, is_triggered)
    return DraftArguments(Drafts(calls)[0], context)


def test_without_a_list_of_required_parameters_those_without_a_default_are_needed() -> None:
    properties = {
        "city": {"type": "string"},
        "days": {"type": "integer", "default": 3},
        "unit": {"type": "string", "description": "Optional, C or F"},
    }
    made = at_work({}, tool=Tool("look", "", {"type": "object", "properties": properties}))
    assert [key for key in properties if made.needs(key)] == ["city"]


def test_a_value_that_was_said_is_found_until_another_argument_has_it() -> None:
    made = at_work({}, "a room for 3 nights")
    found = made.find_extracted("nights")
    assert found is not None
    assert found.value == 3
    assert made.find_extracted("nights") is found, "looked up once"
    made.take("nights", found)
    assert made.arguments == {"nights": 3}
    assert made.find_extracted("guest_id") is None


def test_nothing_was_changed_where_nothing_is_taken_edited_or_dropped() -> None:
    made = at_work({"nights": 2})
    assert made.build_change() is None
    made.edit("nights", 3, "placeholder", 1.0)
    made.drop("nights", "placeholder", 1.0)
    change = made.build_change()
    assert change is not None
    assert [(e.before, e.after) for e in change.edits] == [(2, 3), (3, None)]
    assert [call.arguments for call in change.calls.values()] == [{}]


def test_a_name_is_no_identifier_that_an_offered_read_gives() -> None:
    def takes(key: str) -> JsonObject:
        return {"properties": {key: {"type": "string"}}, "required": [key]}

    orders = Tool("list_orders", "List the orders of a customer.", takes("name"), effects=READ)
    cancel = Tool("cancel_order", "Cancel an order.", takes("order_id"), effects=WRITE)
    reply = '{"name": "cancel_order", "arguments": {}}'
    named = callwright.refine(reply, [orders, cancel], query="Cancel the order of Hansen Bygg.")
    assert [call.arguments for call in named.calls] in ([], [{}])
    stated = callwright.refine(reply, [orders, cancel], query="Cancel the order ID O-5001.")
    assert [call.arguments for call in stated.calls] == [{"order_id": "O-5001"}]
