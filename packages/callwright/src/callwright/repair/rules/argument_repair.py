"""One call's arguments repaired by rules, surest rules first; what is left is reported."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

from callwright.dataflow.flow import GENERIC, split_words
from callwright.language import ENGLISH
from callwright.nouns.errors import ViolationKind
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Json, JsonObject, to_canonical_json
from callwright.nouns.wire_names import EditRule, EditRules
from callwright.repair.diagnostics import MISSING
from callwright.repair.draft import Change, Draft, LocatedEdit
from callwright.repair.location import in_arguments
from callwright.repair.provenance.grounding import classify_value, is_identifier
from callwright.repair.rule import Rule, When, call_rule
from callwright.repair.rules import (
    extracted,
    formats,
    parameters,
    schema_echo,
)
from callwright.repair.rules.extracted_siblings import list_partner_values
from callwright.repair.rules.number_spellings import spell_as_said
from callwright.repair.rules.reply_context import ReplyContext
from callwright.repair.rules.sure_repairs import are_sure, says_of_what
from callwright.schema import keys
from callwright.schema.coerce import coerce_value, get_types
from callwright.schema.compiled import Compiled, compiled_for
from callwright.schema.value_edits import ValueEdit, render_pointer
from callwright.schema.value_spellings import NONE

ECHO, PLACEHOLDER, UNWRAP, STATED = (
    EditRules.SCHEMA_ECHO,
    EditRules.PLACEHOLDER,
    EditRules.UNWRAP_ARGUMENTS,
    EditRules.EXTRACTED_VALUE,
)
LEFT_OUT = EditRules.DROP_UNSOURCED
UNWRAPPED = threshold("callwright.repair", "arguments.unwrap_arguments")
ECHO_VALUE = threshold("callwright.repair", "arguments.echo_value")
ECHO_DEFAULT = threshold("callwright.repair", "arguments.echo_default")
NO_VALUE = threshold("callwright.repair", "arguments.echo_or_placeholder_left_out")
UNSOURCED = threshold("callwright.repair", "arguments_left_out.drop_unsourced")


_DAY_OR_TIME = re.compile(r"\d[-/:]\d")
_OPTIONAL = ENGLISH.pattern("values.optional")


class ArgumentRepair:
    """The arguments of one draft while a rule works on them, and the rule's change so far.

    References to other calls are set aside. ``others`` are the arguments of the reply's other
    calls: their values are spoken for. ``referring`` are parameters that hold references to other
    calls.
    """

    def __init__(self, draft: Draft, context: ReplyContext) -> None:
        self.draft = draft
        self.context = context
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
        return self.context.other_arguments(self.draft)

    def finished(self) -> Change | None:
        """The change, if there is one."""
        if self.arguments is not self.draft.arguments:
            self.change.calls[self.draft.id] = replace(self.draft.call, arguments=self.arguments)
        return self.change if self.change else None

    def needs(self, key: str) -> bool:
        """Return True if a parameter must have a value. If a schema has no list of required
        parameters, every parameter without a default counts, unless its description calls it
        optional.
        """
        if "required" in self.tool.input_schema:
            return key in self.tool.required
        part = self._part(key)
        return "default" not in part and not _OPTIONAL.search(str(part.get("description") or ""))

    @property
    def unknown(self) -> list[str]:
        """The required parameters whose value nobody has said, as far as is known by now."""
        found = [d.location.pointer for d in self.change.diagnostics if d.rule == MISSING]
        return [*self.draft.missing, *(str(pointer[-1]) for pointer in found)]

    def triggered(self) -> bool:
        """Return True if a value is a schema echo, a placeholder, or an ungrounded identifier."""
        return any(self._trigger(key, value) for key, value in self.arguments.items())

    def _trigger(self, key: str, value: Json) -> bool:
        part = self.tool.properties.get(key)
        if key in self.referring:
            return False
        if isinstance(value, dict | list):
            return (
                schema_echo.is_echo(value, part)
                or schema_echo.lists_every_option(value, part)
                or self._inner(key, value)
            )
        if isinstance(value, str) and (
            schema_echo.is_echo(value, part) or self._placeholder(key, value, part)
        ):
            return True
        if isinstance(value, str) and formats.convert_to_documented(value, part) is not NONE:
            return True
        informed = self.situation.informed
        if informed and is_identifier(key, value, part) and not self._held(value):
            return True
        return informed and self.situation.settings.leave_out and key not in self.tool.required

    def _inner(self, key: str, value: Json) -> bool:
        return isinstance(value, list) and any(
            isinstance(v, str) and self._placeholder(key, v, None) for v in value
        )

    def _placeholder(self, key: str, value: Json, part: Any) -> bool:
        if not schema_echo.may_be_placeholder(value, part):
            return False
        return schema_echo.is_placeholder(
            key, value, part, self.situation.sources, self.situation.low
        )

    # ------------------------------------------------------------ steps

    def unwrap(self) -> None:
        inner = schema_echo.unwrap_arguments(self.arguments, self.tool)
        if inner is not None:
            place = in_arguments(self.draft.id)
            self.change.list_edit(place, self.arguments, inner, UNWRAP, UNWRAPPED)
            self.arguments = inner

    def replace_echoes(self) -> None:
        for key in list(self.arguments):
            part, value = self.tool.properties.get(key), self.arguments[key]
            if schema_echo.lists_every_option(value, part) and not self._accepts(key, value):
                self._take_back(key, ECHO)
            elif self._is_echo(key, value):
                inner = schema_echo.extract_echoed_value(value, part)
                if inner is not NONE:
                    self._edit(key, inner, ECHO, ECHO_VALUE)
                else:
                    self._take_back(key, ECHO)

    def replace_placeholders(self) -> None:
        for key, value in list(self.arguments.items()):
            part = self.tool.properties.get(key)
            if (
                key in self.referring
                or not isinstance(value, str)
                or not self._placeholder(key, value, part)
            ):
                continue
            if not self._accepts(key, value):
                self._take_back(key, PLACEHOLDER)
            elif self._is_own_mark(key, value) and (found := self._stated_for(key)):
                self._take(key, found)
            else:
                self._doubt(key)

    def _is_own_mark(self, key: str, value: str) -> bool:
        """Return True if a value is a mark around its own parameter's name (``<city>``), and
        neither the tool's description nor another argument, such as a template, uses that mark.
        """
        if not schema_echo.is_own_mark(key, value, self.tool.properties.get(key)):
            return False
        others = {k: v for k, v in self.arguments.items() if k != key}
        used = f"{self.tool.description} {to_canonical_json(others)}".lower()
        return value.strip().lower() not in used

    def _doubt(self, key: str) -> None:
        """A value that looks like a placeholder but satisfies its schema stays, unless its mark
        holds the parameter's own name and the value is stated: somebody may mean just that.

        It is reported; a required one in marks (``<id>``) counts as unknown where nothing says what
        is meant.
        """
        value = self.arguments[key]
        if self.needs(key) and schema_echo.is_marked(value) and self._stated(key) is None:
            self._report_unknown(key, PLACEHOLDER)
        else:
            self._abstain(
                key,
                0.0,
                None,
                f"'{key}' is {to_canonical_json(value)[:80]}, which may stand for a value",
            )

    def _is_echo(self, key: str, value: Json) -> bool:
        """Return True if a parameter's schema stands in place of its value. It must be word for
        word, or the schema must refuse it.
        """
        part = self.tool.properties.get(key)
        if not schema_echo.is_echo(value, part):
            return False
        return schema_echo.repeats_schema(value, part) or not self._accepts(key, value)

    def _take_back(self, key: str, rule: EditRule) -> None:
        """Replace a value that is none with the one stated in the conversation. Otherwise a schema
        echo becomes the parameter's default, if it has one. Any other optional value is left out; a
        required one stays and is reported.
        """
        value = self.arguments[key]
        found = None if self._is_said_null(key) else self._stated(key)
        if found is not None:
            self._take(key, found)
        elif (
            rule == ECHO
            and "default" in self._part(key)
            and self._accepts(key, self._part(key)["default"])
        ):
            self._edit(key, self._part(key)["default"], rule, ECHO_DEFAULT)
            self._abstain(
                key,
                0.0,
                None,
                f"'{key}' held {to_canonical_json(value)[:80]}; it has its default now",
            )
        elif not self.needs(key) and (not self.writes or self._is_said_null(key)):
            self._drop(key, rule, NO_VALUE)
            self._abstain(
                key,
                0.0,
                None,
                f"'{key}' held {to_canonical_json(value)[:80]}; nothing said gives a value",
            )
        else:
            self._report_unknown(key, rule)

    def _is_said_null(self, key: str) -> bool:
        """Return True if an optional argument is null as text: the model left it open on purpose."""
        return schema_echo.is_null_text(self.arguments[key]) and not self.needs(key)

    def _report_unknown(self, key: str, keyword: str) -> None:
        """Report a required argument that holds no value, where nothing said gives one."""
        value = self.arguments[key]
        said = (
            f"'{key}' holds {to_canonical_json(value)[:80]} instead of a value, and nothing said gives"
            " the real one."
        )
        self.change.note_missing(self.draft.id, key)
        self._report("ungrounded", key, said, keyword, value)

    def read_numbers(self) -> None:
        """Numbers that came as text, as the user writes them."""
        for key, value in list(self.arguments.items()):
            part = self.tool.properties.get(key)
            is_place = not formats.COORDINATES.isdisjoint(split_words(key))
            if not isinstance(part, dict) or is_place or self._accepts(key, value):
                continue
            said, types = self.situation.asked, get_types(part)
            found = formats.parse_written_number(value, types, said, sure=self.writes)
            if found is not NONE and self._accepts(key, found):
                self._edit(key, found, formats.SAID, formats.CONFIDENCE[formats.SAID])

    def convert(self) -> None:
        """The gate's lossless conversions and renames."""
        schema = self._compiled()
        value, edits = self._coerce(self.arguments, schema)
        if not are_sure(edits, self.tool):
            value, edits = self.arguments, ()
        renamed, renames = keys.rename_keys(value, schema.root)
        more: tuple[ValueEdit, ...] = ()
        if not are_sure(renames, self.tool, value):
            renames = ()
        elif renames:
            value, more = self._coerce(renamed, schema)
        if edits or renames or more:
            self.arguments = value
            self.change.list_values(self.draft.id, (*edits, *renames, *more))

    def _coerce(
        self, arguments: JsonObject, schema: Compiled
    ) -> tuple[JsonObject, tuple[ValueEdit, ...]]:
        """The lossless conversions, with numbers that become texts as they were said."""
        value, edits = coerce_value(arguments, schema)
        return spell_as_said(value, edits, self.situation.said, schema.accepts)

    def assign(self) -> None:
        """Unknown keys given to the parameters they stand for."""
        schema = self._compiled()
        sure, unsure = parameters.pair_keys(self.arguments, schema.root)
        least = self.situation.settings.least
        for pair in sure:
            given = ValueEdit((), pair.given, pair.wanted, EditRules.RENAME_KEY)
            if pair.confidence < least or not are_sure([given], self.tool, self.arguments):
                self._abstain(
                    pair.given,
                    pair.confidence,
                    pair.wanted,
                    f"'{pair.given}' may stand for '{pair.wanted}'",
                )
                continue
            renamed = {pair.wanted if k == pair.given else k: v for k, v in self.arguments.items()}
            place = in_arguments(self.draft.id, pair.given)
            self.change.list_edit(place, pair.given, pair.wanted, parameters.RULE, pair.confidence)
            self.arguments, more = self._coerce(renamed, schema)
            self.change.list_values(self.draft.id, more)
        for pair in unsure:
            said = f"'{pair.given}' may stand for '{pair.wanted}'"
            self._abstain(pair.given, pair.confidence, pair.wanted, said)

    def respell(self) -> None:
        """Values that their own schema refuses, said as it wants them: options by meaning, numbers
        without unit.
        """
        for key, value in list(self.arguments.items()):
            part = self.tool.properties.get(key)
            if not isinstance(part, dict) or key in self.unknown or self._accepts(key, value):
                continue
            found, rule = NONE, formats.OPTION
            if isinstance(part.get("enum"), list):
                said = (
                    self.situation.informed
                    and isinstance(value, str)
                    and self.situation.sources.holds(value)
                )
                about = f"{key} {part.get('description') or ''}" if self.writes else None
                slips = not said and not self.writes
                found = formats.match_option(value, part["enum"], slips=slips, about=about)
            else:
                about = str(part.get("description") or "")
                found = formats.strip_unit(value, get_types(part), key, about, sure=self.writes)
                rule = formats.UNIT
                if found is NONE:
                    found, rule = formats.decimal_comma(value, get_types(part)), formats.COMMA
                if found is NONE and self.situation.informed:
                    found, rule = (
                        formats.parse_stated_number(
                            value, get_types(part), self.situation.sources.holds
                        ),
                        formats.SAID,
                    )
            if found is not NONE and self._accepts(key, found):
                self._edit(key, found, rule, formats.CONFIDENCE[rule])

    def fill_missing(self) -> None:
        for key in self.tool.required:
            if key not in self.arguments:
                found = self._stated(key)
                if found is not None:
                    self._take(key, found)
                else:
                    self.change.note_missing(self.draft.id, key)

    def trace_identifiers(self) -> None:
        """Identifiers that nothing said holds, days in another format than documented, values
        nothing supports.
        """
        informed, leave_out = self.situation.informed, self.situation.settings.leave_out
        for key, value in list(self.arguments.items()):
            part = self.tool.properties.get(key)
            if key in self.referring:
                continue
            spelled = formats.convert_to_documented(value, part)
            if spelled is not NONE and self._accepts(key, spelled):
                if self._accepts(key, value):
                    said = (
                        f"'{key}' is {to_canonical_json(value)[:80]}, which its description wants written"
                        " in another way"
                    )
                    self._abstain(key, formats.CONFIDENCE[formats.FORMAT], spelled, said)
                    continue
                self._edit(
                    key,
                    spelled,
                    formats.FORMAT,
                    formats.CONFIDENCE[formats.FORMAT],
                )
            if not informed or key in self.unknown or isinstance(value, dict | list):
                continue
            verdict = classify_value(key, value, part, self.situation.sources)
            if verdict == "held" and is_identifier(key, value, part) and not self._held(value):
                verdict = "identifier"
            if (
                leave_out
                and verdict in ("identifier", "invented", "derived")
                and self._may_go(key, value)
            ):
                self._drop(key, LEFT_OUT, UNSOURCED)
            elif verdict == "identifier":
                self._identifier(key, value)

    def _identifier(self, key: str, value: Json) -> None:
        found = self._stated(key)
        said = f"'{key}' is {to_canonical_json(value)[:80]}, an identifier that nothing said so far contains."
        if found is not None and found.kind == "labelled" and type(found.value) is type(value):
            if not self._accepts(key, value):
                self._take(key, found)
                return
            said += f" {to_canonical_json(found.value)[:80]} was said."
        self._report("ungrounded", key, said, "identifier", value)
        if self.needs(key):
            self.change.note_missing(self.draft.id, key)

    def finish(self) -> None:
        """The gate has the last word: what it still converts or drops is done, what it refuses is
        reported.
        """
        verdict = self.situation.gate.repair(self.draft.call, id=self.draft.id)
        if verdict.errors:
            known = {d.location for d in self.draft.errors}
            self.change.diagnostics += [d for d in verdict.errors if d.location not in known]
            return
        if not verdict.edits:
            return
        kept = {
            e.location: e
            for e in verdict.edits
            if e.rule == EditRules.DROP_UNKNOWN and self._worth_keeping(e)
        }
        self.change.edits += [e for e in verdict.edits if e.location not in kept]
        places = {place.pointer[-1] for place in kept}
        left = {k: v for k, v in self.arguments.items() if k in places}
        self.arguments = left | verdict.arguments
        for place, edit in kept.items():
            name = render_pointer(place.pointer[1:])[1:]
            said = (
                f"'{name}' is no parameter of '{self.tool.name}', but its value was asked for:"
                " left as it is."
            )
            keyword = "additionalProperties"
            self.change.report("schema", place, said, keyword, edit.before)

    def _worth_keeping(self, edit: LocatedEdit) -> bool:
        """Return True if an unknown key holds a requested value that no other argument holds. The
        schema must not forbid other keys.
        """
        value, pointer = edit.before, edit.location.argument or ()
        if len(pointer) != 1 or self.tool.input_schema.get("additionalProperties") is False:
            return False
        if not self.situation.informed or not self.situation.sources.holds(value):
            return False
        kept = to_canonical_json([v for k, v in self.arguments.items() if k != pointer[0]])
        if re.search(rf"(?<![\w.]){re.escape(str(value))}(?![\w]|\.\d)", kept, re.I):
            return False  # it is there already
        if isinstance(value, str):
            return len(value.strip()) > 2
        numbers = {m[1] for m in self.situation.talk.numbers}
        return type(value) in (int, float) and str(value) in numbers

    # ------------------------------------------------------------ parts

    def _held(self, value: Json) -> bool:
        """Return True if an identifier was stated in one piece. One that is glued together from
        stated parts was invented.
        """
        sources = self.situation.sources
        return sources.holds(value) and (not isinstance(value, str) or sources.holds_whole(value))

    def _stated(self, key: str) -> extracted.Candidate | None:
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
        siblings = self.context.sibling_arguments(self.draft)
        alike = [s[key] for s in siblings if key in s]
        found = extracted.extract_value(
            key, part, self.situation.talk, used, alike, list_partner_values(key, self.arguments)
        )
        if found is None or not self._accepts(key, found.value):
            return None
        spelled = formats.convert_to_documented(found.value, part)
        found = extracted.Candidate(found.value if spelled is NONE else spelled, found.kind)
        sure = found.confidence(alone=not self.others)
        is_named = found.is_named and says_of_what(key)
        is_guess = self.writes and not (is_named and self._is_said_for_one(key, found, used))
        if is_guess or sure < self.situation.settings.least:
            said = f"'{key}' may be {to_canonical_json(found.value)[:80]}, the only such value that was said"
            self._abstain(key, sure, found.value, said)
            return None
        return found

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

    def _stated_for(self, key: str) -> extracted.Candidate | None:
        """Return the stated value that an accepted argument may give way to. An optional parameter
        takes only what was said for it, since its call can go without a value.
        """
        found = self._stated(key)
        return None if found is not None and found.is_leftover and not self.needs(key) else found

    def _take(self, key: str, found: extracted.Candidate) -> None:
        """Fill in what was said, and say that it was taken from there: one in ten such values may
        be another's.
        """
        sure, kind = found.confidence(alone=not self.others), found.kind.replace("_", " ")
        self._edit(key, found.value, STATED, sure)
        name = render_pointer((key,))[1:]
        said = f"'{name}' was taken from what was said ({kind}); check it"
        self._abstain(key, sure, found.value, said)

    def _part(self, key: str) -> JsonObject:
        part = self.tool.properties.get(key)
        return part if isinstance(part, dict) else {}

    def _accepts(self, key: str, value: Json) -> bool:
        child = self._compiled().root.property(key)
        return child is None or child.resolved().accepts(value)

    def _may_go(self, key: str, value: Json) -> bool:
        """Return True if an optional value can be left out. Nothing in the conversation concerns
        it, and the schema permits its absence.
        """
        if self.needs(key) or key not in self.arguments or self._alluded(key, value):
            return False
        kept = {k: v for k, v in self.arguments.items() if k != key}
        return self._compiled().accepts(kept) or not self._compiled().accepts(self.arguments)

    def _alluded(self, key: str, value: Json) -> bool:
        """Return True if the conversation mentions the parameter or has a word of the value. Days
        and times also count, since they are derived. So does a value that differs from the one in
        another call.
        """
        if isinstance(value, str) and _DAY_OR_TIME.search(value):
            return True
        if any(key in other and other[key] != value for other in self.others):
            return True
        about = [*split_words(key)]
        if isinstance(value, str):
            about += [*split_words(value), *filter(str.isalpha, formats.list_synonyms(value))]
        return any(
            len(w) > 3 and w not in GENERIC and self.situation.sources.mentions(w) for w in about
        )

    def _compiled(self) -> Compiled:
        return compiled_for(self.tool)

    def _edit(self, key: str, value: Json, rule: EditRule, confidence: float) -> None:
        place, before = in_arguments(self.draft.id, key), self.arguments.get(key)
        self.arguments = {**self.arguments, key: value}
        self.change.list_edit(place, before, value, rule, confidence)

    def _drop(self, key: str, rule: EditRule, confidence: float) -> None:
        place, before = in_arguments(self.draft.id, key), self.arguments.get(key)
        self.arguments = {k: v for k, v in self.arguments.items() if k != key}
        self.change.list_edit(place, before, None, rule, confidence)

    def _report(self, kind: ViolationKind, key: str, message: str, keyword: str, got: Json) -> None:
        self.change.report(kind, in_arguments(self.draft.id, key), message, keyword, got)

    def _abstain(self, key: str, confidence: float, candidate: Json, reason: str) -> None:
        place = in_arguments(self.draft.id, key)
        self.change.hint(place, reason + ".", round(confidence, 3), candidate)


def _argument_rule(
    id: str, cost: int, work: Callable[[ArgumentRepair], None], when: When
) -> Rule[ReplyContext]:
    """A rule that works on the arguments of every draft that it looks at."""

    def find(draft: Draft, context: ReplyContext) -> Change | None:
        repair = ArgumentRepair(draft, context)
        work(repair)
        return repair.finished()

    return call_rule(id, cost, find, when)


ARGUMENT_RULES: tuple[Rule[ReplyContext], ...] = (
    _argument_rule("unwrap_arguments", 100, ArgumentRepair.unwrap, "wrong"),
    _argument_rule("echoed_schema", 110, ArgumentRepair.replace_echoes, "open"),
    _argument_rule("written_number", 115, ArgumentRepair.read_numbers, "wrong"),
    _argument_rule("conversion", 120, ArgumentRepair.convert, "wrong"),
    _argument_rule("placeholder", 130, ArgumentRepair.replace_placeholders, "open"),
    _argument_rule("assign_key", 140, ArgumentRepair.assign, "wrong"),
    _argument_rule("value_spelling", 150, ArgumentRepair.respell, "wrong"),
    _argument_rule("stated_value", 160, ArgumentRepair.fill_missing, "open"),
    _argument_rule("identifier", 170, ArgumentRepair.trace_identifiers, "open"),
    _argument_rule("drop_unknown", 180, ArgumentRepair.finish, "wrong"),
)


def is_triggered(draft: Draft, context: ReplyContext) -> bool:
    """Return True if a value of a draft is an echo, a placeholder, or an identifier from nowhere."""
    return ArgumentRepair(draft, context).triggered()
