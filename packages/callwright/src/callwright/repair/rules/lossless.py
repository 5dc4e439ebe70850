"""The gate's rules: text becomes the object that it is, values and keys are spelled as the schema
spells them, and keys that no tool knows are dropped. Nothing is lost or made up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias
from weakref import WeakKeyDictionary

from callwright.jsontext import JsonError, explain_unwritable, parse, parse_lenient
from callwright.nouns.errors import Violation
from callwright.nouns.types import Json, JsonObject, Tool, ToolCall
from callwright.nouns.wire_names import EditRules
from callwright.repair.diagnostics import from_violation
from callwright.repair.draft import Change, Draft
from callwright.repair.location import in_arguments
from callwright.repair.pipeline import order_rules
from callwright.repair.provenance.grounding import ground_arguments
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.rule import Need, Rule, call_rule
from callwright.repair.rules.sure_repairs import are_sure, find_lost_keys
from callwright.schema import keys
from callwright.schema.coerce import coerce_value
from callwright.schema.compiled import Compiled, compiled_for
from callwright.schema.value_edits import ValueEdit

MAX_DEPTH = 200  # levels of arguments: what walks along them may call itself so often
NEEDS_SCHEMA: frozenset[Need] = frozenset({"schema"})
NEEDS_RESULTS: frozenset[Need] = frozenset({"schema", "results"})

ReadArguments: TypeAlias = tuple[JsonObject, ValueEdit | None]
"""Arguments as an object, and how they became one."""


@dataclass(frozen=True, slots=True)
class SchemaContext:
    """A tool's schema, and where values may come from. The check is the exact one: valid, and no
    key that the tool does not know.
    """

    tool: Tool
    schema: Compiled
    declared: (
        frozenset[str] | None
    )  # the only keys a call may have, where the schema leaves it open
    sources: ProvenanceIndex | None = None

    @property
    def has(self) -> frozenset[Need]:
        """The schema, and results where there are sources."""
        return NEEDS_SCHEMA if self.sources is None else NEEDS_RESULTS

    def with_sources(self, sources: ProvenanceIndex) -> SchemaContext:
        """The same schema, with where values may come from."""
        return SchemaContext(self.tool, self.schema, self.declared, sources)

    def accepts(self, arguments: JsonObject) -> bool:
        """Return True if the arguments are right as they stand."""
        if self.declared is not None and not arguments.keys() <= self.declared:
            return False
        return self.schema.accepts(arguments)

    def find_lost_keys(self, arguments: JsonObject) -> list[ValueEdit]:
        """The unknown keys that are not dropped, because a write may do something else then."""
        return find_lost_keys(arguments, self.schema.root, self.tool)

    def is_right(self, draft: Draft) -> bool:
        """Return True if a draft's arguments are right as they stand."""
        arguments = draft.call.arguments
        return isinstance(arguments, dict) and self.accepts(arguments)

    def is_open(self, _: Draft) -> bool:
        """Every draft: there is no other reason to act than the schema's."""
        return True


def schema_context(tool: Tool) -> SchemaContext:
    """The check of one tool's calls."""
    compiled = compiled_for(tool)
    declared = _declared.get(compiled)
    if declared is None:
        schema = tool.input_schema
        closed = isinstance(schema, dict) and schema.get("additionalProperties") is False
        declared = (None if closed else keys.declared_keys(schema),)
        _declared[compiled] = declared
    return SchemaContext(tool, compiled, declared[0])


_declared: WeakKeyDictionary[Compiled, tuple[frozenset[str] | None]] = WeakKeyDictionary()
"""The only keys that calls may have, of each compiled schema: gates are made anew for every reply,
and schemas are not.
"""


# ---------------------------------------------------------------- rules


def read_arguments(draft: Draft, _: object) -> Change | None:
    """Read arguments that came as text; close a draft whose arguments are no object."""
    if isinstance(draft.call.arguments, dict):
        return None
    found = read_object(draft.call.arguments)
    if not isinstance(found, Violation):
        unreadable = (
            explain_unwritable(found[0], MAX_DEPTH) if isinstance(draft.call.arguments, str) else ""
        )
        found = say_unreadable(unreadable) if unreadable else found
    if isinstance(found, Violation):
        said = from_violation(found, in_arguments(draft.id))
        return Change(diagnostics=[said], closed={draft.id})
    arguments, edit = found
    change = set_arguments(draft, arguments)
    change.list_values(draft.id, [edit] if edit is not None else [])
    return change


def convert_values(draft: Draft, context: SchemaContext) -> Change | None:
    """Lossless conversions."""
    value, edits = coerce_value(draft.arguments, context.schema)
    if (not edits and value is draft.arguments) or not are_sure(edits, context.tool):
        return None
    if not isinstance(value, dict):  # a schema that would have a list: arguments are an object
        return None
    change = set_arguments(draft, value)
    change.list_values(draft.id, edits)
    return change


def rename_keys(draft: Draft, context: SchemaContext) -> Change | None:
    """Renames, then conversions of what was renamed."""
    value, renames = keys.rename_keys(draft.arguments, context.schema.root)
    if not renames or not are_sure(renames, context.tool, draft.arguments):
        return None
    value, edits = coerce_value(value, context.schema)
    if not isinstance(value, dict):
        return None
    change = set_arguments(draft, value)
    change.list_values(draft.id, [*renames, *edits])
    return change


def drop_unknown_keys(draft: Draft, context: SchemaContext) -> Change | None:
    """Keys that the tool does not know are left out, if the call is right then, and if a write does
    not lose what they say.
    """
    kept, edits = keys.drop_keys(draft.arguments, context.schema.root)
    if not context.accepts(kept) or context.find_lost_keys(draft.arguments):
        return None
    change = set_arguments(draft, kept)
    change.list_values(draft.id, edits)
    return change


def ground_values(draft: Draft, context: SchemaContext) -> Change | None:
    """Apply provenance to a call that its schema accepts."""
    if context.sources is None:
        return None
    return ground_arguments(draft, context.tool, context.sources, context.schema.accepts)


LOSSLESS_RULES: tuple[Rule[SchemaContext], ...] = order_rules(
    (
        call_rule("arguments_as_text", 0, read_arguments, "wrong"),
        call_rule("conversion", 10, convert_values, "wrong"),
        call_rule("rename_key", 20, rename_keys, "wrong"),
        call_rule("drop_unknown", 30, drop_unknown_keys, "wrong"),
    )
)
PROVENANCE_RULES: tuple[Rule[SchemaContext], ...] = (
    call_rule("grounding", 90, ground_values, needs=NEEDS_RESULTS),
)
"""The gate's two lists: the second is for calls that the first one's check accepts."""


def set_arguments(draft: Draft, arguments: JsonObject) -> Change:
    """The change of a draft's arguments, its edits yet to be listed."""
    call = draft.call
    made = ToolCall(call.id, call.tool, arguments, call.slot)
    return Change(calls={draft.id: made})


# ---------------------------------------------------------------- arguments as text


def read_object(arguments: Json) -> ReadArguments | Violation:
    """The arguments as an object. Text is parsed, unwrapped where it was encoded twice, repaired
    where it is broken.
    """
    if isinstance(arguments, dict):
        return arguments, None
    if arguments is None or (isinstance(arguments, str) and arguments.strip() in ("", "null")):
        return {}, ValueEdit((), arguments, {}, EditRules.EMPTY_ARGUMENTS)
    if not isinstance(arguments, str):
        return say_not_object(arguments)
    try:
        value, edit = parse(arguments), None
        if isinstance(value, str):
            value = parse(value)
            edit = ValueEdit((), arguments, value, EditRules.UNWRAP_JSON)
        return (value, edit) if isinstance(value, dict) else _read_single(value, arguments)
    except JsonError:
        return _read_broken(arguments)


def _read_single(value: Json, arguments: str) -> ReadArguments | Violation:
    """A list of one object is that object."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        return value[0], ValueEdit((), arguments, value[0], EditRules.LIST_TO_SINGLE)
    return say_not_object(value)


def _read_broken(arguments: str) -> ReadArguments | Violation:
    try:
        found = parse_lenient(arguments)
        if isinstance(found.value, str):
            found = parse_lenient(found.value)
    except JsonError as exc:
        return say_not_json(arguments, exc)
    if found.truncated:
        said = (
            "The arguments stop in the middle: the JSON object is never closed. Give the whole"
            " object again."
        )
        return Violation("truncated", said, "", "", "object", arguments)
    if not isinstance(found.value, dict):
        return _read_single(found.value, arguments)
    return found.value, ValueEdit((), arguments, found.value, EditRules.REPAIR_JSON)


def say_not_json(arguments: Json, error: JsonError) -> Violation:
    """The violation of text that is no JSON."""
    said = f"The arguments are not a JSON object: {error}."
    return Violation("not_json", said, "", "", "object", arguments)


def say_unreadable(why: str) -> Violation:
    """The violation of arguments that no JSON can say, or that are nested too deep."""
    return Violation("schema", f"The arguments cannot be read: {why}.", "", "", None, None)


def say_not_object(value: Json) -> Violation:
    """The violation of JSON that is no object."""
    said = f"The arguments must be a JSON object, not {type(value).__name__}."
    return Violation("not_json", said, "", "type", "object", value)
