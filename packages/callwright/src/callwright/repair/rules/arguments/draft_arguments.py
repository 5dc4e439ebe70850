"""The arguments of one call while a rule works on them."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from callwright.dataflow.lookups import find_lookups
from callwright.language import ENGLISH
from callwright.nouns.errors import ViolationKind
from callwright.nouns.types import Json, JsonObject, to_canonical_json
from callwright.nouns.wire_names import EditRule, EditRules
from callwright.repair.diagnostics import MISSING
from callwright.repair.draft import Change, Draft
from callwright.repair.location import in_arguments
from callwright.repair.rules import extracted, formats, schema_echo
from callwright.repair.rules.extracted_siblings import list_partner_values
from callwright.repair.rules.number_spellings import spell_as_said
from callwright.repair.rules.reply_context import ReplyContext
from callwright.repair.rules.sure_repairs import says_of_what
from callwright.schema.coerce import coerce_value
from callwright.schema.compiled import Compiled, compiled_for
from callwright.schema.value_edits import ValueEdit, render_pointer
from callwright.schema.value_spellings import NONE

_OPTIONAL = ENGLISH.pattern("values.optional")


class DraftArguments:
    """The arguments of one draft while a rule works on them, and the rule's change so far.

    References to other calls are set aside. ``others`` are the arguments of the reply's other
    calls: their values are spoken for. ``referring`` are parameters that hold references to other
    calls.
    """

    def __init__(self, draft: Draft, context: ReplyContext) -> None:
        self.id, self.call, self.errors = draft.id, draft.call, draft.errors
        self._draft, self._context = draft, context
        self.situation = context.situation
        self.tool = context.situation.by_name[draft.call.tool]
        self.arguments = draft.arguments
        self.writes = self.tool.effects.declares_write
        self.referring = context.referring(draft)
        self.change = Change()
        self._looked_up: dict[str, tuple[JsonObject, extracted.Candidate | None]] = {}

    @cached_property
    def others(self) -> list[JsonObject]:
        """The arguments of the reply's other calls."""
        return self._context.other_arguments(self._draft)

    def build_change(self) -> Change | None:
        """Return the change, if there is one."""
        if self.arguments is not self._draft.arguments:
            self.change.calls[self.id] = replace(self.call, arguments=self.arguments)
        return self.change if self.change else None

    # ------------------------------------------------------------ the schema

    def needs(self, key: str) -> bool:
        """Return True if a parameter must have a value. If a schema has no list of required
        parameters, every parameter without a default counts, unless its description calls it
        optional.
        """
        if "required" in self.tool.input_schema:
            return key in self.tool.required
        part = self.get_part(key)
        return "default" not in part and not _OPTIONAL.search(str(part.get("description") or ""))

    def get_part(self, key: str) -> JsonObject:
        """The schema of a parameter; empty where it is none."""
        part = self.tool.properties.get(key)
        return part if isinstance(part, dict) else {}

    def accepts(self, key: str, value: Json) -> bool:
        """Return True if the schema of a parameter takes a value."""
        child = self.compiled.root.property(key)
        return child is None or child.resolved().accepts(value)

    @property
    def compiled(self) -> Compiled:
        """The schema of all arguments."""
        return compiled_for(self.tool)

    def coerce(self, arguments: JsonObject) -> tuple[JsonObject, tuple[ValueEdit, ...]]:
        """The lossless conversions, with numbers that become texts as they were said."""
        value, edits = coerce_value(arguments, self.compiled)
        return spell_as_said(value, edits, self.situation.said, self.compiled.accepts)

    # ------------------------------------------------------------ what was said

    @property
    def unknown(self) -> list[str]:
        """The required parameters whose value nobody has said, as far as is known by now."""
        found = [d.location.pointer for d in self.change.diagnostics if d.rule == MISSING]
        return [*self._draft.missing, *(str(pointer[-1]) for pointer in found)]

    def is_grounded(self, value: Json) -> bool:
        """Return True if an identifier was stated in one piece. One that is glued together from
        stated parts was invented.
        """
        sources = self.situation.sources
        return sources.holds(value) and (not isinstance(value, str) or sources.holds_whole(value))

    def is_placeholder(self, key: str, value: Json, part: Json) -> bool:
        """Return True if a value only stands for one."""
        if not schema_echo.may_be_placeholder(value, part):
            return False
        return schema_echo.is_placeholder(
            key, value, part, self.situation.sources, self.situation.low
        )

    def find_extracted(self, key: str) -> extracted.Candidate | None:
        """Return the value that the conversation states for a parameter, if its schema accepts it
        and it is sure enough. It is looked up once as long as the arguments stay the same.
        """
        known = self._looked_up.get(key)
        if known is None or known[0] is not self.arguments:
            known = self._looked_up[key] = (self.arguments, self._look_up(key))
        return known[1]

    def _look_up(self, key: str) -> extracted.Candidate | None:
        part = self.tool.properties.get(key)
        if not self.situation.informed or not isinstance(part, dict):
            return None
        used = [v for k, v in self.arguments.items() if k != key]
        used += [v for other in self.others for v in other.values()]
        siblings = self._context.sibling_arguments(self._draft)
        alike = [s[key] for s in siblings if key in s]
        found = extracted.extract_value(
            key, part, self.situation.talk, used, alike, list_partner_values(key, self.arguments)
        )
        if found is None or not self.accepts(key, found.value):
            return None
        spelled = formats.convert_to_documented(found.value, part)
        found = extracted.Candidate(found.value if spelled is NONE else spelled, found.kind)
        sure = found.confidence(alone=not self.others)
        is_named = found.is_named and says_of_what(key)
        is_named = is_named and not (self.writes and self._may_name_another(key, found.value))
        is_guess = self.writes and not (is_named and self._is_said_for_one(key, found, used))
        if is_guess or sure < self.situation.settings.least:
            said = f"'{key}' may be {to_canonical_json(found.value)[:80]}, the only such value that was said"
            self.abstain(key, sure, found.value, said)
            return None
        return found

    def _may_name_another(self, key: str, value: Json) -> bool:
        """Return True for a value without a figure where a read that is offered gives identifiers:
        in "the order of Hansen Bygg" it is the customer's name and no order's number.
        """
        lookups = find_lookups(self.situation.tools).get(self.tool.name, {})
        return key in lookups and not any(map(str.isdigit, str(value)))

    def _is_said_for_one(self, key: str, found: extracted.Candidate, used: list[Json]) -> bool:
        """Return False if the conversation states a value for another parameter as well, which the
        call lacks or has it for: "account A-1" for ``from_account`` and ``to_account``.
        """
        for other, part in self.tool.properties.items():
            is_free = self.arguments.get(other, found.value) == found.value
            if other == key or not is_free or not isinstance(part, dict):
                continue
            rival = extracted.extract_value(other, part, self.situation.talk, used)
            if rival is not None and rival.is_named and rival.value == found.value:
                return False
        return True

    # ------------------------------------------------------------ changes and reports

    def take(self, key: str, found: extracted.Candidate) -> None:
        """Fill in what was said, and say that it was taken from there: one in ten such values may
        be another's.
        """
        sure, kind = found.confidence(alone=not self.others), found.kind.replace("_", " ")
        self.edit(key, found.value, EditRules.EXTRACTED_VALUE, sure)
        name = render_pointer((key,))[1:]
        said = f"'{name}' was taken from what was said ({kind}); check it"
        self.abstain(key, sure, found.value, said)

    def edit(self, key: str, value: Json, rule: EditRule, confidence: float) -> None:
        """Give a parameter another value."""
        place, before = in_arguments(self.id, key), self.arguments.get(key)
        self.arguments = {**self.arguments, key: value}
        self.change.list_edit(place, before, value, rule, confidence)

    def drop(self, key: str, rule: EditRule, confidence: float) -> None:
        """Leave an argument out."""
        place, before = in_arguments(self.id, key), self.arguments.get(key)
        self.arguments = {k: v for k, v in self.arguments.items() if k != key}
        self.change.list_edit(place, before, None, rule, confidence)

    def report(self, kind: ViolationKind, key: str, message: str, keyword: str, got: Json) -> None:
        """Report an error in an argument."""
        self.change.report(kind, in_arguments(self.id, key), message, keyword, got)

    def report_unknown(self, key: str, keyword: str) -> None:
        """Report a required argument that holds no value, where nothing said gives one."""
        value = self.arguments[key]
        said = (
            f"'{key}' holds {to_canonical_json(value)[:80]} instead of a value, and nothing said gives"
            " the real one."
        )
        self.change.note_missing(self.id, key)
        self.report("ungrounded", key, said, keyword, value)

    def abstain(self, key: str, confidence: float, candidate: Json, reason: str) -> None:
        """Note what may be wrong with an argument, and leave it."""
        place = in_arguments(self.id, key)
        self.change.hint(place, reason + ".", round(confidence, 3), candidate)
