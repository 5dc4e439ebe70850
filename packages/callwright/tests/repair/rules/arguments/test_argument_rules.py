"""All rules for arguments in their order, and when one of them looks."""

from __future__ import annotations

import pytest

from callwright.nouns.types import JsonObject, ToolCall
from callwright.repair.context import RepairContext
from callwright.repair.draft import Drafts
from callwright.repair.rules.arguments.argument_rules import ARGUMENT_RULES, is_triggered
from callwright.repair.rules.reply_context import ReplyContext
from tests.repair.rules.arguments.repaired import TOOL, repaired_for


def test_the_surest_rules_come_first() -> None:
    costs = [rule.cost for rule in ARGUMENT_RULES]
    assert costs == sorted(costs)


def test_right_arguments_stay() -> None:
    arguments: JsonObject = {"nights": 2, "material": "Bronze"}
    made = repaired_for(arguments, "2 nights, bronze")
    assert (made.arguments, made.edits, made.errors) == (arguments, [], [])


@pytest.mark.parametrize(
    ("arguments", "looks"),
    [
        ({"nights": 2}, False),
        ({"nights": 2, "guest_id": "ZX-99812"}, True),
        ({"nights": 2, "guest_id": "<guest_id>"}, True),
        ({"nights": 2, "guest_id": {"type": "string"}}, True),
        ({"nights": 2, "material": ["Bronze", "Marble"]}, True),
    ],
)
def test_a_rule_looks_at_what_may_be_no_value(arguments: JsonObject, looks: bool) -> None:
    calls = [ToolCall("", TOOL.name, arguments)]
    context = ReplyContext(RepairContext([TOOL], "2 nights please"), calls, is_triggered)
    assert is_triggered(Drafts(calls)[0], context) is looks
