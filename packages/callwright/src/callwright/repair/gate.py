"""The schema gate (RETO Eq. 11): the one door between what a model wrote and what a tool receives.

The exact check comes first, so that a call which is right is never touched. Only then: text to
object, lossless conversions, renames, unknown keys, and the check again. What still fails is a
:class:`Refusal` that says why.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field

from callwright.jsontext import JsonError, parse, parse_lenient, unwritable
from callwright.nouns.errors import Violation
from callwright.nouns.types import SEAL, CheckedCall, Edit, Json, JsonObject, Tool, ToolCall
from callwright.repair.provenance.grounding import ground
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.schema import keys, violations
from callwright.schema.coerce import coerce
from callwright.schema.compiled import Compiled, compiled_for

MAX_DEPTH = 200  # levels of arguments: what walks along them may call itself so often


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


@dataclass(frozen=True, slots=True)
class _Entry:
    tool: Tool
    schema: Compiled
    # the only keys a call may have, where the schema leaves it open
    declared: frozenset[str] | None


@dataclass(slots=True)
class _CheckedDraft:
    """Arguments on their way through the gate, with every change made so far."""

    arguments: JsonObject
    edits: list[Edit] = field(default_factory=list)


class Gate:
    """Checks calls of the given tools. Schemas are compiled on first use and shared by all gates of
    the process.
    """

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._entries: dict[str, _Entry] = {}

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(self._tools.values())

    def only(self, names: Container[str]) -> Gate:
        """The same gate with fewer tools in view. What is compiled for one of the two serves the
        other.
        """
        view = Gate(tool for name, tool in self._tools.items() if name in names)
        view._entries = self._entries
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
        entry = self._entry(call.tool)
        if entry is None:
            return Refusal(call, None, None, (violations.unknown_tool(call.tool, self._tools),))
        unreadable = (
            "" if isinstance(call.arguments, str) else unwritable(call.arguments, MAX_DEPTH)
        )
        if unreadable:
            return Refusal(call, entry.tool, None, (_unreadable(unreadable),))
        arguments: Json = call.arguments
        edits: tuple[Edit, ...] = ()
        if type(arguments) is not dict or not _exact(entry, arguments):
            found = self._mended(call, entry)
            if isinstance(found, Refusal):
                return found
            arguments, edits = found.arguments, tuple(found.edits)
        if sources is None:
            return CheckedCall(
                call.id, entry.tool, arguments, edits, _notes(entry, arguments), call.slot, SEAL
            )
        return self._grounded(call, entry, arguments, edits, sources)

    def as_written(self, call: ToolCall, *, unchecked: bool = False) -> CheckedCall | Refusal:
        """Let the call through as the model wrote it if its schema accepts it so, or say why not;
        nothing is mended, dropped, or asked for its source. A key that the schema leaves open goes
        with it. Arguments in text are read as strict JSON. ``unchecked``: whatever the schema says.
        For comparisons (:mod:`callwright.agent.strategies.ablations`).
        """
        entry = self._entry(call.tool)
        if entry is None:
            return Refusal(call, None, None, (violations.unknown_tool(call.tool, self._tools),))
        try:
            arguments = parse(call.arguments) if isinstance(call.arguments, str) else call.arguments
        except JsonError as exc:
            return Refusal(call, entry.tool, None, (_not_json(call.arguments, exc),))
        if not isinstance(arguments, dict):
            return Refusal(call, entry.tool, None, (_not_object(arguments),))
        if not (unchecked or entry.schema.accepts(arguments)):
            return Refusal(
                call, entry.tool, arguments, violations.from_errors(entry.schema, arguments)
            )
        return CheckedCall(
            call.id, entry.tool, arguments, (), _notes(entry, arguments), call.slot, SEAL
        )

    def _entry(self, name: str) -> _Entry | None:
        tool = self._tools.get(name)
        if tool is None:
            return None
        entry = self._entries.get(name)
        if entry is None:
            entry = self._entries[name] = _entry_for(tool)
        return entry

    def _mended(self, call: ToolCall, entry: _Entry) -> _CheckedDraft | Refusal:
        """Everything that may be done to a call which is not right as it stands."""
        read = _as_object(call.arguments)
        if isinstance(read, Violation):
            return Refusal(call, entry.tool, None, (read,))
        if isinstance(call.arguments, str) and (
            unreadable := unwritable(read.arguments, MAX_DEPTH)
        ):
            return Refusal(call, entry.tool, None, (_unreadable(unreadable),))
        draft = read
        if draft.arguments is not call.arguments and _exact(entry, draft.arguments):
            return draft
        for convert in (_convert, _rename):
            convert(draft, entry.schema)
            if _exact(entry, draft.arguments):
                return draft
        kept, edits = keys.drop(draft.arguments, entry.schema.root)
        if _exact(entry, kept):
            return _CheckedDraft(kept, [*draft.edits, *edits])
        found = violations.from_errors(entry.schema, draft.arguments)
        return Refusal(call, entry.tool, draft.arguments, found, tuple(draft.edits))

    def _grounded(
        self,
        call: ToolCall,
        entry: _Entry,
        arguments: JsonObject,
        edits: tuple[Edit, ...],
        sources: ProvenanceIndex,
    ) -> CheckedCall | Refusal:
        verdict = ground(arguments, entry.tool, sources, entry.schema.accepts)
        edits = (*edits, *verdict.edits)
        if verdict.violations:
            return Refusal(call, entry.tool, verdict.arguments, verdict.violations, edits)
        warnings = (*verdict.warnings, *_notes(entry, verdict.arguments))
        return CheckedCall(call.id, entry.tool, verdict.arguments, edits, warnings, call.slot, SEAL)


def _entry_for(tool: Tool) -> _Entry:
    closed = (
        isinstance(tool.input_schema, dict)
        and tool.input_schema.get("additionalProperties") is False
    )
    return _Entry(
        tool, compiled_for(tool), None if closed else keys.declared_keys(tool.input_schema)
    )


def _notes(entry: _Entry, arguments: JsonObject) -> tuple[Violation, ...]:
    """That not all of the schema was asserted of the arguments, if so."""
    parts = entry.schema.unasserted_of(arguments)
    return (violations.unasserted(entry.tool.name, parts),) if parts else ()


def _exact(entry: _Entry, arguments: JsonObject) -> bool:
    """Whether the arguments are right as they stand: valid, and no key that the tool does not
    know.
    """
    if entry.declared is not None and not arguments.keys() <= entry.declared:
        return False
    return entry.schema.accepts(arguments)


def _convert(draft: _CheckedDraft, schema: Compiled) -> None:
    """Lossless conversions."""
    draft.arguments, edits = coerce(draft.arguments, schema)
    draft.edits += edits


def _rename(draft: _CheckedDraft, schema: Compiled) -> None:
    """Renames, then conversions of what was renamed."""
    draft.arguments, renames = keys.rename(draft.arguments, schema.root)
    if renames:
        draft.edits += renames
        _convert(draft, schema)


def _as_object(arguments: Json) -> _CheckedDraft | Violation:
    """The arguments as an object. Text is parsed, unwrapped where it was encoded twice, mended
    where it is broken.
    """
    if isinstance(arguments, dict):
        return _CheckedDraft(arguments)
    if arguments is None or (isinstance(arguments, str) and arguments.strip() in ("", "null")):
        return _CheckedDraft({}, [Edit("", arguments, {}, "empty_arguments")])
    if not isinstance(arguments, str):
        return _not_object(arguments)
    try:
        value = parse(arguments)
        edits = []
        if isinstance(value, str):
            value = parse(value)
            edits = [Edit("", arguments, value, "unwrap_json")]
        return _CheckedDraft(value, edits) if isinstance(value, dict) else _single(value, arguments)
    except JsonError:
        return _from_broken(arguments)


def arguments_of(call: ToolCall) -> JsonObject | None:
    """A call's arguments as an object, text read as the gate reads it; None where they are none."""
    read = _as_object(call.arguments)
    return None if isinstance(read, Violation) else read.arguments


def _single(value: Json, arguments: str) -> _CheckedDraft | Violation:
    """A list of one object is that object."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        return _CheckedDraft(value[0], [Edit("", arguments, value[0], "list_to_single")])
    return _not_object(value)


def _from_broken(arguments: str) -> _CheckedDraft | Violation:
    try:
        mended = parse_lenient(arguments)
        if isinstance(mended.value, str):
            mended = parse_lenient(mended.value)
    except JsonError as exc:
        return _not_json(arguments, exc)
    if mended.truncated:
        said = (
            "The arguments stop in the middle: the JSON object is never closed. Give the whole"
            " object again."
        )
        return Violation("truncated", said, "", "", "object", arguments)
    if not isinstance(mended.value, dict):
        return _single(mended.value, arguments)
    return _CheckedDraft(mended.value, [Edit("", arguments, mended.value, "mend_json")])


def _not_json(arguments: Json, error: JsonError) -> Violation:
    return Violation(
        "not_json", f"The arguments are not a JSON object: {error}.", "", "", "object", arguments
    )


def _unreadable(why: str) -> Violation:
    return Violation("schema", f"The arguments cannot be read: {why}.", "", "", None, None)


def _not_object(value: Json) -> Violation:
    said = f"The arguments must be a JSON object, not {type(value).__name__}."
    return Violation("not_json", said, "", "type", "object", value)
