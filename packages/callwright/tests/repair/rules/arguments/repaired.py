"""A call after the rules for arguments."""

from __future__ import annotations

from callwright.nouns.types import JsonObject, Tool, ToolCall
from callwright.repair.context import RepairContext
from callwright.repair.draft import Draft, Drafts
from callwright.repair.pipeline import run_rules, run_without_questions
from callwright.repair.result import Settings
from callwright.repair.rules.arguments.argument_rules import ARGUMENT_RULES, is_triggered
from callwright.repair.rules.reply_context import ReplyContext

TOOL = Tool(
    "book",
    "Book a room.",
    {
        "type": "object",
        "properties": {
            "nights": {"type": "integer"},
            "material": {"type": "string", "enum": ["Bronze", "Marble"]},
            "guest_id": {"type": "string"},
        },
        "required": ["nights"],
    },
)


def repaired(arguments: JsonObject, situation: RepairContext, tool: Tool = TOOL) -> Draft:
    """The draft of one call after the rules for arguments."""
    calls = [ToolCall("", tool.name, arguments)]
    drafts = Drafts(calls)
    context = ReplyContext(situation, calls, is_triggered)
    run_without_questions(run_rules(ARGUMENT_RULES, drafts, context))
    return drafts[0]


def repaired_for(arguments: JsonObject, query: str = "", settings: Settings | None = None) -> Draft:
    return repaired(arguments, RepairContext([TOOL], query, settings=settings))
