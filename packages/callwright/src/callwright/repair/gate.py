"""The schema gate (RETO Eq. 11): the one door between what a model wrote and what a tool receives.

The exact check comes first, so that a call which is right is never touched. Only then the lossless
rules run (:mod:`callwright.repair.rules.lossless`), and with sources those of provenance. What
still fails is a :class:`Refusal` that says why.

The first seal is set here. A :class:`~callwright.nouns.types.CheckedCall` holds the JSON of its
arguments as the check read it, so that :func:`verify_seal` notices what was changed afterwards.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, fields

from callwright.jsontext import (
    JsonError,
    explain_unwritable,
    parse,
    parse_object,
    write,
    write_as_it_stands,
)
from callwright.nouns.errors import Violation
from callwright.nouns.types import CheckedCall, Edit, Json, JsonObject, Tool, ToolCall
from callwright.repair.diagnostics import Severity, from_located, from_violation
from callwright.repair.draft import Change, Draft, Drafts
from callwright.repair.location import NAME, Location, in_arguments
from callwright.repair.pipeline import run_rules, run_without_questions
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.rule import is_valid_draft
from callwright.repair.rules.lossless import (
    LOSSLESS_RULES,
    MAX_DEPTH,
    PROVENANCE_RULES,
    SchemaContext,
    read_object,
    say_not_json,
    say_not_object,
    say_unreadable,
    schema_context,
)
from callwright.schema import violations
from callwright.schema.value_edits import render_pointer

__all__ = ["MAX_DEPTH", "Gate", "Refusal", "arguments_of", "take_arguments", "verify_seal"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call that may not be executed, and why, most relevant reason first.

    ``arguments`` is what the lossless ``edits`` made of the call's own (None where it is no JSON
    object); ``tool`` is None for a tool that is not in view.
    """

    call: ToolCall
    tool: Tool | None
    arguments: JsonObject | None
    violations: tuple[Violation, ...] = ()
    edits: tuple[Edit, ...] = ()

    @property
    def message(self) -> str:
        """All reasons, one a line: what a model is shown."""
        return "\n".join(v.message for v in self.violations)


class Gate:
    """Checks calls of the given tools. Schemas are compiled on first use and shared by all gates of
    the process.
    """

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._contexts: dict[str, SchemaContext] = {}

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(self._tools.values())

    def only(self, names: Container[str]) -> Gate:
        """The same gate with fewer tools in view. What is compiled for one of the two serves the
        other.
        """
        view = Gate(tool for name, tool in self._tools.items() if name in names)
        view._contexts = self._contexts
        return view

    def with_tool(self, tool: Tool) -> Gate:
        """The same gate with one tool replaced or added, as a schema overlay does for one run."""
        return Gate({**self._tools, tool.name: tool}.values())

    def check(
        self, call: ToolCall, sources: ProvenanceIndex | None = None
    ) -> CheckedCall | Refusal:
        """Let the call through as it is, or as lossless edits make it, or say why not. Never
        raises, whatever the call and the tool's schema are. What of the schema could not be
        asserted is a warning of kind ``unasserted``.

        With ``sources``, identifiers must come from somewhere and optional values from anywhere:
        see :mod:`callwright.repair.provenance.grounding`.
        """
        context, arguments = self._context(call.tool), call.arguments
        if context is None:
            return Refusal(call, None, None, (violations.unknown_tool(call.tool, self._tools),))
        read = call
        if isinstance(arguments, str):
            arguments = parse_object(arguments)
            read = ToolCall(call.id, call.tool, arguments, call.slot)
        is_right = None
        if type(arguments) is dict:
            text = write_as_it_stands(arguments)
            is_right = context.accepts(arguments) if text is not None else None
            if is_right and text is not None and sources is None:
                notes = _warn_unasserted(context, arguments)
                return _seal(call, context.tool, arguments, (), notes, text)
        draft = Draft(0, read, is_right=is_right)
        self._run_rules(draft, context, sources)
        return _build_verdict(call, draft, context, ())

    def accepts(self, call: ToolCall) -> bool:
        """Return True if :meth:`check` lets the call through as it is, without an edit."""
        context, arguments = self._context(call.tool), call.arguments
        if isinstance(arguments, str):
            arguments = parse_object(arguments)
        if context is None or not isinstance(arguments, dict) or not context.accepts(arguments):
            return False
        return not explain_unwritable(arguments, MAX_DEPTH)

    def judge(
        self, draft: Draft, sources: ProvenanceIndex | None = None, edits: tuple[Edit, ...] = ()
    ) -> CheckedCall | Refusal:
        """The verdict of :meth:`check` on a draft that nothing was done to yet. The rules change the
        draft on the way, so its edits and diagnostics are located. ``edits`` were made before it
        was a draft: the verdict lists them first.
        """
        call, context = draft.call, self._context(draft.call.tool)
        draft.is_right = None  # that is for this check to say
        self._run_rules(draft, context, sources)
        return _build_verdict(call, draft, context, edits)

    def repair(self, call: ToolCall, sources: ProvenanceIndex | None = None, id: int = 0) -> Draft:
        """The call as the lossless rules, and with sources provenance, leave it: its edits and
        diagnostics are located in a draft of this id. What is still wrong with it is an error.
        """
        draft = Draft(id, call)
        self._run_rules(draft, self._context(call.tool), sources)
        return draft

    def _run_rules(
        self, draft: Draft, context: SchemaContext | None, sources: ProvenanceIndex | None
    ) -> None:
        id, given, drafts = draft.id, draft.call.arguments, Drafts.of(draft)
        if context is None:
            found = violations.unknown_tool(draft.call.tool, self._tools)
            drafts.apply(Change(diagnostics=[from_violation(found, Location(id, NAME))]))
            return
        is_read = isinstance(given, str) or draft.is_right is not None
        unreadable = "" if is_read else explain_unwritable(given, MAX_DEPTH)
        if unreadable:
            found = say_unreadable(unreadable)
            said = from_violation(found, in_arguments(id))
            drafts.apply(Change(diagnostics=[said], closed={id}))
            return
        if not is_valid_draft(draft, context):
            run_without_questions(run_rules(LOSSLESS_RULES, drafts, context))
            if draft.is_closed:
                return
            if not is_valid_draft(draft, context):
                lost = context.find_lost_keys(draft.arguments)
                found_errors = violations.located_errors(
                    context.schema, draft.arguments, [edit.pointer for edit in lost]
                )
                drafts.apply(Change(diagnostics=from_located(id, found_errors)))
                return
        if sources is not None:
            grounded = context.with_sources(sources)
            run_without_questions(run_rules(PROVENANCE_RULES, drafts, grounded))

    def as_written(self, call: ToolCall, *, unchecked: bool = False) -> CheckedCall | Refusal:
        """Let the call through as the model wrote it if its schema accepts it so, or say why not;
        nothing is repaired, dropped, or asked for its source. A key that the schema leaves open goes
        with it. Arguments in text are read as strict JSON. ``unchecked``: whatever the schema says.
        For comparisons (:mod:`callwright.agent.strategies.ablations`).
        """
        context = self._context(call.tool)
        if context is None:
            return Refusal(call, None, None, (violations.unknown_tool(call.tool, self._tools),))
        tool = context.tool
        try:
            arguments = parse(call.arguments) if isinstance(call.arguments, str) else call.arguments
        except JsonError as exc:
            return Refusal(call, tool, None, (say_not_json(call.arguments, exc),))
        if not isinstance(arguments, dict):
            return Refusal(call, tool, None, (say_not_object(arguments),))
        if not (unchecked or context.schema.accepts(arguments)):
            return Refusal(call, tool, arguments, violations.from_errors(context.schema, arguments))
        notes = _warn_unasserted(context, arguments)
        return _seal(call, tool, arguments, (), notes, _write_any(arguments))

    def _context(self, name: str) -> SchemaContext | None:
        tool = self._tools.get(name)
        if tool is None:
            return None
        context = self._contexts.get(name)
        if context is None:
            context = self._contexts[name] = schema_context(tool)
        return context


def arguments_of(call: ToolCall) -> JsonObject | None:
    """A call's arguments as an object, text read as the gate reads it; None where they are none."""
    found = read_object(call.arguments)
    return None if isinstance(found, Violation) else found[0]


def verify_seal(call: CheckedCall) -> None:
    """Raise TypeError where this is not, value for value, what the gate sealed."""
    seal, id, tool, text = getattr(call, "_proof", (None, "", None, b""))
    if seal is not _SEAL or id != call.id or tool is not call.tool:
        raise TypeError("only the gate makes a CheckedCall: call callwright.Gate.check()")
    if text != _write_any(call.arguments):
        raise TypeError(
            f"the arguments of call {id!r} of '{tool.name}' were changed after the gate checked"
            " them: make another ToolCall and check that"
        )


def take_arguments(call: CheckedCall) -> JsonObject:
    """A sealed call's arguments as an object of the taker's own: what it does to them changes no
    call and no record. Raises TypeError as :func:`verify_seal` does.
    """
    verify_seal(call)
    return {key: _copy_json(value) for key, value in call.arguments.items()}


def _copy_json(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _copy_json(member) for key, member in value.items()}
    return [_copy_json(member) for member in value] if isinstance(value, list | tuple) else value


_SEAL = object()  # held by this module alone
_put_id, _put_tool, _put_arguments, _put_edits, _put_warnings, _put_slot, _put_proof = (
    getattr(CheckedCall, field.name).__set__ for field in fields(CheckedCall)
)


def _seal(
    call: ToolCall,
    tool: Tool,
    arguments: JsonObject,
    edits: tuple[Edit, ...],
    warnings: tuple[Violation, ...],
    text: bytes,
) -> CheckedCall:
    """The one way in which a CheckedCall is made. ``text`` is the JSON of the arguments."""
    made = object.__new__(CheckedCall)
    _put_id(made, call.id)
    _put_tool(made, tool)
    _put_arguments(made, arguments)
    _put_edits(made, edits)
    _put_warnings(made, warnings)
    _put_slot(made, call.slot)
    _put_proof(made, (_SEAL, call.id, tool, text))
    return made


def _write_any(arguments: JsonObject) -> bytes:
    text = write_as_it_stands(arguments)
    return write(arguments) if text is None else text


def _build_verdict(
    call: ToolCall, draft: Draft, context: SchemaContext | None, before: tuple[Edit, ...]
) -> CheckedCall | Refusal:
    """A draft as the gate's results show it: sealed, or refused."""
    edits = before
    for at, old, new, rule, *_ in draft.edits:
        edits += (Edit(_render_argument_path(at), old, new, rule),)
    errors = _render_violations(draft, "error")
    if context is None:
        return Refusal(call, None, None, errors, edits)
    if errors:
        arguments = None if draft.is_closed else draft.arguments
        return Refusal(call, context.tool, arguments, errors, edits)
    arguments = draft.arguments
    warnings = (*_render_violations(draft, "warning"), *_warn_unasserted(context, arguments))
    return _seal(call, context.tool, arguments, edits, warnings, _write_any(arguments))


def _render_violations(draft: Draft, severity: Severity) -> tuple[Violation, ...]:
    if not draft.diagnostics:
        return ()
    found = [d for d in draft.diagnostics if d.severity == severity]
    return tuple([d.to_violation(_render_argument_path(d.location)) for d in found])


def _render_argument_path(location: Location) -> str:
    """The pointer into the arguments; "" for what is no part of them."""
    return render_pointer(location.argument or ())


def _warn_unasserted(context: SchemaContext, arguments: JsonObject) -> tuple[Violation, ...]:
    """That not all of the schema was asserted of the arguments, if so."""
    parts = context.schema.unasserted_of(arguments)
    return (violations.build_unasserted_note(context.tool.name, parts),) if parts else ()
