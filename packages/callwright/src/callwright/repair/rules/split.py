"""One call with a list where its tool wants one value: as many calls as the list has members.

The values are all there, so nothing is made up; but calls are added, so the tool must be known not
to write.
"""

from __future__ import annotations

from collections.abc import Sequence

from callwright.nouns.thresholds import threshold
from callwright.nouns.types import CheckedCall, JsonObject, ToolCall
from callwright.nouns.wire_names import EditRules
from callwright.repair.gate import Gate

RULE = EditRules.SPLIT_CALL
CONFIDENCE = threshold("callwright.repair", "split.confidence")
MOST = 16


def split_list_call(call: ToolCall, gate: Gate) -> tuple[str, Sequence[JsonObject]] | None:
    """(the parameter that holds a list, the arguments of each call) where every member makes a
    right call; None where the call is no such list of calls.
    """
    arguments = call.arguments
    if not isinstance(arguments, dict) or isinstance(gate.check(call), CheckedCall):
        return None
    for key, value in arguments.items():
        if (
            isinstance(value, list)
            and 1 < len(value) <= MOST
            and not isinstance(value[0], dict | list)
        ):
            made = [{**arguments, key: member} for member in value]
            if all(_is_right_call(call, one, gate) for one in made):
                return key, made
    return None


def _is_right_call(call: ToolCall, arguments: JsonObject, gate: Gate) -> bool:
    verdict = gate.check(ToolCall(call.id, call.tool, arguments))
    return isinstance(verdict, CheckedCall) and not verdict.edits
