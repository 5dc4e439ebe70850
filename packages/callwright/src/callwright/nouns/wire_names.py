"""Names that stand on disks and on the wire, in one table: the name in the code, what is stored.

A name in the code may change; what it is stored as stays. A reader passes what it reads through
:func:`current_literal`, which knows the spellings of earlier versions. A literal that is stored in
a new spelling keeps the old one in :data:`OLD_SPELLINGS`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

Group: TypeAlias = Literal[
    "event kinds",
    "edit rules",
    "finish reasons",
    "limits that end a run",
    "modes of questions",
    "outcomes of a resolution",
    "outcomes of proxied requests",
    "purposes of questions",
    "statuses in the list of runs",
    "steps of recovery",
    "violation keywords",
    "who approved",
    "who resolved",
    "who wrote a call",
]
Spellings: TypeAlias = Mapping[Group, Mapping[str, str]]

_EVENT_KINDS = {
    "run_start": "run.start",  # query, conversation, tools, model, strategy, limits, sandbox
    "shortlist": "shortlist",  # wanted, names, tools, digests, hits: what was found, and for what
    "plan": "plan",  # slots, edges, layers, planner
    "layer": "layer",  # index, total, slots
    "dispatch": "dispatch",  # slots, revision: steps of the plan that are on their way
    "model": "model",  # purpose, mode, prompt (digest), reply (digest), usage, seconds, discarded
    # thought, code, calls, shown, stop, answer, given_up: one reply of the Python-call agent
    "round": "round",
    "call_raw": "call.raw",  # id, tool, arguments as the model gave them
    "call_checked": "call.checked",  # id, arguments, edits, warnings
    "call_refused": "call.refused",  # id, violations, edits
    "call_repair": "call.repair",  # id, tier, before, after, edits
    "reflection": "reflection",  # id, tool, analysis, strategy, arguments: why a call failed
    "skip": "skip",  # tool, reason
    # id, tool, origins, refused: where a call's late-bound values come from, and which may not
    "origins": "origins",
    # id, tool, offer, digest, arguments, why, origins, granted, by: somebody was asked
    "approval": "approval",
    # id, attempt, tool, arguments, effects, idempotency key, earlier: on the disk before a call
    # that may write leaves
    "intent": "intent",
    # step (retry, substitute, retrieve, replan, plan), tool, failed: tried where repair did not help
    "recovery": "recovery",
    # results, by, reason, written: results that no longer count, and writes that rested on them
    "stale": "stale",
    # id, tool, content or failure, seconds, attempt, simulated; judged: the failure is our reading
    # of it; earlier: the call of an earlier segment for which it stands; recorded: nothing left
    "result": "result",
    "resolution": "resolution",  # id, attempt, outcome, by: what became of a call in doubt
    "trial": "trial",  # observation, content, …: one call that probes a tool before it is offered
    "trials": "trials",  # ranking, observations, …: the candidates in the order of their probes
    "answer": "answer",  # text, statements, missing
    "limit": "limit",  # which limit ended what
    "note": "note",  # something a reader of the run should know
    "run_end": "run.end",  # status, usage, model_calls, steps, seconds
    "blob": "blob",  # digest, text
}

_EDIT_RULES = {
    "already_called": "already_called",
    "answer_marked": "answer.marked",
    "answer_quoted": "answer.quoted",
    "answer_restated": "answer.restated",
    "answer_value": "answer.value",
    "answer_withdrawn": "answer.withdrawn",
    "asked_again": "asked_again",
    "assign_key": "assign_key",
    "date_spelling": "date_spelling",
    "decimal_comma": "decimal_comma",
    "documented_format": "documented_format",
    "drop_null": "drop_null",
    "drop_unknown": "drop_unknown",
    "drop_unsourced": "drop_unsourced",
    "duplicate_call": "duplicate_call",
    "schema_echo": "echoed_schema",
    "empty_arguments": "empty_arguments",
    "field_respelled": "field_respelled",
    "fill_from_result": "fill_from_result",
    "fresh_id": "fresh_id",
    "hallucinated_call": "ghost_call",
    "guided_call": "guided_call",
    "integral": "integral",
    "label_added": "label_added",
    "list_to_single": "list_to_single",
    "loop": "loop",
    "repair_json": "mend_json",
    "model": "model",
    "no_call": "no_call",
    "no_parallel_calls": "no_parallel_calls",
    "number_as_stated": "number_as_said",
    "number_to_text": "number_to_text",
    "option_meaning": "option_meaning",
    "option_spelling": "option_spelling",
    "overlay": "overlay",
    "placeholder": "placeholder",
    "producer_added": "producer_added",
    "reference_relabelled": "reference_relabelled",
    "reference_renumbered": "reference_renumbered",
    "refused": "refused",
    "rename_key": "rename_key",
    "repair_model": "repair_model",
    "repeated_call": "repeated_call",
    "repeated_result": "repeated_result",
    "repeated_write": "repeated_write",
    "single_to_list": "single_to_list",
    "split_call": "split_call",
    "extracted_value": "stated_value",
    "superfluous_call": "superfluous_call",
    "text_to_boolean": "text_to_boolean",
    "text_to_null": "text_to_null",
    "text_to_number": "text_to_number",
    "argument_matching": "tool_by_arguments",
    "tool_choice_named": "tool_choice_named",
    "tool_choice_none": "tool_choice_none",
    "tool_meaning": "tool_meaning",
    "tool_prefix": "tool_prefix",
    "tool_ranked": "tool_ranked",
    "tool_slip": "tool_slip",
    "tool_spelling": "tool_spelling",
    "topological_order": "topological_order",
    "trim": "trim",
    "unasked_call": "unasked_call",
    "unit_left_out": "unit_left_out",
    "unknown_tool": "unknown_tool",
    "unpaired_call": "unpaired_call",
    "unpaired_result": "unpaired_result",
    "unstated_write": "unstated_write",
    "unwrap_arguments": "unwrap_arguments",
    "unwrap_json": "unwrap_json",
    "wait_for_result": "wait_for_result",
}


def _unchanged(*literals: str) -> dict[str, str]:
    """Literals that stand in the code as they are stored."""
    return {re.sub(r"\W", "_", literal): literal for literal in literals}


WIRE_NAMES: Spellings = MappingProxyType(
    {
        "event kinds": _EVENT_KINDS,
        "edit rules": _EDIT_RULES,
        "finish reasons": _unchanged("cut", "length", "stop", "tool_calls"),
        "limits that end a run": _unchanged(
            "model_calls", "repairs", "seconds", "tokens", "tool_calls"
        ),
        "modes of questions": _unchanged("native", "schema", "text"),
        "outcomes of a resolution": _unchanged("done", "failed", "not_done"),
        "outcomes of proxied requests": _unchanged(
            "edited", "failed", "gone", "passed", "untouched"
        ),
        "purposes of questions": _unchanged(
            "answer",
            "answer.restate",
            "bench",
            "bind",
            "code",
            "explore",
            "explore_serves",
            "inject",
            "join",
            "judge",
            "plan",
            "probe",
            "refine",
            "reflect",
            "reflection",
            "repair",
            "select",
            "simulate",
            "trial_plan",
            "trial_rank",
            "verify_row",
        ),
        "statuses in the list of runs": _unchanged("damaged", "in doubt", "interrupted", "running"),
        "steps of recovery": _unchanged("plan", "replan", "retrieve", "retry", "substitute"),
        "violation keywords": _unchanged(
            "cycle", "identifier", "placeholder", "record", "reference", "source"
        ),
        "who approved": _unchanged("dry run", "nobody", "user"),
        "who resolved": _unchanged("source", "user"),
        "who wrote a call": _unchanged("analogy", "model", "retry", "substitute"),
    }
)
"""Name in the code -> what is stored, by group."""

OLD_SPELLINGS: Spellings = MappingProxyType({group: {} for group in WIRE_NAMES})
"""What earlier versions stored -> what is stored today, by group."""

_NAMES = {
    group: {literal: name for name, literal in table.items()} for group, table in WIRE_NAMES.items()
}
_JOIN = "+"  # two edit rules at one place are stored as one: list_to_single+text_to_number


def wire_name(group: Group, name: str) -> str:
    """What a name of the code is stored as. Raises KeyError for a name that the table lacks."""
    return WIRE_NAMES[group][name]


def current_literal(group: Group, stored: str, old: Spellings = OLD_SPELLINGS) -> str:
    """What is stored today for a literal of any version. One that the table lacks stays as it is:
    a later version may know it.
    """
    known = old[group]
    return _JOIN.join(known.get(part, part) for part in stored.split(_JOIN)) if known else stored


def code_names(group: Group, stored: str, old: Spellings = OLD_SPELLINGS) -> tuple[str, ...]:
    """The names in the code of a stored literal of any version; several where edit rules were
    joined. Raises KeyError for a literal that the table lacks.
    """
    names = _NAMES[group]
    return tuple(names[part] for part in current_literal(group, stored, old).split(_JOIN))
