"""Tier 1 of Algorithm 1 (RETO 3.4): conversions that the schema alone decides and that lose
nothing.

A value is touched only where its own subschema refuses it, and only if exactly one conversion makes
it acceptable. Otherwise it stays as it is: nothing is ever invented. Applying the conversions twice
changes nothing more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from callwright.jsontext import JsonError, parse, parse_lenient
from callwright.nouns.types import Json, to_canonical_json, to_plain_text
from callwright.nouns.wire_names import EditRule, EditRules, join_edit_rules
from callwright.schema import value_spellings as spellings
from callwright.schema.compiled import Compiled, Node
from callwright.schema.value_edits import Pointer, ValueEdit
from callwright.schema.value_spellings import NONE

MAX_STEPS = 50_000  # subschemas that values are held against: a second of work
_MAX_DEPTH = 32
_BRANCH = 4  # steps that a walk of its own costs
_LONGEST_SPELLING = 2_000  # characters of a text that may spell an option, a number or a day
_MOST_WRAPPERS = 4  # lists of one, or quotes, around a value
_MOST_OPTIONS = 256  # lists of options whose spellings are kept
_FORMATS = {
    "date": spellings.iso_date,
    "date-time": spellings.iso_datetime,
    "time": spellings.iso_time,
}
NULL_WORDS = frozenset({"null", "none", "nil"})
_DAY_STYLES = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d.%m.%Y",
    "%Y%m%d",
)


def coerce_value(value: Json, schema: Compiled) -> tuple[Json, tuple[ValueEdit, ...]]:
    """The value with every lossless conversion its schema asks for, and what was changed.

    Each edit made the place it names acceptable to the schema of that place (an unwrapped object or
    array may still be wrong inside). A valid value comes back untouched, and so does what MAX_STEPS
    do not suffice for, and an object that a part of a schema of objects would make a list.
    """
    if schema.accepts(value):
        return value, ()
    edits: list[ValueEdit] = []
    steps = _Steps()
    steps.refuse(schema.root, value)
    made = _Walk(edits, steps).at(value, schema.root, (), 0)
    is_object = isinstance(value, dict) and "object" in get_types(schema.root.schema)
    is_lost = is_object and not isinstance(made, dict)
    return (value, ()) if steps.left < 0 or is_lost else (made, tuple(edits))


def pointer_join(path: str, key: str | int) -> str:
    """RFC 6901: the path one step further down."""
    return path + "/" + str(key).replace("~", "~0").replace("/", "~1")


class _Steps:
    """State that all walks of one conversion share: the steps left, and the attempts that
    failed.
    """

    def __init__(self) -> None:
        self.left = MAX_STEPS
        self._refused: dict[tuple[str, int], Json] = {}  # values are kept, so that ids stay theirs
        self._accepted: dict[tuple[str, int], Json] = {}
        self.hopeless: dict[
            tuple[str, int], Json
        ] = {}  # what no conversion changes at a subschema that refuses it

    def accepts(self, node: Node, value: Json) -> bool:
        """Return True if a subschema accepts a value; arrays and objects are checked only once."""
        if not isinstance(value, dict | list):
            return node.accepts(value)
        key = (node.pointer, id(value))
        if key in self._accepted:
            return True
        if key in self._refused:
            return False
        self.left -= 1 + len(value) // 8
        verdict = node.accepts(value)
        (self._accepted if verdict else self._refused)[key] = value
        return verdict

    def refuse(self, node: Node, value: Json) -> None:
        """Note that a subschema refuses a value: it is not asked again."""
        if isinstance(value, dict | list):
            self.left -= 1 + len(value) // 8
            self._refused[node.pointer, id(value)] = value

    def spent(self, node: Node, value: Json) -> bool:
        """Return True if there is nothing left to try with this value at this subschema."""
        self.left -= 1
        if self.left < 0 or not self.hopeless:
            return self.left < 0
        return (node.pointer, id(value)) in self.hopeless


class _Walk:
    """One descent through value and schema at once, collecting edits."""

    def __init__(self, edits: list[ValueEdit], steps: _Steps) -> None:
        self.edits = edits
        self.steps = steps

    def at(self, value: Json, node: Node, path: Pointer, depth: int) -> Json:
        """The value as this subschema wants it; unchanged where nothing, or more than one thing,
        fits.
        """
        if depth > _MAX_DEPTH or not isinstance(node.schema, dict) or self.steps.spent(node, value):
            return value
        if self.steps.accepts(node, value):
            return value
        made = self._tried(value, node, path, depth)
        if made is value and isinstance(value, dict | list):
            self.steps.hopeless[node.pointer, id(value)] = value
        return made

    def _tried(self, value: Json, node: Node, path: Pointer, depth: int) -> Json:
        refused = value
        target = node.target()
        if target is not None:
            value = self.at(value, target, path, depth + 1)
        for branch in node.branches("allOf") if "allOf" in node.schema else ():
            value = self.at(value, branch, path, depth + 1)
        for keyword in ("anyOf", "oneOf"):
            if node.schema.get(keyword):
                value = self._choose(value, node, keyword, path, depth)
        if value is not refused and self.steps.accepts(node, value):
            return value
        return self._inside(self._itself(value, node, path, depth), node, path, depth)

    def _choose(self, value: Json, node: Node, keyword: str, path: Pointer, depth: int) -> Json:
        """Return the value converted by the only branch that fits; branches that agree count as
        one. Otherwise return the value unchanged.
        """
        found: dict[str, tuple[Json, list[ValueEdit]]] = {}
        for branch in node.branches(keyword):
            self.steps.left -= _BRANCH
            edits: list[ValueEdit] = []
            candidate = _Walk(edits, self.steps).at(value, branch, path, depth + 1)
            if self.steps.accepts(branch, candidate):
                found.setdefault(to_canonical_json(candidate), (candidate, edits))
        if len(found) != 1:
            return value
        candidate, edits = next(iter(found.values()))
        self.edits += edits
        return candidate

    def _itself(self, value: Json, node: Node, path: Pointer, depth: int) -> Json:
        """The value replaced as a whole. The first reading wins: readings are ordered from surest
        to least sure.
        """
        if isinstance(value, dict) and "array" not in get_types(node.schema):
            return value  # an object is read as nothing else
        for rule, candidate in _iter_readings(value, node.schema):
            edits: list[ValueEdit] = []
            finished = candidate
            if isinstance(candidate, dict | list) and not self.steps.accepts(node, candidate):
                finished = _Walk(edits, self.steps).at(candidate, node, path, depth + 1)
            unwrapped = rule.endswith(EditRules.UNWRAP_JSON) and "string" not in get_types(
                node.schema
            )
            if unwrapped or self.steps.accepts(
                node, finished
            ):  # text where no text may stand is opened even if more is wrong
                self.edits.append(ValueEdit(path, value, candidate, rule))
                self.edits += edits
                return finished
        return value

    def _inside(self, value: Json, node: Node, path: Pointer, depth: int) -> Json:
        """The value with its members converted, each on its own merits; itself where none is."""
        if isinstance(value, dict):
            return self._members(value, node, path, depth)
        if isinstance(value, list):
            made = [self._item(item, i, node, path, depth) for i, item in enumerate(value)]
            return (
                made if any(new is not old for new, old in zip(made, value, strict=True)) else value
            )
        return value

    def _members(self, value: dict[str, Json], node: Node, path: Pointer, depth: int) -> Json:
        required = node.get("required")
        made: dict[str, Json] = {}
        for key, member in value.items():
            child = node.member(key)
            here = (*path, key)
            if child is None:
                made[key] = member
                continue
            new = self.at(member, child, here, depth + 1)
            if new is None and not child.accepts(None) and key not in (required or ()):
                self.edits.append(ValueEdit(here, None, None, EditRules.DROP_NULL))
                continue
            made[key] = new
        same = len(made) == len(value) and all(made[key] is member for key, member in value.items())
        return value if same else made

    def _item(self, item: Json, i: int, node: Node, path: Pointer, depth: int) -> Json:
        child = node.item(i)
        return item if child is None else self.at(item, child, (*path, i), depth + 1)


def get_types(schema: Json) -> frozenset[str]:
    """The types a schema names, or that its enum and const show; empty where it says nothing."""
    if not isinstance(schema, dict):
        return frozenset()
    named = schema.get("type")
    if isinstance(named, str):
        return frozenset({named})
    if isinstance(named, list):
        return frozenset(t for t in named if isinstance(t, str))
    options = [*(schema.get("enum") or ()), *([schema["const"]] if "const" in schema else ())]
    if options:
        return frozenset(_type_name(o) for o in options)
    if "properties" in schema:
        return frozenset({"object"})
    return frozenset({"array"}) if "items" in schema or "prefixItems" in schema else frozenset()


def _type_name(value: Json) -> str:
    if value is None:
        return "null"
    for kinds, name in (
        ((bool,), "boolean"),
        ((int,), "integer"),
        ((float,), "number"),
        ((str,), "string"),
    ):
        if isinstance(value, kinds):
            return name
    return "array" if isinstance(value, list) else "object"


def _iter_readings(
    value: Json, schema: dict[str, Any], depth: int = 0
) -> Iterator[tuple[EditRule, Json]]:
    """(rule, candidate) pairs for a value that the schema refuses as it stands."""
    types = get_types(schema)
    if isinstance(value, str):
        yield from _iter_text_readings(value, schema, types)
    elif isinstance(value, list):
        if "array" not in types and len(value) == 1 and depth < _MOST_WRAPPERS:
            yield EditRules.LIST_TO_SINGLE, value[0]
            for rule, candidate in _iter_readings(value[0], schema, depth + 1):
                yield join_edit_rules(EditRules.LIST_TO_SINGLE, rule), candidate
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _iter_number_readings(value, schema, types)
    elif isinstance(value, bool):
        yield from _iter_matching_options(str(value), schema)
    if "array" in types and not isinstance(value, list) and value is not None:
        yield EditRules.SINGLE_TO_LIST, [value]


def _iter_number_readings(
    value: float, schema: dict[str, Any], types: frozenset[str]
) -> Iterator[tuple[EditRule, Json]]:
    if "integer" in types and isinstance(value, float) and value.is_integer():
        yield EditRules.INTEGRAL, int(value)
    if "string" in types:
        text = to_canonical_json(value)
        yield EditRules.NUMBER_TO_TEXT, text
        yield from _iter_matching_options(text, schema)


def _iter_text_readings(
    text: str, schema: dict[str, Any], types: frozenset[str]
) -> Iterator[tuple[EditRule, Json]]:
    spelling = text if len(text) <= _LONGEST_SPELLING else text.strip()
    if len(spelling) > _LONGEST_SPELLING:  # it spells no word, number or day
        if types & {"object", "array"}:
            yield from _iter_unwrapped(text, types)
        return
    yield from _iter_matching_options(spelling, schema)
    if types & {"object", "array"}:
        yield from _iter_unwrapped(text, types)
    if types & {"integer", "number"}:
        found = spellings.parse_number(text, whole="number" not in types)
        if found is not NONE:
            yield EditRules.TEXT_TO_NUMBER, found
    if "boolean" in types:
        found = spellings.parse_boolean(text)
        if found is not NONE:
            yield EditRules.TEXT_TO_BOOLEAN, found
    if "null" in types and text.strip().lower() in NULL_WORDS:
        yield EditRules.TEXT_TO_NULL, None
    if types & {"integer", "number", "boolean", "null"} and text[:1] == '"':
        yield from _unwrapped_scalar(text, schema)
    if "string" in types:
        yield from _iter_respellings(text, schema)


def _iter_unwrapped(text: str, types: frozenset[str]) -> Iterator[tuple[EditRule, Json]]:
    """An object or array that came as text, encoded once more than it should."""
    if text.lstrip()[:1] not in ("{", "[", '"', "'"):
        return
    try:
        value = parse(text)
        if isinstance(value, str):  # encoded twice too often
            value = parse(value)
    except JsonError:
        try:
            repaired = parse_lenient(text)
        except JsonError:
            return
        if repaired.truncated:
            return
        value = repaired.value
    if _type_name(value) in types:
        yield EditRules.UNWRAP_JSON, value


def _unwrapped_scalar(text: str, schema: dict[str, Any]) -> Iterator[tuple[EditRule, Json]]:
    """A quoted scalar inside the text: "\\"5\\""."""
    try:
        inner = parse(text)
    except JsonError:
        return
    if isinstance(inner, str) and not inner.startswith('"'):
        for _, candidate in _iter_readings(inner, schema):
            yield EditRules.UNWRAP_JSON, candidate


def _iter_matching_options(text: str, schema: dict[str, Any]) -> Iterator[tuple[EditRule, Json]]:
    """The one option of ``enum`` or ``const`` that the text spells, case, spaces and separators
    aside.
    """
    options = schema.get("enum") if isinstance(schema.get("enum"), list) else None
    if options is None:
        if "const" not in schema:
            return
        options = [schema["const"]]
    exact, worded = _index_options(options)
    for _ in range(_MOST_WRAPPERS):
        # without their signs and points, -1 would be 1 and 1.5 would be 15
        is_number = spellings.parse_number(text, whole=False) is not NONE
        folded = "" if is_number else spellings.fold_word(text)
        found = exact.get(text.strip()) or (worded.get(folded, []) if folded else [])
        if len(found) == 1:
            yield EditRules.OPTION_SPELLING, found[0]
        if found or text[:1] not in ('"', "'") or text[-1:] != text[:1] or len(text) <= 2:
            return
        text = text[1:-1]


def _index_options(options: list[Json]) -> tuple[dict[str, list[Json]], dict[str, list[Json]]]:
    """The options by their texts, and by their words. A list that is asked about again is read
    once.
    """
    known = _options.get(id(options))
    if known is not None and known[0] is options:
        return known[1], known[2]
    exact: dict[str, list[Json]] = {}
    worded: dict[str, list[Json]] = {}
    for option in options:
        if isinstance(option, str | int | float | bool):
            text = to_plain_text(option)
            exact.setdefault(text, []).append(option)
            worded.setdefault(spellings.fold_word(text), []).append(option)
    if len(_options) >= _MOST_OPTIONS:
        _options.clear()
    _options[id(options)] = (
        options,
        exact,
        worded,
    )  # the list is kept, so that its id stays its own
    return exact, worded


_options: dict[int, tuple[list[Json], dict[str, list[Json]], dict[str, list[Json]]]] = {}


def _iter_respellings(text: str, schema: dict[str, Any]) -> Iterator[tuple[EditRule, Json]]:
    """The same text without surrounding space, or the same day as the format or pattern spells
    it.
    """
    checked = "format" in schema or "pattern" in schema
    trimmed = text.strip()
    if checked and trimmed != text:
        yield EditRules.TRIM, trimmed
    reader = _FORMATS.get(str(schema.get("format")))
    found = reader(text) if reader else NONE
    if found is not NONE:
        yield EditRules.DATE_SPELLING, found
    if "pattern" in schema and (day := spellings.calendar_day(text)):
        made = {day.strftime(style) for style in _DAY_STYLES}
        fitting = sorted(m for m in made if _is_pattern_match(schema["pattern"], m))
        if len(fitting) == 1:
            yield EditRules.DATE_SPELLING, fitting[0]


def _is_pattern_match(pattern: Json, text: str) -> bool:
    """Return True if a simple pattern, such as a date pattern, matches. Patterns that could
    backtrack are not tried.
    """
    if (
        not isinstance(pattern, str)
        or len(pattern) > 120
        or re.search(r"[+*]\)?[+*{]|\(\?|\\[1-9]", pattern)
    ):
        return False
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return False


def coerce_at(value: Json, node: Node) -> Json:
    """The value as one subschema wants it, for asking whether it would fit there."""
    return _Walk([], _Steps()).at(value, node, (), 0)
