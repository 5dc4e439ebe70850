"""``refine``: read, then the pipeline with the rules of calls and the order of calls. Each rule
group is optional; a reply that is right passes all as it is.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from callwright.jsontext import explain_unwritable
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Message, Tool, ToolCall
from callwright.repair.context import RepairContext
from callwright.repair.diagnostics import Diagnostic
from callwright.repair.draft import AFTER_CALLS, BEFORE_CALLS, Change, Drafts
from callwright.repair.location import Location, in_arguments
from callwright.repair.ordering.producer import WAIT_FOR_RESULT
from callwright.repair.ordering.references import labels_of
from callwright.repair.ordering.sequence import SequenceContext, order_drafts
from callwright.repair.pipeline import order_rules, run_rules, run_without_questions
from callwright.repair.reading import Reading, read_source
from callwright.repair.result import Abstention, Refinement, Settings
from callwright.repair.rule import Rule, reply_rule
from callwright.repair.rules.arguments.argument_rules import is_triggered
from callwright.repair.rules.calls import CALL_RULES
from callwright.repair.rules.reply_context import ReplyContext
from callwright.schema.normalize import require_object_schema
from callwright.tools.lists.chat_messages import messages_from_wire

RULE_GROUPS = ("rules", "sequence")
UNMARKED = frozenset(
    {"json", "fenced", "pythonic", "xlam", "llama_json", "nestful", "nestools", "refinetoolbench"}
)
"""Dialects whose calls begin with nothing but a bracket, a name or a fence."""


def refine(
    source: str | Mapping[str, Any] | Sequence[ToolCall] | Sequence[Mapping[str, Any]],
    tools: Sequence[Tool],
    *,
    query: str = "",
    messages: Sequence[Message | Mapping[str, Any]] = (),
    rule_groups: Collection[str] = RULE_GROUPS,
    settings: Settings | None = None,
    rungs: Collection[str] | None = None,
) -> Refinement:
    """Make the calls of a reply right, without a model: no I/O, deterministic, never raises for
    what a model wrote.

    ``source``: a text, a message or an answer of OpenAI's, Anthropic's, Gemini's or Bedrock's API,
    or a list of calls. ``query`` is the user's request, ``messages`` the conversation before the
    reply, also in OpenAI's or Anthropic's form (either may do; without both, no value is filled in
    or doubted). ``rule_groups``: "rules", "sequence", both or none (then the reply is only read);
    ``rungs`` is its old name. A reply without calls has none afterwards. Raises ConfigError for an
    unknown rule group, a source or a message of another form, a query that is no text, or tools
    that are no list of :class:`~callwright.nouns.types.Tool`; CatalogError for a tool whose input
    schema takes no object.
    """
    if not isinstance(query, str):
        raise ConfigError(f"query is {query!r}, and must be a text", hint="query='How far is …?'")
    if not isinstance(tools, Iterable):
        raise ConfigError(
            f"tools takes a list of tools, and was given a {type(tools).__name__}",
            hint="refine(reply, [tool])",
        )
    other = next((tool for tool in tools if not isinstance(tool, Tool)), None)
    if other is not None:
        raise ConfigError(
            f"a tool is a Tool, not a {type(other).__name__}",
            hint="callwright.tools_from_wire(tools) reads the lists of tools that APIs take,"
            " callwright.open_catalog(sources) files and functions",
        )
    tools = [require_object_schema(tool) for tool in tools]
    if rungs is not None:
        said = (
            "refine(rungs=…) is deprecated and will be removed in the next version: rule_groups=…"
        )
        warnings.warn(said, DeprecationWarning, stacklevel=2)
        rule_groups = rungs
    unknown = set(rule_groups) - set(RULE_GROUPS)
    if unknown:
        raise ConfigError(
            f"there is no rule group {sorted(unknown)[0]!r}",
            hint=f"rule groups: {', '.join(RULE_GROUPS)}",
        )
    earlier, reading = messages_from_wire(messages), read_source(source, tools)
    if not reading.calls:
        return Refinement((), reading.text, dialect=reading.dialect, truncated=reading.truncated)
    drafts = Drafts(reading.calls, turn=BEFORE_CALLS)
    strange = find_unreadable(reading.calls)
    if strange:
        drafts.apply(Change(diagnostics=strange))
        return _build_refinement(reading, drafts)
    situation = RepairContext(tools, query, earlier, settings)
    context = ReplyContext(situation, reading.calls, is_triggered)
    if "rules" in rule_groups:
        run_without_questions(run_rules(CALL_RULES, drafts, context))
        if isinstance(source, str | Mapping) and _reads_as_prose(reading, drafts):
            said = (
                f"'{reading.calls[0].tool}' is no tool; what looks like a call of it was left in"
                " the text"
            )
            return Refinement((), reading.whole, abstained=(Abstention("", said + "."),))
    if "sequence" in rule_groups:
        run_without_questions(run_rules(SEQUENCE_RULES, drafts, context))
    return _build_refinement(reading, drafts)


def repair_calls(
    calls: Sequence[ToolCall],
    tools: Sequence[Tool],
    query: str,
    messages: Sequence[Message],
    settings: Settings,
) -> Drafts:
    """The calls of a reply as the proxy hands them on. Calls whose arguments cannot be read are
    left as they are.
    """
    drafts = Drafts(calls, turn=BEFORE_CALLS)
    strange = find_unreadable(calls)
    if strange:
        drafts.apply(Change(diagnostics=strange))
        return drafts
    situation = RepairContext(tools, query, messages, settings)
    context = ReplyContext(situation, calls, is_triggered)
    run_without_questions(run_rules(PROXY_RULES, drafts, context))
    return drafts


def sort_calls(drafts: Drafts, context: ReplyContext) -> Change | None:
    """Repair what flows between the calls, and sort them."""
    situation, before = context.situation, drafts.calls
    # not a prompt that shows the notation
    asked = "\n".join(dict.fromkeys((*situation.asked, situation.query)))
    labels = {}
    if any(call.slot for call in before):
        labelled = [replace(call, id=call.slot) if call.slot else call for call in before]
        labels = dict(zip(drafts.order, labels_of(labelled, situation.by_name), strict=True))
    unknown = _list_ungrounded(drafts)
    sequence = SequenceContext(situation.tools, asked, labels, unknown=unknown)
    change, _ = order_drafts(drafts, sequence)
    if change is None:
        return None
    _give_slots(change, before)
    known = {(d.location, d.rule) for draft in drafts.every for d in draft.errors}
    change.diagnostics = [
        d for d in change.diagnostics if d.severity != "error" or (d.location, d.rule) not in known
    ]
    _name_waiting(change)
    return change


SEQUENCE_RULES: tuple[Rule[ReplyContext], ...] = (
    reply_rule("sequence", 400, sort_calls, AFTER_CALLS),
)


def convert_values(drafts: Drafts, context: ReplyContext) -> Change | None:
    """Convert or drop in every call what the gate converts or drops without a loss: somebody else
    executes the calls.
    """
    change = Change()
    for draft in drafts:
        made = context.situation.gate.repair(draft.call, id=draft.id)
        if made.edits and not made.errors:
            change.edits += made.edits
            change.calls[draft.id] = made.call
    return change if change else None


EXECUTABLE_RULES: tuple[Rule[ReplyContext], ...] = (
    reply_rule("executable", 450, convert_values, AFTER_CALLS),
)
"""What the proxy adds: ``refine`` leaves to the gate what it converts when a call is executed."""
REFINE_RULES = order_rules((*CALL_RULES, *SEQUENCE_RULES))
PROXY_RULES = order_rules((*REFINE_RULES, *EXECUTABLE_RULES))
"""The configurations of ``refine`` with all its rule groups, and of the proxy."""


def find_unreadable(calls: Sequence[ToolCall]) -> list[Diagnostic]:
    """Why a reply is left alone: arguments that no JSON can say, or that are nested too deep to be
    walked along.
    """
    found = []
    for i, call in enumerate(calls):
        why = "" if isinstance(call.arguments, str) else explain_unwritable(call.arguments)
        if why:
            said = (
                f"The arguments of '{call.tool}' cannot be read: {why}. The calls were left as they"
                " are."
            )
            found.append(Diagnostic("error", "schema", in_arguments(i), said))
    return found


def _list_ungrounded(drafts: Drafts) -> list[tuple[int, str]]:
    """The arguments that the rules found to come from nowhere: (draft, name)."""
    found = []
    for draft in drafts:
        for said in draft.errors:
            pointer = said.location.argument or ()
            if said.rule == "ungrounded" and len(pointer) == 1:
                found.append((draft.id, str(pointer[0])))
    return found


def _give_slots(change: Change, before: Sequence[ToolCall]) -> None:
    """In a labelled list, calls that were given a label or added bear it as the others do: as their
    slot.
    """
    slots, ids = [c.slot for c in before if c.slot], {c.id for c in before}
    if not slots:
        return
    mark = "$" if slots[0].startswith("$") else ""
    for draft, call in change.calls.items():
        if not call.slot and call.id not in ids:
            change.calls[draft] = replace(call, slot=mark + call.id.strip("$"))


def _name_waiting(change: Change) -> None:
    """Calls that were taken out for now are said to be missing."""
    said = "'{}' can be called once another call has returned what it lacks."
    for edit in change.edits:
        if edit.rule == WAIT_FOR_RESULT and isinstance(edit.before, dict):
            name = edit.before.get("tool") or edit.before.get("name")
            change.hint(Location(edit.location.draft), said.format(name))


def _reads_as_prose(reading: Reading, drafts: Drafts) -> bool:
    """Return True if unmarked JSON or code amid other text names only tools that do not exist: an
    example, not a call.
    """
    read = (draft for draft in drafts.every if draft.origin is not None)
    # whatever else the rules made of its arguments, and whichever calls they dropped
    nobody = len(drafts) > 0 and not any(draft.has_tool for draft in read)
    return (
        nobody
        and bool(reading.calls)
        and reading.dialect in UNMARKED
        and bool(reading.text.strip())
    )


def _build_refinement(reading: Reading, drafts: Drafts) -> Refinement:
    """The drafts as results show them."""
    return Refinement(
        calls=drafts.calls,
        text=reading.text,
        edits=drafts.render_edits(),
        violations=drafts.render_violations(),
        dialect=reading.dialect,
        confidence=drafts.confidence,
        abstained=drafts.render_abstentions(),
        truncated=reading.truncated,
    )
