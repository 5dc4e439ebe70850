"""What the rules know of one reply."""

from __future__ import annotations

from callwright.nouns.types import Tool, ToolCall
from callwright.repair.context import RepairContext
from callwright.repair.draft import Drafts
from callwright.repair.rules.arguments.argument_rules import is_triggered
from callwright.repair.rules.reply_context import ReplyContext, find_references

TEXT = {"type": "string"}
TOOL = Tool("find", "", {"type": "object", "properties": {"q": TEXT}, "required": ["q"]})
OTHER = Tool("read", "", {"type": "object", "properties": {"id": TEXT}, "required": ["id"]})
CALLS = [
    ToolCall("var1", "find", {"q": "a"}),
    ToolCall("var2", "read", {"id": "$var1.id$"}),
    ToolCall("var3", "find", {"q": "b"}),
]


def made(query: str = "") -> tuple[Drafts, ReplyContext]:
    return Drafts(CALLS), ReplyContext(RepairContext([TOOL, OTHER], query), CALLS, is_triggered)


def test_a_call_knows_the_values_of_the_others_as_they_were_read() -> None:
    drafts, context = made()
    assert context.other_arguments(drafts[0]) == [{"id": "$var1.id$"}, {"q": "b"}]
    assert context.sibling_arguments(drafts[0]) == [{"q": "b"}]
    assert [ref.text for ref in context.references_of(drafts[1])] == ["$var1.id$"]


def test_without_a_conversation_rules_that_need_one_are_left_out() -> None:
    assert made()[1].has == {"schema"}
    assert made("a or b")[1].has == {"schema", "conversation"}


def test_whether_something_may_have_to_be_done_is_asked_once() -> None:
    drafts, context = made("a or b")
    assert not context.is_open(drafts[0])
    drafts[0].is_right = False
    assert not context.is_open(drafts[0])


def test_a_number_that_means_no_other_call_is_no_reference() -> None:
    call = ToolCall("1", "find", {"q": "$1"})
    assert find_references([call], RepairContext([TOOL])) == []
