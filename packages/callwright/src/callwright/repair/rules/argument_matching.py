"""Calls whose arguments are another tool's: the name is wrong, not the keys. Nothing is renamed to
make them fit.

A call that its own tool refuses for its keys, and that exactly one other offered tool takes as it
stands, was most likely meant for that one. It is only given to a tool that is known not to write;
otherwise it is reported as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from callwright.nouns.thresholds import threshold
from callwright.nouns.types import CheckedCall, JsonObject, Tool, ToolCall
from callwright.nouns.wire_names import EditRules
from callwright.repair.context import RepairContext
from callwright.repair.rules.names import telling_words
from callwright.schema.compiled import compiled_for

RULE = EditRules.ARGUMENT_MATCHING
CONFIDENCE = threshold("callwright.repair", "argument_matching.confidence")
_MUCH_MORE = threshold("callwright.repair", "argument_matching.much_more")


def find_intended_tool(arguments: JsonObject, tool: Tool, situation: RepairContext) -> Tool | None:
    """The one other tool that takes these very arguments, where ``tool`` lacks a key of them or
    requires another.
    """
    keys = arguments.keys()
    if not keys or (keys <= tool.properties.keys() and keys >= set(tool.required)):
        return None
    verdict = situation.gate.check(ToolCall("", tool.name, arguments))
    if isinstance(verdict, CheckedCall) and not verdict.edits:
        return None  # its own tool takes them as well
    found = [t for t in situation.tools if t is not tool and _is_match(t, arguments)]
    if len(found) != 1:
        return None
    asked = situation.shares[found[0].name] - situation.shares[tool.name]
    return found[0] if asked >= 0 or (len(keys) > 1 and asked > -_MUCH_MORE) else None


def find_better_asked_tool(
    arguments: JsonObject, tool: Tool, situation: RepairContext
) -> Tool | None:
    """Another tool that takes the arguments as well and that the request speaks much more of: only
    to be reported.
    """
    own = situation.shares[tool.name]
    if len(situation.tools) < 2 or not situation.query or own + _MUCH_MORE > 1:
        return None
    others = [
        t for t in situation.tools if t is not tool and situation.shares[t.name] >= own + _MUCH_MORE
    ]
    found = [t for t in others if _is_match(t, arguments)]
    return found[0] if len(found) == 1 else None


def find_passed_over_tool(
    call: ToolCall, calls: Sequence[ToolCall], situation: RepairContext
) -> Tool | None:
    """Another tool that takes the arguments as well and that no call of the reply is of, where the
    request tells it from the called one: by a word of its name and none of the other's, or by both
    where the other is called more than once. Only to be reported.
    """
    tool = situation.by_name.get(call.tool)
    if (
        tool is None
        or not isinstance(call.arguments, dict)
        or len(situation.tools) < 2
        or not situation.query
    ):
        return None
    called = [c.tool for c in calls]
    own, asked = telling_words(tool.name, tool.description)[0], situation.asked_words
    found = []
    for other, theirs in situation.spoken_of:
        if (
            other.name in called
            or not (theirs - own) & asked
            or not _is_match(other, call.arguments)
        ):
            continue
        if called.count(call.tool) > 1 or not (own - theirs) & asked:
            found.append(other)
    return found[0] if len(found) == 1 else None


def _is_match(tool: Tool, arguments: JsonObject) -> bool:
    keys = arguments.keys()
    if not keys <= tool.properties.keys() or not keys >= set(tool.required):
        return False
    schema = compiled_for(tool)
    return schema.accepts(arguments) and not schema.unasserted_of(arguments)
