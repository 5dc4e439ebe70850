"""Names that stand on disks and on the wire, in one table: the name in the code, what is stored.

A name in the code may change; what it is stored as stays. A reader passes what it reads through
:func:`current_literal`, which knows the spellings of earlier versions. A literal that is stored in
a new spelling keeps the old one in :data:`OLD_SPELLINGS`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NewType, TypeAlias

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
    "strategies",
    "violation keywords",
    "who approved",
    "who resolved",
    "who wrote a call",
]
Spellings: TypeAlias = Mapping[Group, Mapping[str, str]]

_EVENT_KINDS = {
    # query, conversation, tools, model, strategy, limits, sandbox, dry_run; began: seconds since
    # 1970 at 0.0, null where a resume shifted the clock
    "run_start": "run.start",
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


EditRule = NewType("EditRule", str)
"""What an edit is stored with as its reason: a constant of :class:`EditRules`, or several at one
place, as :func:`join_edit_rules` joins them. Nothing else makes one, so mypy refuses an edit with
a rule that this table lacks.
"""


class EditRules:
    """Every rule that an edit may have: the name in the code, what is stored."""

    ALREADY_CALLED = EditRule("already_called")
    ANSWER_IN_WORDS = EditRule("answer_in_words")
    ANSWER_MARKED = EditRule("answer.marked")
    ANSWER_QUOTED = EditRule("answer.quoted")
    ANSWER_REPEATED = EditRule("answer.repeated")
    ANSWER_RESTATED = EditRule("answer.restated")
    ANSWER_VALUE = EditRule("answer.value")
    ANSWER_WITHDRAWN = EditRule("answer.withdrawn")
    ARGUMENT_MATCHING = EditRule("tool_by_arguments")
    ASKED_AGAIN = EditRule("asked_again")
    ASSIGN_KEY = EditRule("assign_key")
    DATE_SPELLING = EditRule("date_spelling")
    DECIMAL_COMMA = EditRule("decimal_comma")
    DOCUMENTED_FORMAT = EditRule("documented_format")
    DROP_NULL = EditRule("drop_null")
    DROP_UNKNOWN = EditRule("drop_unknown")
    DROP_UNSOURCED = EditRule("drop_unsourced")
    DUPLICATE_CALL = EditRule("duplicate_call")
    EMPTY_ARGUMENTS = EditRule("empty_arguments")
    EXTRACTED_VALUE = EditRule("stated_value")
    FIELD_RESPELLED = EditRule("field_respelled")
    FILL_FROM_RESULT = EditRule("fill_from_result")
    FRESH_ID = EditRule("fresh_id")
    GUIDED_CALL = EditRule("guided_call")
    HALLUCINATED_CALL = EditRule("ghost_call")
    INTEGRAL = EditRule("integral")
    LABEL_ADDED = EditRule("label_added")
    LATE_RESULT = EditRule("late_result")
    LIST_TO_SINGLE = EditRule("list_to_single")
    LOOP = EditRule("loop")
    MODEL = EditRule("model")
    NAMED_DAY = EditRule("named_day")
    NO_CALL = EditRule("no_call")
    NO_PARALLEL_CALLS = EditRule("no_parallel_calls")
    NUMBER_AS_STATED = EditRule("number_as_said")
    NUMBER_TO_TEXT = EditRule("number_to_text")
    OPTION_MEANING = EditRule("option_meaning")
    OPTION_SPELLING = EditRule("option_spelling")
    OVERLAY = EditRule("overlay")
    PLACEHOLDER = EditRule("placeholder")
    PRODUCER_ADDED = EditRule("producer_added")
    REFERENCE_RELABELLED = EditRule("reference_relabelled")
    REFERENCE_RENUMBERED = EditRule("reference_renumbered")
    REFUSED = EditRule("refused")
    RENAME_KEY = EditRule("rename_key")
    REPAIR_JSON = EditRule("mend_json")
    REPAIR_MODEL = EditRule("repair_model")
    REPEATED_CALL = EditRule("repeated_call")
    REPEATED_RESULT = EditRule("repeated_result")
    REPEATED_WRITE = EditRule("repeated_write")
    SCHEMA_ECHO = EditRule("echoed_schema")
    SINGLE_TO_LIST = EditRule("single_to_list")
    SPLIT_CALL = EditRule("split_call")
    SUPERFLUOUS_CALL = EditRule("superfluous_call")
    TEMPLATE_TOKEN = EditRule("template_token")
    TEXT_TO_BOOLEAN = EditRule("text_to_boolean")
    TEXT_TO_NULL = EditRule("text_to_null")
    TEXT_TO_NUMBER = EditRule("text_to_number")
    TOOL_CHOICE_NAMED = EditRule("tool_choice_named")
    TOOL_CHOICE_NONE = EditRule("tool_choice_none")
    TOOL_MEANING = EditRule("tool_meaning")
    TOOL_PREFIX = EditRule("tool_prefix")
    TOOL_RANKED = EditRule("tool_ranked")
    TOOL_SLIP = EditRule("tool_slip")
    TOOL_SPELLING = EditRule("tool_spelling")
    TOPOLOGICAL_ORDER = EditRule("topological_order")
    TRIM = EditRule("trim")
    UNASKED_CALL = EditRule("unasked_call")
    UNIT_LEFT_OUT = EditRule("unit_left_out")
    UNKNOWN_TOOL = EditRule("unknown_tool")
    UNPAIRED_CALL = EditRule("unpaired_call")
    UNPAIRED_RESULT = EditRule("unpaired_result")
    UNDOING_WRITE = EditRule("undoing_write")
    UNSTATED_VALUE = EditRule("unstated_value")
    UNWRAP_ARGUMENTS = EditRule("unwrap_arguments")
    UNWRAP_JSON = EditRule("unwrap_json")
    WAIT_FOR_RESULT = EditRule("wait_for_result")


_EDIT_RULES = {name.lower(): rule for name, rule in vars(EditRules).items() if name.isupper()}


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
        "strategies": _unchanged(
            "code",
            "code-no-gate",
            "code-no-repair",
            "compiler",
            "dag",
            "dfsdt",
            "dfsdt-no-gate",
            "dfsdt-no-repair",
            "edges",
            "given",
            "guided",
            "layered",
            "layered-no-recovery",
            "layered-no-repair",
            "layered-no-sketch",
            "react",
            "react-no-gate",
            "react-no-repair",
            "toolmvr",
            "toolmvr-no-gate",
            "toolmvr-no-repair",
        ),
        "violation keywords": _unchanged(
            "cycle", "identifier", "placeholder", "record", "reference", "source"
        ),
        "who approved": _unchanged("dry run", "nobody", "user"),
        "who resolved": _unchanged("source", "user"),
        "who wrote a call": _unchanged("analogy", "model", "retry", "substitute"),
    }
)
"""Name in the code -> what is stored, by group."""

OLD_SPELLINGS: Spellings = MappingProxyType(
    {**{group: {} for group in WIRE_NAMES}, "strategies": {"layered-second-pass": "layered"}}
)
"""What earlier versions stored -> what is stored today, by group."""

_JOIN = "+"  # two edit rules at one place are stored as one: list_to_single+text_to_number


def join_edit_rules(*rules: EditRule) -> EditRule:
    """Edit rules that were applied at one place, one after the other, as they are stored."""
    return EditRule(_JOIN.join(rules))


def current_literal(group: Group, stored: str, old: Spellings = OLD_SPELLINGS) -> str:
    """Return the literal that is stored today for a literal of any version. One that the table
    lacks stays as it is: a later version may know it.
    """
    known = old[group]
    return _JOIN.join(known.get(part, part) for part in stored.split(_JOIN)) if known else stored
