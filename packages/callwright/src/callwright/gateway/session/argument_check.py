"""The arguments of one call, checked against its tool's schema and repaired by the one pipeline.

A call that its schema accepts passes as it is. Only then the rules of a reply run, without a
conversation: nothing is filled in, and nothing is doubted. What they leave passes the gate.

A call that may write is not sent where a repair would guess what it is about: without a key that
the tool does not know (``dry_run``), with a value under a key of other words (``customer_id`` for
``meeting_id``), or with a number that languages read differently (``1,000``). Its client is told,
and can say what it means.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from callwright.dataflow.flow import split_words
from callwright.language import ENGLISH
from callwright.language.tokens import squash_name
from callwright.nouns.types import CheckedCall, Edit, Tool, ToolCall
from callwright.nouns.wire_names import EditRules
from callwright.repair.draft import Draft, Drafts
from callwright.repair.gate import Gate, Refusal
from callwright.repair.refinement import repair_calls
from callwright.repair.result import Settings

_SETTINGS = Settings()
_RENAMING = (EditRules.RENAME_KEY, EditRules.ASSIGN_KEY)
_WEAK = ENGLISH.words("keys.weak")
_AMBIGUOUS = re.compile(r"[-+]?[0-9]{1,3},[0-9]{3}", re.ASCII)  # a thousand, or one
_SPELLED = 0.9  # of Jaro-Winkler, from which two words are one that is misspelled
_PLACE = "/0/arguments"  # of the one call in a list of calls


def check_call(
    gate: Gate, tool: Tool, call: ToolCall, *, may_write: bool = False
) -> CheckedCall | Refusal:
    """Let the call through as it is, or repaired, or say why not. It stays one call of its tool."""
    right = gate.as_written(call)
    if isinstance(right, CheckedCall):
        return right if gate.accepts(call) else _rename_surplus(gate, tool, call, right, may_write)
    made = _repair(gate, tool, call) or gate.check(call)
    return right if may_write and _is_guessed(made.edits, tool) else made


def _repair(gate: Gate, tool: Tool, call: ToolCall) -> CheckedCall | None:
    drafts = repair_calls([call], (tool,), "", (), _SETTINGS)
    repaired = drafts.calls
    if len(repaired) != 1 or repaired[0].tool != call.tool:
        return None
    made = gate.judge(Draft(0, repaired[0]), edits=list_edits(drafts))
    return made if isinstance(made, CheckedCall) else None


def _rename_surplus(
    gate: Gate, tool: Tool, call: ToolCall, right: CheckedCall, may_write: bool
) -> CheckedCall:
    """A schema that is open takes any key. One that the tool does not know is left to its server,
    unless it is another spelling of one that the tool knows and the call lacks.
    """
    for made in (gate.check(call), _repair(gate, tool, call)):
        if not isinstance(made, CheckedCall) or not made.edits:
            continue
        if may_write and _is_guessed(made.edits, tool):
            continue
        if all(edit.rule in _RENAMING for edit in made.edits):
            return made
    return right


def _is_guessed(edits: Sequence[Edit], tool: Tool) -> bool:
    """Return True if the call may mean something else than what the edits make of it."""
    return any(_is_guess(edit, tool) for edit in edits)


def _is_guess(edit: Edit, tool: Tool) -> bool:
    if edit.rule in (EditRules.TEXT_TO_NUMBER, EditRules.UNIT_LEFT_OUT):
        inner = tool.input_schema.get("properties", {}).get(edit.path[1:])
        is_whole = isinstance(inner, dict) and inner.get("type") == "integer"
        return not is_whole and bool(_AMBIGUOUS.fullmatch(str(edit.before).strip()))
    if edit.rule != EditRules.ASSIGN_KEY:
        return edit.rule == EditRules.DROP_UNKNOWN
    given, wanted = (
        [*map(squash_name, _list_words(str(key)))] for key in (edit.before, edit.after)
    )
    return bool(given and wanted) and not any(_is_alike(a, b) for a in given for b in wanted)


def _list_words(key: str) -> list[str]:
    """The words of a key that tell it from others: not ``id`` or ``name``."""
    return [word for word in split_words(key) if word not in _WEAK]


def _is_alike(one: str, other: str) -> bool:
    from rapidfuzz.distance import JaroWinkler

    is_short = one.startswith(other) or other.startswith(one)
    return is_short or JaroWinkler.similarity(one, other) >= _SPELLED


def list_edits(drafts: Drafts) -> tuple[Edit, ...]:
    """The edits with pointers into the arguments; "" is the whole."""
    return tuple(
        replace(edit, path=edit.path.removeprefix(_PLACE)) for edit in drafts.render_edits()
    )
