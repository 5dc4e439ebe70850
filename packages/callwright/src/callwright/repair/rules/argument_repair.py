"""One call's arguments mended step by step, surest steps first; what is left is reported."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from callwright.dataflow.flow import GENERIC, words
from callwright.nouns.errors import Violation
from callwright.nouns.types import Edit, Json, JsonObject, Tool, ToolCall, canonical
from callwright.repair.context import RepairContext
from callwright.repair.gate import Refusal
from callwright.repair.provenance.grounding import is_identifier, judge
from callwright.repair.result import Abstention
from callwright.repair.rules import (
    extracted as stated,
)
from callwright.repair.rules import (
    formats,
    parameters,
)
from callwright.repair.rules import (
    schema_echo as echoes,
)
from callwright.repair.rules.extracted_siblings import partners
from callwright.schema import keys as gate_keys
from callwright.schema.coerce import coerce, pointer_join, types_of
from callwright.schema.compiled import Compiled, compiled_for
from callwright.schema.value_edits import ValueEdit
from callwright.schema.value_spellings import NONE

ECHO, PLACEHOLDER, UNWRAP, STATED = (
    "echoed_schema",
    "placeholder",
    "unwrap_arguments",
    "stated_value",
)
LEFT_OUT = "drop_unsourced"


_DAY_OR_TIME = re.compile(r"\d[-/:]\d")
_OPTIONAL = re.compile(r"optional|default|if any\b", re.I)


@dataclass
class ArgumentRepair:
    """The arguments on their way, every change made so far, and what is still wrong with them.

    ``unknown`` are required parameters whose value nobody has said. ``others`` are the arguments of
    the reply's other calls: their values are spoken for. ``referring`` are parameters that hold
    references to other calls, ``siblings`` the arguments of the other calls of the same tool.
    """

    arguments: JsonObject
    tool: Tool
    situation: RepairContext
    others: Sequence[JsonObject] = ()
    referring: frozenset[str] = frozenset()
    siblings: Sequence[JsonObject] = ()
    edits: list[Edit] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    abstained: list[Abstention] = field(default_factory=list)
    confidence: float = 1.0
    unknown: list[str] = field(default_factory=list)

    def needs(self, key: str) -> bool:
        """Whether a parameter must have a value. A schema that requires nothing at all says nothing
        about that: then every parameter without a default that is not called optional counts as
        needed.
        """
        if "required" in self.tool.input_schema:
            return key in self.tool.required
        part = self._part(key)
        return "default" not in part and not _OPTIONAL.search(str(part.get("description") or ""))

    def right(self) -> bool:
        """Whether the gate lets the arguments through as they are."""
        verdict = self.situation.gate.check(ToolCall("", self.tool.name, self.arguments))
        return not isinstance(verdict, Refusal) and not verdict.edits

    def triggered(self) -> bool:
        """Whether a value is an echo, a placeholder, or an identifier from nowhere."""
        return any(self._trigger(key, value) for key, value in self.arguments.items())

    def mend(self) -> None:
        """Do everything that may be done; ``violations`` then holds what is still wrong."""
        if not self.right():
            self._unwrap()
        self._replace_echoes()
        if not self.right():
            self._convert()
        self._replace_placeholders()
        if not self.right():
            self._assign()
            self._respell()
        self._fill_missing()
        self._trace_identifiers()
        self._finish()

    def _trigger(self, key: str, value: Json) -> bool:
        part = self.tool.properties.get(key)
        if key in self.referring:
            return False
        if isinstance(value, dict | list):
            return (
                echoes.is_echo(value, part)
                or echoes.lists_every_option(value, part)
                or self._inner(key, value)
            )
        if isinstance(value, str) and (
            echoes.is_echo(value, part) or self._placeholder(key, value, part)
        ):
            return True
        if isinstance(value, str) and formats.documented(value, part) is not NONE:
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
        if not echoes.may_be_placeholder(value, part):
            return False
        return echoes.is_placeholder(key, value, part, self.situation.sources, self.situation.low)

    # ------------------------------------------------------------ steps

    def _unwrap(self) -> None:
        inner = echoes.unwrapped(self.arguments, self.tool)
        if inner is not None:
            self._edit("", inner, UNWRAP, 0.99)

    def _replace_echoes(self) -> None:
        for key in list(self.arguments):
            part, value = self.tool.properties.get(key), self.arguments[key]
            if echoes.lists_every_option(value, part) and not self._accepts(key, value):
                self._take_back(key, ECHO)
            elif self._is_echo(key, value):
                inner = echoes.value_inside(value, part)
                if inner is not NONE:
                    self._edit(pointer_join("", key), inner, ECHO, 0.98)
                else:
                    self._take_back(key, ECHO)

    def _replace_placeholders(self) -> None:
        for key, value in list(self.arguments.items()):
            part = self.tool.properties.get(key)
            if (
                key in self.referring
                or not isinstance(value, str)
                or not self._placeholder(key, value, part)
            ):
                continue
            if self._accepts(key, value):
                self._doubt(key)
            else:
                self._take_back(key, PLACEHOLDER)

    def _doubt(self, key: str) -> None:
        """A value that looks like a placeholder but satisfies its schema stays: somebody may mean
        just that.

        It is reported; a required one in marks (``<id>``) counts as unknown where nothing says what
        is meant.
        """
        value, path = self.arguments[key], pointer_join("", key)
        if self.needs(key) and echoes.is_marked(value) and self._stated(key) is None:
            self.unknown.append(key)
            said = (
                f"'{key}' holds {canonical(value)[:80]} instead of a value, and nothing said gives"
                " the real one."
            )
            self.violations.append(Violation("ungrounded", said, path, PLACEHOLDER, None, value))
        else:
            self._abstain(
                path, 0.0, None, f"'{key}' is {canonical(value)[:80]}, which may stand for a value"
            )

    def _is_echo(self, key: str, value: Json) -> bool:
        """Whether a parameter's schema stands in the place of its value: word for word, or where
        the schema refuses what stands there.
        """
        part = self.tool.properties.get(key)
        if not echoes.is_echo(value, part):
            return False
        return echoes.repeats_schema(value, part) or not self._accepts(key, value)

    def _take_back(self, key: str, rule: str) -> None:
        """What is no value gives way to what the conversation states; an optional one without that
        is left out, a required one stays where it is and is reported.
        """
        path, value = pointer_join("", key), self.arguments[key]
        found = self._stated(key)
        if found is not None:
            self._take(path, found)
        elif (
            rule == ECHO
            and "default" in self._part(key)
            and self._accepts(key, self._part(key)["default"])
        ):
            self._edit(path, self._part(key)["default"], rule, 0.9)
            self._abstain(
                path, 0.0, None, f"'{key}' held {canonical(value)[:80]}; it has its default now"
            )
        elif not self.needs(key):
            self._edit(path, None, rule, 0.98, drop=True)
            self._abstain(
                path, 0.0, None, f"'{key}' held {canonical(value)[:80]}; nothing said gives a value"
            )
        else:
            self.unknown.append(key)
            said = (
                f"'{key}' holds {canonical(value)[:80]} instead of a value, and nothing said gives"
                " the real one."
            )
            self.violations.append(Violation("ungrounded", said, path, rule, None, value))

    def _convert(self) -> None:
        """The gate's lossless conversions and renames."""
        schema = self._compiled()
        value, edits = coerce(self.arguments, schema)
        value, renames = gate_keys.rename(value, schema.root)
        more: tuple[ValueEdit, ...] = ()
        if renames:
            value, more = coerce(value, schema)
        done = [e.to_edit() for e in (*edits, *renames, *more)]
        if done:
            self.arguments = value
            self.edits += done

    def _assign(self) -> None:
        """Unknown keys given to the parameters they stand for."""
        schema = self._compiled()
        sure, unsure = parameters.pairs(self.arguments, schema.root)
        least = self.situation.settings.least
        for pair in sure:
            path = pointer_join("", pair.given)
            if pair.confidence < least:
                self._abstain(
                    path,
                    pair.confidence,
                    pair.wanted,
                    f"'{pair.given}' may stand for '{pair.wanted}'",
                )
                continue
            renamed = {pair.wanted if k == pair.given else k: v for k, v in self.arguments.items()}
            self.edits.append(Edit(path, pair.given, pair.wanted, parameters.RULE))
            self.confidence = min(self.confidence, pair.confidence)
            self.arguments, more = coerce(renamed, schema)
            self.edits += [e.to_edit() for e in more]
        for pair in unsure:
            path = pointer_join("", pair.given)
            self._abstain(
                path, pair.confidence, pair.wanted, f"'{pair.given}' may stand for '{pair.wanted}'"
            )

    def _respell(self) -> None:
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
                found = formats.option(value, part["enum"], slips=not said)
            else:
                found = formats.without_unit(
                    value, types_of(part), key, str(part.get("description") or "")
                )
                rule = formats.UNIT
                if found is NONE:
                    found, rule = formats.decimal_comma(value, types_of(part)), formats.COMMA
                if found is NONE and self.situation.informed:
                    found, rule = (
                        formats.said_number(value, types_of(part), self.situation.sources.holds),
                        formats.SAID,
                    )
            if found is not NONE and self._accepts(key, found):
                self._edit(pointer_join("", key), found, rule, formats.CONFIDENCE[rule])

    def _fill_missing(self) -> None:
        for key in self.tool.required:
            if key not in self.arguments:
                found = self._stated(key)
                if found is not None:
                    self._take(pointer_join("", key), found)
                else:
                    self.unknown.append(key)

    def _trace_identifiers(self) -> None:
        """Identifiers that nothing said holds, days in another format than documented, values
        nothing supports.
        """
        informed, leave_out = self.situation.informed, self.situation.settings.leave_out
        for key, value in list(self.arguments.items()):
            part = self.tool.properties.get(key)
            if key in self.referring:
                continue
            spelled = formats.documented(value, part)
            if spelled is not NONE and self._accepts(key, spelled):
                if self._accepts(key, value):
                    said = (
                        f"'{key}' is {canonical(value)[:80]}, which its description wants written"
                        " in another way"
                    )
                    self._abstain(
                        pointer_join("", key), formats.CONFIDENCE[formats.FORMAT], spelled, said
                    )
                    continue
                self._edit(
                    pointer_join("", key),
                    spelled,
                    formats.FORMAT,
                    formats.CONFIDENCE[formats.FORMAT],
                )
            if not informed or key in self.unknown or isinstance(value, dict | list):
                continue
            verdict = judge(key, value, part, self.situation.sources)
            if verdict == "held" and is_identifier(key, value, part) and not self._held(value):
                verdict = "identifier"
            if (
                leave_out
                and verdict in ("identifier", "invented", "derived")
                and self._may_go(key, value)
            ):
                self._edit(pointer_join("", key), None, LEFT_OUT, 0.9, drop=True)
            elif verdict == "identifier":
                self._identifier(key, value)

    def _identifier(self, key: str, value: Json) -> None:
        path = pointer_join("", key)
        found = self._stated(key)
        said = (
            f"'{key}' is {canonical(value)[:80]}, an identifier that nothing said so far contains."
        )
        if found is not None and found.kind == "labelled" and type(found.value) is type(value):
            if not self._accepts(key, value):
                self._take(path, found)
                return
            said += f" {canonical(found.value)[:80]} was said."
        self.violations.append(Violation("ungrounded", said, path, "identifier", None, value))
        if self.needs(key):
            self.unknown.append(key)

    def _finish(self) -> None:
        """The gate has the last word: what it still converts or drops is done, what it refuses is
        reported.
        """
        verdict = self.situation.gate.check(ToolCall("", self.tool.name, self.arguments))
        if isinstance(verdict, Refusal):
            known = {v.path for v in self.violations}
            self.violations += [v for v in verdict.violations if v.path not in known]
            return
        kept = {
            e.path: e for e in verdict.edits if e.rule == "drop_unknown" and self._worth_keeping(e)
        }
        self.edits += [e for e in verdict.edits if e.path not in kept]
        if verdict.edits:
            self.arguments = {
                k: v for k, v in self.arguments.items() if pointer_join("", k) in kept
            } | verdict.arguments
        for path, edit in kept.items():
            said = (
                f"'{path[1:]}' is no parameter of '{self.tool.name}', but its value was asked for:"
                " left as it is."
            )
            self.violations.append(
                Violation("schema", said, path, "additionalProperties", None, edit.before)
            )

    def _worth_keeping(self, edit: Edit) -> bool:
        """Whether an unknown key holds what was asked for and no other argument says, under a
        schema that does not forbid other keys.
        """
        value, path = edit.before, edit.path
        if path.count("/") != 1 or self.tool.input_schema.get("additionalProperties") is False:
            return False
        if not self.situation.informed or not self.situation.sources.holds(value):
            return False
        kept = canonical([v for k, v in self.arguments.items() if pointer_join("", k) != path])
        if re.search(rf"(?<![\w.]){re.escape(str(value))}(?![\w]|\.\d)", kept, re.I):
            return False  # it is there already
        if isinstance(value, str):
            return len(value.strip()) > 2
        numbers = {m[1] for m in self.situation.talk.numbers}
        return type(value) in (int, float) and str(value) in numbers

    # ------------------------------------------------------------ parts

    def _held(self, value: Json) -> bool:
        """Whether an identifier was said in one piece: one glued together from what was said was
        made up.
        """
        sources = self.situation.sources
        return sources.holds(value) and (not isinstance(value, str) or sources.holds_whole(value))

    def _stated(self, key: str) -> stated.Candidate | None:
        """What the conversation says for a parameter, if its schema takes it and it is sure
        enough.
        """
        part = self.tool.properties.get(key)
        if not self.situation.informed or not isinstance(part, dict):
            return None
        used = [v for k, v in self.arguments.items() if k != key]
        used += [v for other in self.others for v in other.values()]
        alike = [s[key] for s in self.siblings if key in s]
        found = stated.fill(
            key, part, self.situation.talk, used, alike, partners(key, self.arguments)
        )
        if found is None or not self._accepts(key, found.value):
            return None
        spelled = formats.documented(found.value, part)
        found = stated.Candidate(found.value if spelled is NONE else spelled, found.kind)
        sure = found.confidence(alone=not self.others)
        if sure < self.situation.settings.least:
            said = (
                f"'{key}' may be {canonical(found.value)[:80]}, the only such value that was said"
            )
            self._abstain(pointer_join("", key), sure, found.value, said)
            return None
        return found

    def _take(self, path: str, found: stated.Candidate) -> None:
        """Fill in what was said, and say that it was taken from there: one in ten such values may
        be another's.
        """
        sure, kind = found.confidence(alone=not self.others), found.kind.replace("_", " ")
        self._edit(path, found.value, STATED, sure)
        self._abstain(
            path, sure, found.value, f"'{path[1:]}' was taken from what was said ({kind}); check it"
        )

    def _part(self, key: str) -> JsonObject:
        part = self.tool.properties.get(key)
        return part if isinstance(part, dict) else {}

    def _accepts(self, key: str, value: Json) -> bool:
        child = self._compiled().root.property(key)
        return child is None or child.resolved().accepts(value)

    def _may_go(self, key: str, value: Json) -> bool:
        """Whether an optional value can be left out: nothing said is about it, and the schema does
        not mind.
        """
        if self.needs(key) or key not in self.arguments or self._alluded(key, value):
            return False
        kept = {k: v for k, v in self.arguments.items() if k != key}
        return self._compiled().accepts(kept) or not self._compiled().accepts(self.arguments)

    def _alluded(self, key: str, value: Json) -> bool:
        """Whether the conversation speaks of the parameter or has a word of the value; days and
        times are derived, and what tells this call from another one was meant.
        """
        if isinstance(value, str) and _DAY_OR_TIME.search(value):
            return True
        if any(key in other and other[key] != value for other in self.others):
            return True
        about = [*words(key)]
        if isinstance(value, str):
            about += [*words(value), *filter(str.isalpha, formats.other_words(value))]
        return any(
            len(w) > 3 and w not in GENERIC and self.situation.sources.mentions(w) for w in about
        )

    def _compiled(self) -> Compiled:
        return compiled_for(self.tool)

    def _edit(
        self, path: str, value: Json, rule: str, confidence: float, *, drop: bool = False
    ) -> None:
        key = path[1:].replace("~1", "/").replace("~0", "~")
        before = self.arguments.get(key) if path else self.arguments
        if drop:
            self.arguments = {k: v for k, v in self.arguments.items() if k != key}
        else:
            self.arguments = {**self.arguments, key: value} if path else value
        self.edits.append(Edit(path, before, value, rule))
        self.confidence = min(self.confidence, confidence)

    def _abstain(self, path: str, confidence: float, candidate: Json, reason: str) -> None:
        self.abstained.append(Abstention(path, reason + ".", round(confidence, 3), candidate))
