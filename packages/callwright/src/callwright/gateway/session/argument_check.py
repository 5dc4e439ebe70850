"""The arguments of one call, checked against its tool's schema and repaired by the one pipeline.

A call that its schema accepts passes as it is. Only then the rules of a reply run, without a
conversation: nothing is filled in, and nothing is doubted. What they leave passes the gate.

A call that may write is not sent where a repair would guess what it is about
(:mod:`callwright.repair.rules.sure_repairs`). Its client is told, and can say what it means.
"""

from __future__ import annotations

from dataclasses import replace

from callwright.nouns.types import DESTRUCTIVE, READ, CheckedCall, Edit, Tool, ToolCall
from callwright.nouns.wire_names import EditRules
from callwright.repair.draft import Draft, Drafts
from callwright.repair.gate import Gate, Refusal
from callwright.repair.refinement import repair_calls
from callwright.repair.result import Settings

_SETTINGS = Settings()
_RENAMING = (EditRules.RENAME_KEY, EditRules.ASSIGN_KEY)
_PLACE = "/0/arguments"  # of the one call in a list of calls


def check_call(
    gate: Gate, tool: Tool, call: ToolCall, *, may_write: bool = False
) -> CheckedCall | Refusal:
    """Let the call through as it is, or repaired, or say why not. It stays one call of its tool.
    ``may_write``: only repairs are made that are sure enough for a write.
    """
    right = gate.as_written(call)
    if isinstance(right, CheckedCall) and gate.accepts(call):
        return right
    judged = replace(tool, effects=DESTRUCTIVE if may_write else READ)
    if isinstance(right, CheckedCall):
        return _rename_surplus(gate, judged, call, right)
    made = _repair(gate, judged, call) or Gate([judged]).check(call)
    return right if made.tool is judged and isinstance(made, CheckedCall) else made


def _repair(gate: Gate, tool: Tool, call: ToolCall) -> CheckedCall | None:
    drafts = repair_calls([call], (tool,), "", (), _SETTINGS)
    repaired = drafts.calls
    if len(repaired) != 1 or repaired[0].tool != call.tool:
        return None
    if isinstance(Gate([tool]).check(repaired[0]), Refusal):
        return None  # whatever the gate would make of it for a tool of which less is known
    made = gate.judge(Draft(0, repaired[0]), edits=list_edits(drafts))
    return made if isinstance(made, CheckedCall) else None


def _rename_surplus(gate: Gate, tool: Tool, call: ToolCall, right: CheckedCall) -> CheckedCall:
    """A schema that is open takes any key. One that the tool does not know is left to its server,
    unless it is another spelling of one that the tool knows and the call lacks.
    """
    made = _repair(gate, tool, call)
    is_renamed = made is not None and all(edit.rule in _RENAMING for edit in made.edits)
    return made if made is not None and made.edits and is_renamed else right


def list_edits(drafts: Drafts) -> tuple[Edit, ...]:
    """The edits with pointers into the arguments; "" is the whole."""
    return tuple(
        replace(edit, path=edit.path.removeprefix(_PLACE)) for edit in drafts.render_edits()
    )
